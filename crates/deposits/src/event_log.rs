//! Reading the log of what the scanner saw, and what it says of one deposit.

use std::collections::BTreeMap;

use bankroll_ledger::{ColumnValue, Name, Row, Time};
use bankroll_store::{
    Reader, StoreError,
    columns::{BadRow, int, number_of, parsed, text, text_of},
};

use crate::{
    ChainEvent, ChainState, DepositId, EventHash, EventTail, Inclusion, InclusionChange, follower::TrackedDeposit,
    view::DepositViewError,
};

/// Ids, or numbers, in one query.
const AT_ONCE: usize = 400;

/// What the log says of a deposit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepositHistory {
    /// The newest inclusion.
    pub inclusion: Inclusion,
    /// Those before it.
    pub earlier: Vec<Inclusion>,
    pub state: ChainState,
    /// Its newest event.
    pub newest: EventTail,
    pub first_seen_at: Time,
    pub changed_at: Time,
    pub reorged_at: Option<Time>,
}

/// Why the log proves nothing about a deposit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceFault {
    #[error("no event of the scanner names it")]
    NoEvent,
    #[error("event {number} of {chain} was edited")]
    Edited { chain: String, number: u64 },
    #[error("event {number} of {chain} does not follow the event before it")]
    Moved { chain: String, number: u64 },
    #[error("its events contradict each other at event {number} of {chain}")]
    Contradiction { chain: String, number: u64 },
    #[error("column {column} is not what the scanner saw")]
    RowDiffers { column: &'static str },
    #[error("the registry has no such address of ours")]
    NotOurs,
    #[error("it is booked in epoch {epoch}, and the journal has no such credit")]
    NoCredit { epoch: u64 },
    #[error("column {column} says what no decision of people in the journal has set")]
    NotDecided { column: &'static str },
    #[error("column {column} of an event has a value that this program does not know")]
    Unreadable { column: &'static str },
}

impl From<BadRow> for EvidenceFault {
    fn from(bad: BadRow) -> Self {
        Self::Unreadable { column: bad.column }
    }
}

impl DepositHistory {
    /// What the events of one deposit, in order, come to.
    ///
    /// # Errors
    /// If they do not fit each other, or one of them was edited.
    pub fn of(events: &[ChainEvent]) -> Result<Self, EvidenceFault> {
        let mut history = None::<Self>;
        for event in events {
            let place = || (event.chain.to_string(), event.number);
            if !event.is_whole() {
                let (chain, number) = place();
                return Err(EvidenceFault::Edited { chain, number });
            }
            history = Some(Self::next(history, event).ok_or_else(|| {
                let (chain, number) = place();
                EvidenceFault::Contradiction { chain, number }
            })?);
        }
        history.ok_or(EvidenceFault::NoEvent)
    }

    /// The inclusion with this epoch.
    #[must_use]
    pub fn inclusion_of(&self, epoch: u64) -> Option<&Inclusion> {
        self.earlier.iter().chain([&self.inclusion]).find(|inclusion| inclusion.epoch == epoch)
    }

    /// `None` if the event cannot follow.
    fn next(mut known: Option<Self>, event: &ChainEvent) -> Option<Self> {
        let state = match (known.as_ref().map(|known| known.state), event.change) {
            (None | Some(ChainState::Orphaned | ChainState::OrphanedAfterFinal), InclusionChange::Included) => {
                ChainState::Included
            }
            (Some(ChainState::Included), InclusionChange::Final) => ChainState::Final,
            (Some(ChainState::Included), InclusionChange::Orphaned) => ChainState::Orphaned,
            (Some(ChainState::Final), InclusionChange::Orphaned) => ChainState::OrphanedAfterFinal,
            _ => return None,
        };
        let fits = match &known {
            Some(known) if event.change != InclusionChange::Included => known.inclusion == event.inclusion,
            Some(known) => known.inclusion.epoch.checked_add(1) == Some(event.inclusion.epoch),
            None => event.inclusion.epoch == 1,
        };
        let reorged_at = known.as_ref().and_then(|known| known.reorged_at);
        let mut earlier = known.as_mut().map(|known| std::mem::take(&mut known.earlier)).unwrap_or_default();
        if event.change == InclusionChange::Included {
            earlier.extend(known.as_ref().map(|known| known.inclusion.clone()));
        }
        fits.then(|| Self {
            inclusion: event.inclusion.clone(),
            earlier,
            state,
            newest: event.tail(),
            first_seen_at: known.map_or(event.at, |known| known.first_seen_at),
            changed_at: event.at,
            reorged_at: if event.change == InclusionChange::Orphaned { Some(event.at) } else { reorged_at },
        })
    }
}

/// The newest event of a chain, as its cursor notes it.
pub(crate) fn tail_of(cursor: &Row) -> Result<EventTail, BadRow> {
    Ok(EventTail { number: number_of(cursor, "events")?, hash: parsed(cursor, "events_hash")? })
}

/// The events of a chain after a number, in order.
///
/// # Errors
/// If the rows cannot be read, or this program did not write them.
pub fn of_chain(reader: &Reader, chain: &Name, after: u64, most: usize) -> Result<Vec<ChainEvent>, DepositViewError> {
    let sql = format!("SELECT * FROM chain_events WHERE chain = $1 AND number > $2 ORDER BY number LIMIT {most}");
    let rows = reader.rows(&sql, vec![text(chain.as_str()), int(after)])?;
    Ok(rows.iter().map(ChainEvent::from_row).collect::<Result<_, _>>()?)
}

/// The events of these deposits, each in order. One that cannot be read is a fault of its deposit alone.
pub(crate) fn of_deposits(
    reader: &Reader,
    ids: &[DepositId],
) -> Result<BTreeMap<DepositId, Result<Vec<ChainEvent>, EvidenceFault>>, StoreError> {
    let mut found: BTreeMap<DepositId, Result<Vec<ChainEvent>, EvidenceFault>> =
        ids.iter().map(|id| (id.clone(), Ok(Vec::new()))).collect();
    for some in ids.chunks(AT_ONCE) {
        let sql = format!("SELECT * FROM chain_events WHERE deposit_id IN ({}) ORDER BY number", places(some.len(), 1));
        let rows = reader.rows(&sql, some.iter().map(|id| text(id.as_str())).collect())?;
        for row in &rows {
            let Ok(id) = text_of(row, "deposit_id") else { continue };
            let Some(known) = found.get_mut(&DepositId::from_row(id)) else { continue };
            match (known.as_mut(), ChainEvent::from_row(row)) {
                (Ok(events), Ok(event)) => events.push(event),
                (Ok(_), Err(bad)) => *known = Err(bad.into()),
                (Err(_), _) => {}
            }
        }
    }
    Ok(found)
}

/// The histories of these deposits, with each event's place in the log: the event before it and the event after it
/// must name the same hashes.
///
/// # Errors
/// If the rows cannot be read. A fault of the evidence concerns one deposit.
pub(crate) fn proven(
    reader: &Reader,
    ids: &[DepositId],
) -> Result<BTreeMap<DepositId, Result<DepositHistory, EvidenceFault>>, StoreError> {
    let found = of_deposits(reader, ids)?;
    let mut beside: BTreeMap<(Name, u64), Option<(EventHash, EventHash)>> = BTreeMap::new();
    for event in found.values().flatten().flatten() {
        for number in [event.number.checked_sub(1), event.number.checked_add(1)].into_iter().flatten() {
            beside.insert((event.chain.clone(), number), None);
        }
    }
    read_links(reader, &mut beside)?;
    let proof = |events: Result<Vec<ChainEvent>, EvidenceFault>| {
        let events = events?;
        let history = DepositHistory::of(&events)?;
        match events.iter().find(|event| !is_linked(event, &beside)) {
            Some(event) => Err(EvidenceFault::Moved { chain: event.chain.to_string(), number: event.number }),
            None => Ok(history),
        }
    };
    Ok(found.into_iter().map(|(id, events)| (id, proof(events))).collect())
}

fn is_linked(event: &ChainEvent, beside: &BTreeMap<(Name, u64), Option<(EventHash, EventHash)>>) -> bool {
    let link = |number: Option<u64>| beside.get(&(event.chain.clone(), number?)).copied().flatten();
    let before = match event.number {
        0 => return false,
        1 => event.previous == EventTail::EMPTY.hash,
        number => link(number.checked_sub(1)).is_some_and(|(_, hash)| hash == event.previous),
    };
    // The newest event of a log has none after it.
    before && link(event.number.checked_add(1)).is_none_or(|(previous, _)| previous == event.hash)
}

fn read_links(
    reader: &Reader,
    links: &mut BTreeMap<(Name, u64), Option<(EventHash, EventHash)>>,
) -> Result<(), StoreError> {
    let mut numbers: BTreeMap<Name, Vec<u64>> = BTreeMap::new();
    for (chain, number) in links.keys() {
        numbers.entry(chain.clone()).or_default().push(*number);
    }
    for (chain, numbers) in numbers {
        for some in numbers.chunks(AT_ONCE) {
            let sql = format!(
                "SELECT number, previous_hash, hash FROM chain_events WHERE chain = $1 AND number IN ({})",
                places(some.len(), 2)
            );
            let mut values = vec![text(chain.as_str())];
            values.extend(some.iter().map(|number| int(*number)));
            for row in reader.rows(&sql, values)? {
                let link = (parsed(&row, "previous_hash"), parsed(&row, "hash"));
                if let (Ok(number), (Ok(previous), Ok(hash))) = (number_of(&row, "number"), link) {
                    links.insert((chain.clone(), number), Some((previous, hash)));
                } else if let Ok(number) = number_of(&row, "number") {
                    // Unreadable: no event fits beside it.
                    links.insert((chain.clone(), number), Some((EventTail::EMPTY.hash, EventTail::EMPTY.hash)));
                }
            }
        }
    }
    Ok(())
}

/// The deposits that the chain can still change: those not final yet, those above a block, and these. What the log
/// does not prove is left out, and cannot be moved.
pub(crate) fn tracked(
    reader: &Reader,
    chain: &Name,
    above: Option<u64>,
    named: &[DepositId],
) -> Result<BTreeMap<DepositId, TrackedDeposit>, StoreError> {
    let mut ids: Vec<DepositId> = named.to_vec();
    let open = "SELECT id AS deposit_id FROM deposits WHERE chain = $1 AND chain_state = 'included'";
    let mut found = reader.rows(open, vec![text(chain.as_str())])?;
    if let Some(above) = above {
        let sql = "SELECT DISTINCT deposit_id FROM chain_events WHERE chain = $1 AND block_height > $2";
        found.extend(reader.rows(sql, vec![text(chain.as_str()), int(above)])?);
    }
    ids.extend(found.iter().filter_map(|row| text_of(row, "deposit_id").ok().map(DepositId::from_row)));
    ids.sort_unstable();
    ids.dedup();
    let tracked = |(id, events): (DepositId, Result<Vec<ChainEvent>, EvidenceFault>)| {
        let history = DepositHistory::of(&events.ok()?).ok()?;
        Some((id, TrackedDeposit { inclusion: Box::new(history.inclusion), state: history.state }))
    };
    Ok(of_deposits(reader, &ids)?.into_iter().filter_map(tracked).collect())
}

pub(crate) fn places(count: usize, first: usize) -> String {
    (first..first.saturating_add(count)).map(|place| format!("${place}")).collect::<Vec<_>>().join(", ")
}

/// What a row of `deposits` must say, by the log alone.
pub(crate) fn expected_row(history: &DepositHistory) -> Vec<(&'static str, ColumnValue)> {
    let mut row = history.inclusion.deposit_columns();
    let reorged_at = history.reorged_at.map_or(ColumnValue::Null, |at| int(at.0));
    row.extend([
        ("chain", text(history.inclusion.deposit.chain())),
        ("chain_state", text(history.state.as_str())),
        ("first_seen_at", int(history.first_seen_at.0)),
        ("updated_at", int(history.changed_at.0)),
        ("reorged_at", reorged_at),
    ]);
    row
}
