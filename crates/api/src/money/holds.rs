//! Whose money a hold has: the record that made it says so.

use std::collections::HashSet;

use bankroll_ledger::{AccountName, HoldId, Record, Verdict};
use bankroll_store::{Reader, StoreError};

use super::Operation;
use crate::{ApiError, state::Gate};

/// The holds of frozen players among those that these operations post. A hold that was made before the freeze must not
/// become a stake after it. The journal is read only while a player is frozen.
pub(crate) async fn frozen_holds<'a>(
    gate: &Gate,
    operations: impl IntoIterator<Item = &'a Operation>,
) -> Result<HashSet<HoldId>, ApiError> {
    if !gate.registry.has_frozen() {
        return Ok(HashSet::new());
    }
    let posted = operations.into_iter().filter_map(|operation| match operation {
        Operation::Post { hold, .. } => Some(*hold),
        _ => None,
    });
    let posted: HashSet<HoldId> = posted.collect();
    if posted.is_empty() {
        return Ok(posted);
    }
    let read = move |reader: &Reader| {
        let owner =
            |hold: HoldId| Ok(hold_account(reader, hold)?.and_then(|account| account.owner).map(|of| (hold, of)));
        posted.into_iter().filter_map(|hold| owner(hold).transpose()).collect::<Result<Vec<_>, StoreError>>()
    };
    let owners = gate.books.readers.read(read).await?;
    Ok(owners.into_iter().filter(|(_, owner)| gate.registry.frozen(owner).is_some()).map(|(hold, _)| hold).collect())
}

/// The account of a hold.
pub(super) fn hold_account(reader: &Reader, hold: HoldId) -> Result<Option<AccountName>, StoreError> {
    let Some(record) = reader.record(hold.made_by())? else { return Ok(None) };
    let Ok(Record::Decided { verdict: Verdict::Applied(effects), .. }) = Record::decode(&record) else {
        return Ok(None);
    };
    let made = effects.holds.iter().find(|change| change.hold.id == hold);
    let account = made.map(|change| reader.account(change.hold.account)).transpose()?.flatten();
    Ok(account.map(|account| account.name))
}
