//! Opening books after any kind of shutdown: is the end of the journal sound, and do the derived tables agree with it?

use std::{collections::HashMap, ops::ControlFlow};

use bankroll_ledger::{AccountId, Amount, Batch, HoldChange, Posting, Record, Seq, Verdict, merkle};

use crate::{
    StoreError,
    engine::{Commit, CommitError, Engine, JournalHead, RunWrites, Source},
};

/// How many batches at the end of the journal are verified when the books are opened, and how many records at most.
const TAIL_BATCHES: u64 = 1024;
const TAIL_RECORDS: u64 = 200_000;

/// Where the journal ends: its last record is the last of its last batch.
pub(crate) fn head(source: &dyn Source) -> Result<JournalHead, StoreError> {
    let head = source.head()?;
    if source.last_seq()? == head.seq {
        Ok(head)
    } else {
        Err(StoreError::diverged(head.seq, "the journal does not end where its last batch ends"))
    }
}

/// Verifies the end of the journal: records, roots, chain, and the balances that follow from the records. Returns the
/// number of verified batches.
pub(crate) fn verify_tail(source: &dyn Source, head: &JournalHead) -> Result<u64, StoreError> {
    let batches = source.batches_from(head.batch.saturating_sub(TAIL_BATCHES).max(1), usize::MAX)?;
    let from = head.seq.0.saturating_sub(TAIL_RECORDS);
    let (mut expected, mut verified) = (ExpectedBalances::default(), 0);
    for (batch, stored_head) in batches.iter().filter(|(batch, _)| batch.first.0 > from) {
        let records = source.records_from(batch.first, batch.count as usize)?;
        check_batch(batch, stored_head, &records)?;
        verified += 1;
        for (seq, bytes) in &records {
            expected.note(&Record::decode(bytes).map_err(StoreError::unreadable(*seq))?);
        }
    }
    if batches.last().is_some_and(|(_, stored)| *stored != head.hash) {
        return Err(StoreError::diverged(head.seq, "the chain does not end at its head"));
    }
    expected.compare(source, head)?;
    Ok(verified)
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

/// The balances and held amounts that follow from the last records.
#[derive(Default)]
struct ExpectedBalances {
    balances: HashMap<AccountId, Amount>,
    held: HashMap<AccountId, Amount>,
}

impl ExpectedBalances {
    fn note(&mut self, record: &Record) {
        match record {
            Record::Decided { verdict: Verdict::Applied(effects), .. } => {
                for Posting { from, to, from_after, to_after, .. } in &effects.postings {
                    self.balances.extend([(*from, *from_after), (*to, *to_after)]);
                }
                effects.holds.iter().for_each(|change| self.note_hold(change));
            }
            Record::HoldExpired(change) => self.note_hold(change),
            _ => {}
        }
    }

    fn note_hold(&mut self, change: &HoldChange) {
        self.held.insert(change.hold.account, change.held_after);
    }

    fn compare(&self, source: &dyn Source, head: &JournalHead) -> Result<(), StoreError> {
        let ids: Vec<AccountId> = self.balances.keys().chain(self.held.keys()).copied().collect();
        let stored: HashMap<_, _> = source.accounts(&ids)?.into_iter().map(|account| (account.id, account)).collect();
        let differing = ids.iter().try_for_each(|id| {
            let account = stored.get(id);
            let differs = |said: Option<&Amount>, is: Option<Amount>| said.is_some_and(|said| is != Some(*said));
            let wrong = differs(self.balances.get(id), account.map(|account| account.balance))
                || differs(self.held.get(id), account.map(|account| account.held));
            if wrong { ControlFlow::Break(*id) } else { ControlFlow::Continue(()) }
        });
        match differing {
            ControlFlow::Break(id) => {
                Err(StoreError::diverged(head.seq, format!("account {id} is not what the journal says it is")))
            }
            ControlFlow::Continue(()) => Ok(()),
        }
    }
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
