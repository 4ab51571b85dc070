//! What is not found, or found by an index, is confirmed by a second way before anything is decided by it.
//!
//! Accounts, assets, batches and records are numbered without gaps, and their last numbers are kept apart: a row that
//! is missing below the last number is damage, never "not found". So is a page whose numbers do not grow by one; a
//! reader that believed it might never reach its end. Names have two indexes, and holds the record that made them.
//!
//! A reader may run outside a snapshot while a writer adds rows. So a lookup that disagrees is repeated once, after
//! the second way was read: nothing is ever deleted, so what the second way knows must be found then.

use std::collections::{BTreeSet, HashMap, HashSet};

use bankroll_ledger::{
    Account, AccountId, AccountName, Batch, GENESIS, Hold, HoldId, HoldState, Record, Seq, Verdict, merkle::Hash,
};

use super::{Source, checksum};
use crate::StoreError;

/// Rows by their numbers. `must_exist` selects from the numbers that were not found those that have a row by another
/// way.
fn by_number<N: Copy + Ord, T>(
    wanted: &[N],
    number_of: impl Fn(&T) -> N,
    read: impl Fn(&[N]) -> Result<Vec<T>, StoreError>,
    must_exist: impl FnOnce(&[N]) -> Result<Vec<N>, StoreError>,
    lost: impl Fn(N) -> StoreError,
) -> Result<Vec<T>, StoreError> {
    let mut found = read(wanted)?;
    if found.len() == wanted.len() {
        return Ok(found);
    }
    let missing = without(wanted, found.iter().map(&number_of));
    if missing.is_empty() {
        return Ok(found);
    }
    let existing = must_exist(&missing)?;
    if existing.is_empty() {
        return Ok(found);
    }
    let again = read(&existing)?;
    if let Some(number) = without(&existing, again.iter().map(&number_of)).first() {
        return Err(lost(*number));
    }
    found.extend(again);
    found.sort_by_key(number_of);
    Ok(found)
}

fn without<N: Copy + Ord>(wanted: &[N], found: impl Iterator<Item = N>) -> Vec<N> {
    let found: BTreeSet<N> = found.collect();
    wanted.iter().copied().filter(|number| !found.contains(number)).collect()
}

/// Accounts by their numbers.
pub(super) fn accounts(
    source: &dyn Source,
    ids: &[AccountId],
    read: impl Fn(&[AccountId]) -> Result<Vec<Account>, StoreError>,
) -> Result<Vec<Account>, StoreError> {
    let must_exist = |missing: &[AccountId]| {
        let last = source.last_ids()?.1;
        Ok(missing.iter().copied().filter(|id| id.0 > 0 && *id <= last).collect())
    };
    let lost = |id| StoreError::row_damaged("accounts", format!("row {id}, or its balance, is lost"));
    by_number(ids, |account: &Account| account.id, read, must_exist, lost)
}

/// Records by their places.
pub(super) fn records(
    source: &dyn Source,
    places: &[Seq],
    read: impl Fn(&[Seq]) -> Result<Vec<(Seq, Vec<u8>)>, StoreError>,
) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
    let must_exist = |missing: &[Seq]| {
        let last = source.head()?.seq;
        Ok(missing.iter().copied().filter(|seq| seq.0 > 0 && *seq <= last).collect())
    };
    let lost = |seq| StoreError::row_damaged("journal", format!("row {seq} is lost"));
    by_number(places, |(seq, _): &(Seq, Vec<u8>)| *seq, read, must_exist, lost)
}

/// Holds by their numbers: one that a record has made must be there.
pub(super) fn holds(
    source: &dyn Source,
    ids: &[HoldId],
    read: impl Fn(&[HoldId]) -> Result<Vec<Hold>, StoreError>,
) -> Result<Vec<Hold>, StoreError> {
    let must_exist = |missing: &[HoldId]| made_holds(source, missing);
    let lost = |id| StoreError::row_damaged("holds", format!("row {id} is lost"));
    by_number(ids, |hold: &Hold| hold.id, read, must_exist, lost)
}

/// The reversal of a record: `look` returns the row of the table, and what the second index has.
pub(super) fn reversal(
    original: Seq,
    look: impl Fn() -> Result<(Option<(Seq, Seq)>, Option<Seq>), StoreError>,
) -> Result<Option<Seq>, StoreError> {
    for _ in 0..2 {
        let (row, by_index) = look()?;
        let is_it = row.is_none_or(|(stored, _)| stored == original);
        if is_it && row.map(|(_, reversal)| reversal) == by_index {
            return Ok(by_index);
        }
    }
    Err(StoreError::row_damaged("reversals", format!("row {original} and its index disagree")))
}

/// A name that the index of names has for an account, at or after a text.
pub(super) fn indexed_name(source: &dyn Source, id: AccountId, name: String, text: &str) -> Result<String, StoreError> {
    let account = source.accounts(&[id])?.pop();
    if name.as_str() >= text && account.is_some_and(|account| account.name.to_string() == name) {
        Ok(name)
    } else {
        Err(StoreError::row_damaged("accounts", format!("its index of names leads from {name} to row {id}")))
    }
}

/// A page of numbered rows from `first` on. A page that is not full must reach the last number, which is kept apart.
pub(super) fn page<T>(
    table: &'static str,
    first: u64,
    most: usize,
    number_of: impl Fn(&T) -> u64,
    read: impl Fn() -> Result<Vec<T>, StoreError>,
    last: impl FnOnce() -> Result<u64, StoreError>,
) -> Result<Vec<T>, StoreError> {
    // Rows are numbered from 1.
    let first = first.max(1);
    let lost = |number: u64| StoreError::row_damaged(table, format!("row {number} is lost"));
    let dense = |rows: &[T]| match rows.iter().zip(first..).find(|(row, number)| number_of(row) != *number) {
        Some((_, number)) => Err(lost(number)),
        None => Ok(()),
    };
    let rows = read()?;
    dense(&rows)?;
    if rows.len() >= most {
        return Ok(rows);
    }
    let last = last()?.min(first.saturating_add(most as u64).saturating_sub(1));
    let end = |rows: &[T]| first.saturating_add(rows.len() as u64);
    if end(&rows) > last {
        return Ok(rows);
    }
    let rows = read()?;
    dense(&rows)?;
    if end(&rows) > last { Ok(rows) } else { Err(lost(end(&rows))) }
}

/// Batches from `number` on, each proven by its head. `read` reads from the row before, whose head is the first link.
pub(super) fn chain(
    source: &dyn Source,
    number: u64,
    most: usize,
    read: impl Fn(u64, usize) -> Result<Vec<(Batch, Hash)>, StoreError>,
) -> Result<Vec<(Batch, Hash)>, StoreError> {
    let number = number.max(1);
    let before = number - 1;
    let rows = || -> Result<Vec<(Batch, Hash)>, StoreError> {
        let mut rows = read(before, most.saturating_add(1))?;
        linked(before, &mut rows)?;
        Ok(rows)
    };
    // Row 0 is the genesis, which is not stored.
    let stored_before = usize::from(before > 0);
    let mut rows_found = rows()?;
    let is_full = |rows: &[(Batch, Hash)]| rows.len() >= most.saturating_add(stored_before);
    if !is_full(&rows_found) && (before == 0 || !rows_found.is_empty()) {
        // Not full: the last of them must have the journal's last record.
        let last = source.last_seq()?;
        if last_record(&rows_found) < last {
            rows_found = rows()?;
        }
        if !is_full(&rows_found) && last_record(&rows_found) < last {
            let missing = before.saturating_add(rows_found.len() as u64 + 1 - stored_before as u64);
            return Err(StoreError::row_damaged("batches", format!("row {missing} is lost")));
        }
    }
    rows_found.drain(..stored_before.min(rows_found.len()));
    rows_found.truncate(most);
    Ok(rows_found)
}

/// The last record of the last batch.
fn last_record(rows: &[(Batch, Hash)]) -> Seq {
    rows.last().map_or(Seq(0), |(batch, _)| Seq(batch.first.0.saturating_add(u64::from(batch.count) - 1)))
}

/// Links rows that begin with number `first`, and checks that they are numbered and chained without a gap. The head of
/// row `first` itself is believed, unless it is the first batch.
pub(super) fn linked(first: u64, rows: &mut [(Batch, Hash)]) -> Result<(), StoreError> {
    let mut previous: Option<(Batch, Hash)> = None;
    for ((batch, head), number) in rows.iter_mut().zip(first.max(1)..) {
        if batch.number != number {
            return Err(StoreError::row_damaged("batches", format!("row {number} is lost")));
        }
        batch.previous = previous.map_or(GENESIS, |(_, head)| head);
        let follows = previous
            .is_none_or(|(before, _)| Some(batch.first.0) == before.first.0.checked_add(u64::from(before.count)));
        let is_believed = previous.is_none() && number > 1;
        if !follows || (!is_believed && batch.head() != *head) {
            let what = format!("row {number} does not follow from the row before");
            return Err(StoreError::row_damaged("batches", what));
        }
        previous = Some((*batch, *head));
    }
    Ok(())
}

/// The accounts of these names. `look` returns the numbers that the index of names has, and those that the index of
/// their hashes has; both must lead to the same rows, and the rows must have these names.
pub(super) fn named(
    source: &dyn Source,
    names: &[AccountName],
    look: impl Fn(&[String], &[i64]) -> Result<[Vec<AccountId>; 2], StoreError>,
) -> Result<Vec<Account>, StoreError> {
    let texts: Vec<String> = names.iter().map(ToString::to_string).collect();
    let hashes: Vec<i64> = texts.iter().map(|text| checksum::name_hash(text)).collect();
    let wanted: HashSet<&AccountName> = names.iter().collect();
    for is_last in [false, true] {
        let [by_name, by_hash] = look(&texts, &hashes)?.map(|ids| ids.into_iter().collect::<BTreeSet<AccountId>>());
        let all: Vec<AccountId> = by_name.union(&by_hash).copied().collect();
        let mut accounts = source.accounts(&all)?;
        // Two names may share a hash. A row that has neither the name nor the hash was not meant by the index.
        let is_meant = |account: &Account| {
            wanted.contains(&account.name) || hashes.contains(&checksum::name_hash(&account.name.to_string()))
        };
        let all_meant = accounts.len() == all.len() && accounts.iter().all(is_meant);
        accounts.retain(|account| wanted.contains(&account.name));
        let found: BTreeSet<AccountId> = accounts.iter().map(|account| account.id).collect();
        if all_meant && found == by_name && found.is_subset(&by_hash) {
            return Ok(accounts);
        }
        if is_last {
            break;
        }
    }
    let what = "its two indexes of names lead to different rows";
    Err(StoreError::row_damaged("accounts", what))
}

/// Those of the holds that their records have made.
fn made_holds(source: &dyn Source, ids: &[HoldId]) -> Result<Vec<HoldId>, StoreError> {
    // In one query: a batch may name thousands of holds that do not exist.
    let mut places: Vec<Seq> = ids.iter().map(|id| id.made_by()).collect();
    places.sort_unstable();
    places.dedup();
    let mut made = BTreeSet::new();
    for (seq, bytes) in source.records(&places)? {
        let record = Record::decode(&bytes).map_err(StoreError::unreadable(seq))?;
        if let Record::Decided { verdict: Verdict::Applied(effects), .. } = record {
            made.extend(effects.holds.iter().map(|change| change.hold.id));
        }
    }
    Ok(ids.iter().copied().filter(|id| made.contains(id)).collect())
}

/// Open holds that an index has found, read by their numbers; `is_meant` compares them with what the index says.
pub(super) fn indexed_holds(
    source: &dyn Source,
    index: &str,
    ids: &[HoldId],
    is_meant: impl Fn(&Hold) -> bool,
) -> Result<Vec<Hold>, StoreError> {
    let found: HashMap<HoldId, Hold> = source.holds(ids)?.into_iter().map(|hold| (hold.id, hold)).collect();
    let meant = |id: &HoldId| found.get(id).copied().filter(|hold| hold.state == HoldState::Open && is_meant(hold));
    let lost = || StoreError::row_damaged("holds", format!("its index {index} leads to other rows"));
    ids.iter().map(|id| meant(id).ok_or_else(lost)).collect()
}
