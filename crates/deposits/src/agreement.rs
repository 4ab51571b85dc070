//! Large deposits need more than one provider's word that their block is on the chain.
//!
//! A block proves its own content and not that it is canonical: one provider could make up a branch. So what is worth
//! more than a threshold becomes final only when enough providers have the same block at its height; the hash of a block
//! vouches for every block below it, so one question covers all deposits of a step. Where there are fewer providers than
//! that, a person confirms ([`crate::Doubt::OneProvider`]).

use std::collections::BTreeMap;

use bankroll_chains_evm::{B256, BlockHeader, Quantity, confirmations};
use bankroll_ledger::{AssetId, Time};

use crate::{
    ChainState, DepositId, DepositRules, Sighting, error::ScanError, follower::TrackedDeposit, scanner::ChainSource,
};

/// From which value on the word of one provider is not enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderAgreement {
    /// By asset, in base units. An asset that is not named always needs agreement.
    pub above: BTreeMap<AssetId, Quantity>,
    /// How many providers must have the block.
    pub required: usize,
    /// How many providers the chain has.
    pub providers: usize,
}

impl ProviderAgreement {
    pub(crate) fn is_large(&self, asset: AssetId, value: Quantity) -> bool {
        self.above.get(&asset).is_none_or(|above| value >= *above)
    }

    /// Whether there are enough providers to ask.
    pub(crate) const fn can_be_reached(&self) -> bool {
        self.providers >= self.required
    }
}

pub(crate) const fn milliseconds(now: Time) -> u64 {
    now.0 / 1_000
}

/// The newest block that enough providers have, as far as a deposit of this step depends on it; `None` if none does, or
/// if the others do not have it yet.
///
/// # Errors
/// If providers contradict each other: then nothing of the step is written.
pub(crate) fn agreed(
    rules: &DepositRules,
    source: ChainSource<'_>,
    now: Time,
    known: &BTreeMap<DepositId, TrackedDeposit>,
    seen: &[(BlockHeader, Vec<Sighting>)],
) -> Result<Option<u64>, ScanError> {
    let (Some(rule), Some(providers)) = (&rules.agreement, source.providers) else { return Ok(None) };
    let Some((number, hash)) = newest_due(known, seen) else { return Ok(None) };
    let found = providers.agreement(milliseconds(now), number, hash);
    let is_majority = found.agree.len() >= rule.required && found.agree.len() > found.contradict.len();
    if is_majority {
        for (name, _) in &found.contradict {
            providers.note_lie(name, milliseconds(now));
        }
        return Ok(Some(number));
    }
    if found.contradict.is_empty() {
        return Ok(None);
    }
    let others = found.contradict.into_iter().map(|(name, _)| name).collect();
    Err(ScanError::ProvidersDisagree { number, others })
}

/// The newest block with a deposit that only waits for agreement, and its hash.
fn newest_due(
    known: &BTreeMap<DepositId, TrackedDeposit>,
    seen: &[(BlockHeader, Vec<Sighting>)],
) -> Option<(u64, B256)> {
    let (head, _) = seen.last()?;
    let is_deep = |block: u64, required: u64| confirmations(head.number, block) >= required;
    let first = seen.first().map_or(0, |(header, _)| header.number);
    let waiting = known.values().filter_map(|tracked| {
        let one = &tracked.inclusion;
        // Above the fork it is about to be orphaned.
        let waits = tracked.state == ChainState::Included && one.needs_agreement && one.block.number < first;
        (waits && is_deep(one.block.number, one.required)).then_some((one.block.number, one.block.hash))
    });
    let new = seen.iter().filter_map(|(header, sightings)| {
        let waits = |sighting: &Sighting| sighting.needs_agreement && is_deep(header.number, sighting.required);
        sightings.iter().any(waits).then_some((header.number, header.hash))
    });
    waiting.chain(new).max_by_key(|(number, _)| *number)
}
