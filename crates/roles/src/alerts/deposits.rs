//! Conditions of deposits, and of the indexer that reads them.

use bankroll_alerts::{
    AlertCondition,
    AlertKind::{
        self, DepositsHeld, DepositsOrphaned, DepositsRefused, DepositsSuspended, IndexerStalled, ReorganisationTooDeep,
    },
    AlertObservation,
};
use bankroll_deposits::attention::{self, CursorState, DepositGroup};
use bankroll_ledger::{Name, Time};
use bankroll_store::Reader;
use bankroll_terminal::{counted, thousands, when};
use serde_json::json;

use super::{AlertChain, AlertCounts, ConditionSource, counts::ChainPlace};

/// A chain makes a block more often than this, in microseconds.
const STALLED: u64 = 600 * 1_000_000;

pub(super) fn waiting(reader: &Reader, _: Time) -> anyhow::Result<Vec<AlertObservation>> {
    let orphaned = attention::orphaned_after_final(reader)?;
    Ok(vec![
        observed(DepositsSuspended, &attention::suspended(reader)?, "in suspense"),
        observed(DepositsHeld, &attention::held(reader)?, "held for a person"),
        observed(DepositsRefused, &attention::refused(reader)?, "refused by the books"),
        AlertObservation::all(DepositsOrphaned, orphaned.iter().map(reorganised).collect()),
    ])
}

fn observed(kind: AlertKind, groups: &[DepositGroup], what: &str) -> AlertObservation {
    let condition = |group: &DepositGroup| {
        let deposits = counted(group.count, "deposit", "deposits");
        let (chain, at) = (&group.chain, when::seconds(group.at));
        let summary = format!("{deposits} on {chain} {} {what}, the first since {at}", is_are(group.count));
        AlertCondition::new(kind, chain, &summary).about(group.count).with(&json!({ "deposit": group.example }))
    };
    AlertObservation::all(kind, groups.iter().map(condition).collect())
}

/// One alert for each reorganisation: the chain and the time are its subject.
fn reorganised(group: &DepositGroup) -> AlertCondition {
    let (chain, at) = (&group.chain, when::seconds(group.at));
    let deposits = counted(group.count, "deposit", "deposits");
    let summary = format!("{chain} dropped {deposits} at {at}, after they were final");
    let condition = AlertCondition::new(DepositsOrphaned, &format!("{chain} {}", when::show(group.at)), &summary);
    condition.about(group.count).with(&json!({ "chain": chain, "deposit": group.example }))
}

const fn is_are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// Whether the indexer of a chain goes on. It may be another process: its row says it.
pub(super) fn indexer(chain: AlertChain, held_since: Time, counts: AlertCounts) -> ConditionSource {
    let AlertChain { name: chain, is_development } = chain;
    Box::new(move |reader, now| {
        let state = attention::cursor_state(reader, chain.as_str())?;
        let (stalled, stopped) = indexer_state(&chain, state.as_ref(), held_since, now);
        let problem = stalled.as_ref().or(stopped.as_ref()).map(|condition| condition.summary.clone());
        let place = state.map(|state| (state.block, state.moved_at));
        counts.set_chain(&chain, ChainPlace { place, problem, is_development });
        Ok(vec![
            AlertObservation::of_subject(IndexerStalled, chain.as_str(), stalled),
            AlertObservation::of_subject(ReorganisationTooDeep, chain.as_str(), stopped),
        ])
    })
}

fn indexer_state(
    chain: &Name,
    state: Option<&CursorState>,
    held_since: Time,
    now: Time,
) -> (Option<AlertCondition>, Option<AlertCondition>) {
    if let Some(why) = state.and_then(|state| state.stopped.as_ref()) {
        let summary = format!("the indexer of {chain} has stopped: {why}");
        return (None, Some(AlertCondition::new(ReorganisationTooDeep, chain.as_str(), &summary)));
    }
    // A node that was just started, and one whose indexer is another process that is, has the time to read.
    let since = state.map_or(held_since, |state| state.moved_at.max(held_since));
    let is_stalled = now.0.saturating_sub(since.0) >= STALLED;
    let summary = match state {
        Some(CursorState { block, moved_at, .. }) => {
            let (block, at) = (thousands(*block), when::seconds(*moved_at));
            format!("the indexer of {chain} has read no block since {at}; it is at block {block}")
        }
        None => format!("the indexer of {chain} has read no block yet"),
    };
    (is_stalled.then(|| AlertCondition::new(IndexerStalled, chain.as_str(), &summary)), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60 * 1_000_000;

    #[test]
    fn an_indexer_that_reads_nothing_for_ten_minutes_is_stalled() {
        let chain: Name = "eip155:1".parse().expect("a name");
        let at = |minute: u64| Time(minute * MINUTE);
        let state = |moved, stopped: Option<&str>| CursorState {
            block: 1_234,
            moved_at: at(moved),
            stopped: stopped.map(str::to_owned),
        };
        let kinds = |state: Option<CursorState>, held, now| {
            let (stalled, stopped) = indexer_state(&chain, state.as_ref(), at(held), at(now));
            (stalled.map(|it| it.summary), stopped.map(|it| it.summary))
        };
        assert_eq!(kinds(Some(state(100, None)), 50, 109), (None, None));
        let said = "the indexer of eip155:1 has read no block since 1970-01-01 01:40:00; it is at block 1,234";
        assert_eq!(kinds(Some(state(100, None)), 50, 110), (Some(said.into()), None));
        assert_eq!(kinds(Some(state(10, None)), 105, 110), (None, None), "the node was just started");
        let said = "the indexer of eip155:1 has read no block yet";
        assert_eq!(kinds(None, 100, 110), (Some(said.into()), None));
        let said = "the indexer of eip155:1 has stopped: another chain";
        assert_eq!(kinds(Some(state(100, Some("another chain"))), 50, 200), (None, Some(said.into())));
    }
}
