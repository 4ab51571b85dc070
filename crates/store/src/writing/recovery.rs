//! Opening books after any kind of shutdown: is the end of the journal sound, and do the derived tables agree with it?

use bankroll_ledger::{Batch, Record, Seq, merkle};

use super::tail::ExpectedRows;
use crate::{
    StoreError,
    engine::{Commit, CommitError, Engine, JournalHead, RunWrites, Source},
};

/// How many batches at the end of the journal are verified when the books are opened, and how many records at most.
const TAIL_BATCHES: u64 = 16_384;
const TAIL_RECORDS: u64 = 200_000;
/// Batches, and about as many records, that are read and verified at a time.
const PAGE_BATCHES: usize = 1_024;
const PAGE_RECORDS: usize = 10_000;

/// Where the journal ends: its last record is the last of its last batch.
pub(crate) fn head(source: &dyn Source) -> Result<JournalHead, StoreError> {
    let head = source.head()?;
    if source.last_seq()? == head.seq {
        Ok(head)
    } else {
        Err(StoreError::diverged(head.seq, "the journal does not end where its last batch ends"))
    }
}

/// Verifies the end of the journal: records, roots, chain, and the rows that follow from the records: balances, holds,
/// reversals, accounts, assets and announcements. Returns the number of verified batches.
pub(crate) fn verify_tail(source: &dyn Source, head: &JournalHead) -> Result<u64, StoreError> {
    let from = head.seq.0.saturating_sub(TAIL_RECORDS);
    let (mut expected, mut verified, mut number) = (ExpectedRows::default(), 0, tail_start(source, head, from)?);
    while number <= head.batch {
        let page = verified_batches(source, number)?;
        let Some((last, _)) = page.last() else { break };
        number = last.number.saturating_add(1);
        verified += page.len() as u64;
        for (seq, bytes) in page.iter().flat_map(|(_, records)| records) {
            expected.note(*seq, Record::decode(bytes).map_err(StoreError::unreadable(*seq))?);
        }
        expected.compare_events(source, page[0].0.first, last_of(last))?;
    }
    expected.compare(source, head)?;
    Ok(verified)
}

/// The first batch of the tail: not before the record after `from`.
fn tail_start(source: &dyn Source, head: &JournalHead, from: u64) -> Result<u64, StoreError> {
    let by_batches = head.batch.saturating_sub(TAIL_BATCHES - 1).max(1);
    let by_records = source.batch_of(Seq(from))?.map_or(1, |(batch, _)| batch.number + 1);
    Ok(by_batches.max(by_records))
}

fn last_of(batch: &Batch) -> Seq {
    Seq(batch.first.0.saturating_add(u64::from(batch.count)).saturating_sub(1))
}

/// A batch with its records.
type VerifiedBatch = (Batch, Vec<(Seq, Vec<u8>)>);

/// The next batches from this number on with their records, read in few queries and verified; none after the last.
pub(crate) fn verified_batches(source: &dyn Source, number: u64) -> Result<Vec<VerifiedBatch>, StoreError> {
    let mut batches = source.batches_from(number, PAGE_BATCHES)?;
    let mut total = 0_usize;
    let fitting = batches.iter().take_while(|(batch, _)| {
        let with_it = total.saturating_add(batch.count as usize);
        let fits = total == 0 || with_it <= PAGE_RECORDS;
        total = if fits { with_it } else { total };
        fits
    });
    let fitting = fitting.count();
    batches.truncate(fitting);
    let Some((first, _)) = batches.first() else { return Ok(Vec::new()) };
    let mut records = source.records_from(first.first, total)?.into_iter();
    let verified = batches.iter().map(|(batch, stored_head)| {
        let of_batch: Vec<_> = records.by_ref().take(batch.count as usize).collect();
        check_batch(batch, stored_head, &of_batch).map(|()| (*batch, of_batch))
    });
    verified.collect()
}

/// Checks a batch against its row: records without a gap, their root, and the head that follows from it.
pub(crate) fn check_batch(
    batch: &Batch,
    stored_head: &merkle::Hash,
    records: &[(Seq, Vec<u8>)],
) -> Result<(), StoreError> {
    let broken = |what: &str| Err(StoreError::diverged(batch.first, format!("batch {}: {what}", batch.number)));
    let places = records.iter().zip(batch.first.0..);
    if records.len() != batch.count as usize || places.into_iter().any(|((seq, _), place)| seq.0 != place) {
        return broken("a record is missing");
    }
    let leaves: Vec<merkle::Hash> = records.iter().map(|(_, record)| merkle::leaf(record)).collect();
    if merkle::root(&leaves) != batch.root {
        return broken("its records are not the ones its root was made of");
    }
    if batch.head() != *stored_head {
        return broken("its head does not follow from the batch before");
    }
    Ok(())
}

/// Commits changes of the key index alone.
pub(crate) fn commit_runs(engine: &mut dyn Engine, writes: &RunWrites) -> Result<(), StoreError> {
    let commit = Commit { runs: Some(writes), ..Commit::default() };
    match engine.write(&commit).and_then(|_| engine.commit()) {
        Ok(()) => Ok(()),
        Err(CommitError::NothingHappened(error) | CommitError::Fatal(error)) => Err(error),
        Err(CommitError::FactRefused(_)) => unreachable!("there are no facts in it"),
    }
}
