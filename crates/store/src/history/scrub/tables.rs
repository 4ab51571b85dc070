//! Pages of the tables that follow from the journal: read now, compared when the replay has reached the same moment.

use std::hash::{BuildHasher, Hash, RandomState};

use bankroll_ledger::{Account, AccountId, AccountName, Asset, AssetId, HoldId, Seq};

use crate::{Audit, StoreError, engine::Source, writing::recovery};

/// Rows read at a time: a few milliseconds.
const PAGE: usize = 256;

/// A row: its number, and a hash over all of it with random keys of this pass.
type RowHash = (u64, u64);

/// How far the tables were read.
#[derive(Debug, Default)]
pub(super) struct TableCursor {
    table: Table,
    after: u64,
    hashing: RandomState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Table {
    #[default]
    Accounts,
    Holds,
    Reversals,
}

/// What was read in one snapshot.
#[derive(Debug)]
pub(super) struct TableNote {
    /// The last batch in that snapshot.
    batch: u64,
    seen: SeenRows,
}

#[derive(Debug)]
enum SeenRows {
    Assets(Vec<(AssetId, Asset)>),
    /// All rows of a table after one number, up to another.
    Page {
        table: Table,
        after: u64,
        through: u64,
        rows: Vec<RowHash>,
        hashing: RandomState,
    },
}

/// The assets, in a snapshot. Here the end of the journal is also checked: nothing may be stored or announced after it.
pub(super) fn assets(source: &dyn Source) -> Result<TableNote, StoreError> {
    let head = recovery::head(source)?;
    if let Some(event) = source.events_after(head.seq, 1)?.first() {
        let what = format!("something is announced of record {}, which is not there", event.seq);
        return Err(StoreError::diverged(head.seq, what));
    }
    Ok(TableNote { batch: head.batch, seen: SeenRows::Assets(source.assets()?) })
}

impl TableCursor {
    /// Reads the next page, in a snapshot; `None` after the last table.
    pub fn next_page(&mut self, source: &dyn Source) -> Result<Option<TableNote>, StoreError> {
        let head = source.head()?;
        let (table, after) = (self.table, self.after);
        let rows = self.read(source)?;
        if rows.iter().zip([after].iter().chain(rows.iter().map(|(id, _)| id))).any(|((id, _), before)| id <= before) {
            return Err(StoreError::diverged(head.seq, format!("the numbers of {} do not grow", table.name())));
        }
        let through = match rows.last() {
            Some((last, _)) if rows.len() == PAGE => *last,
            _ => u64::MAX,
        };
        match (through, table) {
            (u64::MAX, Table::Accounts) => (self.table, self.after) = (Table::Holds, 0),
            (u64::MAX, Table::Holds) => (self.table, self.after) = (Table::Reversals, 0),
            // The page before was the last one.
            (u64::MAX, Table::Reversals) if after == u64::MAX => return Ok(None),
            (through, _) => self.after = through,
        }
        let hashing = self.hashing.clone();
        Ok(Some(TableNote { batch: head.batch, seen: SeenRows::Page { table, after, through, rows, hashing } }))
    }

    fn read(&self, source: &dyn Source) -> Result<Vec<RowHash>, StoreError> {
        Ok(match self.table {
            Table::Accounts => {
                let accounts = source.accounts_after(AccountId(self.after), PAGE)?;
                check_names(source, &accounts)?;
                accounts.iter().map(|account| (account.id.0, self.hashing.hash_one(account))).collect()
            }
            Table::Holds => {
                let holds = source.holds_after(HoldId(self.after), PAGE)?;
                holds.iter().map(|hold| (hold.id.0, self.hashing.hash_one(hold))).collect()
            }
            Table::Reversals if self.after == u64::MAX => Vec::new(),
            Table::Reversals => {
                let reversals = source.reversals_after(Seq(self.after), PAGE)?;
                reversals.iter().map(|(original, by)| (original.0, self.hashing.hash_one(by))).collect()
            }
        })
    }
}

/// A name must lead to its own account: requests find accounts by name, through an index that no other check reads.
fn check_names(source: &dyn Source, accounts: &[Account]) -> Result<(), StoreError> {
    let names: Vec<AccountName> = accounts.iter().map(|account| account.name.clone()).collect();
    let mut found = source.accounts_named(&names)?;
    found.sort_unstable_by_key(|account| account.id);
    let mut accounts: Vec<&Account> = accounts.iter().collect();
    accounts.sort_unstable_by_key(|account| account.id);
    if found.iter().eq(accounts.iter().copied()) {
        return Ok(());
    }
    let wrong = accounts.iter().find(|account| !found.contains(account));
    let name = wrong.map_or_else(String::new, |account| account.name.to_string());
    Err(StoreError::diverged(source.head()?.seq, format!("the name {name} does not lead to its account")))
}

impl Table {
    const fn name(self) -> &'static str {
        match self {
            Self::Accounts => "accounts",
            Self::Holds => "holds",
            Self::Reversals => "reversals",
        }
    }
}

impl TableNote {
    pub const fn batch(&self) -> u64 {
        self.batch
    }

    pub fn rows(&self) -> u64 {
        match &self.seen {
            SeenRows::Assets(assets) => assets.len() as u64,
            SeenRows::Page { rows, .. } => rows.len() as u64,
        }
    }

    /// Compares the page with the books after exactly the batches that were there when it was read; `holds` are all
    /// that were made by then, in order.
    pub fn compare(&self, audit: &Audit, holds: &[HoldId]) -> Result<(), StoreError> {
        let (replay, books) = (&audit.replay, &audit.replay.books);
        let differs = |what: String| Err(StoreError::diverged(Seq(audit.next_seq.0 - 1), what));
        let (table, after, through, rows, hashing) = match &self.seen {
            SeenRows::Assets(stored) if stored.iter().map(|(id, asset)| (id, asset)).eq(&replay.assets) => {
                return Ok(());
            }
            SeenRows::Assets(_) => return differs("the assets are not what the journal says they are".into()),
            SeenRows::Page { table, after, through, rows, hashing } => (*table, *after, *through, rows, hashing),
        };
        match table {
            Table::Accounts => {
                // Accounts are numbered from 1 without a gap.
                let ids = after.saturating_add(1)..=through.min(books.account_count() as u64);
                let expected = ids.filter_map(|id| books.account(AccountId(id)));
                match first_difference(expected.map(|account| (account.id.0, account)), rows, hashing) {
                    None => Ok(()),
                    Some(id) => {
                        let name = books.account(AccountId(id)).map(|account| account.name.to_string());
                        let name = name.unwrap_or_else(|| id.to_string());
                        differs(format!("account {name} is not what the journal says it is"))
                    }
                }
            }
            Table::Holds => {
                let begin = holds.partition_point(|id| id.0 <= after);
                let end = holds.partition_point(|id| id.0 <= through);
                let expected = holds[begin..end].iter().filter_map(|id| books.hold(*id));
                match first_difference(expected.map(|hold| (hold.id.0, hold)), rows, hashing) {
                    None => Ok(()),
                    Some(id) => differs(format!("hold {} is not what the journal says it is", HoldId(id))),
                }
            }
            Table::Reversals => {
                let expected = replay.reversals.range(Seq(after.saturating_add(1))..=Seq(through));
                match first_difference(expected.map(|(original, by)| (original.0, by)), rows, hashing) {
                    None => Ok(()),
                    Some(original) => {
                        differs(format!("the reversal of record {original} is not what the journal says"))
                    }
                }
            }
        }
    }
}

/// The number of the first row that is stored and not expected, expected and not stored, or different.
fn first_difference<T: Hash>(
    mut expected: impl Iterator<Item = (u64, T)>,
    stored: &[RowHash],
    hashing: &RandomState,
) -> Option<u64> {
    let mut stored = stored.iter();
    loop {
        match (expected.next(), stored.next()) {
            (None, None) => return None,
            (Some((id, row)), Some((stored, hash))) if id == *stored && hashing.hash_one(&row) == *hash => {}
            (Some((id, _)), Some((stored, _))) => return Some(id.min(*stored)),
            (Some((id, _)), None) => return Some(id),
            (None, Some((stored, _))) => return Some(*stored),
        }
    }
}
