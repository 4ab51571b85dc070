//! Large deposits need more than one provider's word that their block is on the chain.
//!
//! A block proves its own content and not that it is canonical: one provider could make up a branch. So what is worth
//! more than a threshold becomes final only when enough providers have the same block at its height; the hash of a block
//! vouches for every block below it, so one question covers all deposits of a step. Where there are fewer providers than
//! that, a person confirms ([`crate::Doubt::OneProvider`]).

use std::collections::BTreeMap;

use bankroll_chains_evm::{Agreement, B256, BlockHeader, Providers, Quantity, confirmations};
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
    match judge(&found, rule, providers, now) {
        ProviderVerdict::Agreed => Ok(Some(number)),
        ProviderVerdict::Silent => Ok(None),
        ProviderVerdict::Disputed => {
            let others = found.contradict.into_iter().map(|(name, _)| name).collect();
            Err(ScanError::ProvidersDisagree { number, others })
        }
    }
}

/// What the providers' answers about one block mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProviderVerdict {
    /// Enough have the block, and more than have another one.
    Agreed,
    /// Too few answered, and none has another block.
    Silent,
    Disputed,
}

/// Judges the answers, and notes who is outvoted: of three providers the one that is alone with its block, be it the one
/// that the block came from. Otherwise that one would be asked for ever.
pub(crate) fn judge(found: &Agreement, rule: &ProviderAgreement, providers: &Providers, now: Time) -> ProviderVerdict {
    let note_lies = |names: &[String]| names.iter().for_each(|name| providers.note_lie(name, milliseconds(now)));
    let (agree, contradict) = (found.agree.len(), found.contradict.len());
    if agree >= rule.required && agree > contradict {
        note_lies(&found.contradict.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
        return ProviderVerdict::Agreed;
    }
    if contradict == 0 {
        return ProviderVerdict::Silent;
    }
    let is_one_block = found.contradict.windows(2).all(|pair| matches!(pair, [(_, one), (_, other)] if one == other));
    if is_one_block && contradict >= rule.required && contradict > agree {
        note_lies(&found.agree);
    }
    ProviderVerdict::Disputed
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
