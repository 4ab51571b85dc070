//! The derived tables, computed from the journal: assets, accounts, balances, holds, reversals.

use bankroll_ledger::{Account, Asset, AssetId, Event, Hold, Record, Replay, Seq, Verdict};

use super::{Commit, Source};
use crate::{StoreError, writing::recovery::check_batch};

/// The tables that follow from the journal: `bankroll rebuild` makes them again.
pub(crate) const DERIVED_TABLES: [&str; 9] = [
    "assets",
    "accounts",
    "balances",
    "holds",
    "reversals",
    "outbox",
    "key_runs",
    "key_chunks",
    // SQLite's own: the last numbers of accounts and assets.
    "sqlite_sequence",
];
/// What everything follows from. Rebuilding copies them, batch by batch, and verifies them.
pub(crate) const JOURNAL_TABLES: [&str; 2] = ["journal", "batches"];

/// Batches read at a time.
const PAGE: usize = 256;

pub(crate) struct DerivedTables {
    pub assets: Vec<(AssetId, Asset)>,
    /// In the order of their numbers.
    pub accounts: Vec<Account>,
    pub holds: Vec<Hold>,
    pub reversals: Vec<(Seq, Seq)>,
}

impl DerivedTables {
    /// Reads the whole journal. Every balance will follow from it, so every batch is verified against the chain.
    pub fn from_journal(source: &dyn Source) -> Result<Self, StoreError> {
        let (mut replay, mut number, mut next) = (Replay::default(), 1, Seq(1));
        loop {
            let batches = source.batches_from(number, PAGE)?;
            if batches.is_empty() {
                break;
            }
            for (batch, stored_head) in &batches {
                if (batch.number, batch.first) != (number, next) {
                    return Err(StoreError::diverged(next, format!("batch {number} is missing or moved")));
                }
                let records = source.records_from(batch.first, batch.count as usize)?;
                check_batch(batch, stored_head, &records)?;
                for (seq, bytes) in &records {
                    replay.apply(*seq, &Record::decode(bytes).map_err(StoreError::unreadable(*seq))?);
                    next = seq.next();
                }
                number += 1;
            }
        }
        if source.last_seq()?.next() == next {
            Ok(replay.into())
        } else {
            Err(StoreError::diverged(next, "the journal does not end where its last batch ends"))
        }
    }

    /// Everything, to be written into empty tables.
    pub fn commit(&self) -> Commit<'_> {
        let Self { assets, accounts, holds, reversals } = self;
        Commit { assets, accounts, holds, reversals, ..Commit::default() }
    }
}

/// The announcements of an applied record.
pub(crate) fn events_of(seq: Seq, record: Record) -> Vec<(Seq, u16, Event)> {
    match record {
        Record::Decided { request, verdict: Verdict::Applied(_) } => {
            request.events.into_iter().zip(0..).map(|(event, place)| (seq, place, event)).collect()
        }
        _ => Vec::new(),
    }
}

impl From<Replay> for DerivedTables {
    fn from(replay: Replay) -> Self {
        let mut accounts: Vec<Account> = replay.books.accounts().cloned().collect();
        accounts.sort_by_key(|account| account.id);
        Self {
            assets: replay.assets.into_iter().collect(),
            accounts,
            holds: replay.books.holds().copied().collect(),
            reversals: replay.reversals.into_iter().collect(),
        }
    }
}
