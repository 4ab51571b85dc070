//! A decided batch on its way into the store.

use std::thread;

use bankroll_ledger::{Batch, Fact, Record, Verdict, merkle::Hash};

use super::{
    delivery::Outcomes,
    draft::{DecidedKeys, Draft, Entry},
    queue::Job,
    writer::Writer,
};
use crate::{
    RowsChanged,
    engine::{Commit, CommitError, Engine, Head, Records, RunWrites},
};

/// From how many records on another thread encodes and hashes them: starting it costs about as much as a hundred.
const SEALED_BESIDE_MIN: usize = 512;

impl Draft {
    /// Stores everything in one transaction: at once if the engine likes that better; otherwise what is derived first, while
    /// another thread encodes the records and computes their root, which takes about as long; then the records.
    pub fn store(
        &mut self,
        jobs: &[Job],
        engine: &mut dyn Engine,
        runs: &RunWrites,
    ) -> Result<Vec<RowsChanged>, CommitError> {
        let Some(commit) = self.commit(jobs, runs) else {
            return engine.end_unwritten().map(|()| Vec::new()).map_err(CommitError::Fatal);
        };
        if !self.entries.is_empty() && engine.stores_whole(&commit) {
            let (records, root) = self.seal(jobs);
            let batch = self.batch_of(&records, root);
            engine.store_whole(&commit, &batch, &records)?;
            self.batch = Some(batch);
            return Ok(Vec::new());
        }
        let (rows, (records, root)) = thread::scope(|scope| {
            let seal = || self.seal(jobs);
            let beside = (self.entries.len() >= SEALED_BESIDE_MIN).then(|| scope.spawn(seal));
            let rows = engine.write(&commit)?;
            Ok((rows, beside.map_or_else(seal, |sealing| sealing.join().expect("sealing cannot fail"))))
        })?;
        if records.len() > 0 {
            let batch = self.batch_of(&records, root);
            engine.append(&batch, &records)?;
            self.batch = Some(batch);
        }
        engine.commit()?;
        Ok(rows)
    }

    fn batch_of(&self, records: &Records, root: Hash) -> Batch {
        Batch {
            number: self.before.batch + 1,
            first: self.before.seq.next(),
            count: u32::try_from(records.len()).expect("a batch is far smaller"),
            at: self.now,
            root,
            previous: self.before.hash,
        }
    }

    /// The records as the journal stores them, and their root.
    fn seal(&self, jobs: &[Job]) -> (Records, Hash) {
        let mut records = Records::default();
        for entry in &self.entries {
            match entry {
                Entry::Encoded(record) => records.bytes.extend(record),
                Entry::Decided(place) => {
                    let (request, verdict) = (&self.request(jobs, *place).encoded, &self.answers[*place].verdict);
                    Record::append_decided(&mut records.bytes, request, verdict);
                }
            }
            records.end_record();
        }
        let root = records.root();
        (records, root)
    }

    /// What to write besides the records; `None` if there is nothing at all.
    fn commit<'a>(&'a self, jobs: &'a [Job], runs: &'a RunWrites) -> Option<Commit<'a>> {
        let rows: Vec<_> = jobs.iter().filter_map(Job::statements).collect();
        if self.entries.is_empty() && rows.is_empty() && runs.is_empty() {
            return None;
        }
        let applied = jobs
            .iter()
            .flat_map(Job::requests)
            .zip(&self.answers)
            .enumerate()
            .filter(|(_, (_, answer))| !answer.replayed && matches!(answer.verdict, Verdict::Applied(_)));
        let (mut facts, mut events) = (Vec::<(usize, &Fact)>::new(), Vec::new());
        for (place, (prepared, answer)) in applied {
            facts.extend(prepared.request.facts.iter().map(|fact| (place, fact)));
            let seq = answer.seq.expect("an applied request has a place");
            events.extend(prepared.request.events.iter().zip(0_u16..).map(|(event, number)| (seq, number, event)));
        }
        Some(Commit {
            assets: &self.assets,
            accounts: &self.accounts,
            debt_links: &self.debt_links,
            standings: &self.standings,
            holds: &self.holds,
            reversals: &self.reversals,
            facts,
            events,
            runs: Some(runs),
            rows,
        })
    }

    /// Where the journal will end, but for the hash, which only the sealed records give.
    pub fn head_to_be(&self) -> Head {
        let count = self.entries.len() as u64;
        if count == 0 {
            return self.before;
        }
        let seq = bankroll_ledger::Seq(self.before.seq.0 + count);
        Head { batch: self.before.batch + 1, seq, at: self.now, hash: self.before.hash }
    }

    /// Whether no hold that is due is left to expire in a later batch.
    pub fn all_expired(&self) -> bool {
        !self.more_expiries
    }

    pub fn outcomes(self, rows: Vec<RowsChanged>) -> Outcomes {
        Outcomes { answers: self.answers, opened: self.opened, listed: self.listed, rows }
    }

    /// The batch is durable: memory follows.
    pub fn publish(mut self, writer: &mut Writer, rows: Vec<RowsChanged>) -> Outcomes {
        writer.follow(self.batch.as_ref(), &self.keys);
        writer.assets.append(&mut self.assets);
        writer.last_account.0 += self.accounts.len() as u64;
        writer.next_expiry = match (self.more_expiries, writer.next_expiry) {
            (true, _) => Some(self.now),
            // Some have expired: only the store knows which is next.
            (false, Some(expiry)) if expiry <= self.now => writer.disk.engine().next_expiry().unwrap_or(Some(self.now)),
            (false, expiry) => expiry.into_iter().chain(self.next_expiry).min(),
        };
        self.outcomes(rows)
    }
}

impl Writer {
    /// Head and keys of a batch that is durable now.
    pub(super) fn follow(&mut self, batch: Option<&Batch>, keys: &DecidedKeys) {
        self.keys.committed();
        if let Some(batch) = batch {
            let seq = bankroll_ledger::Seq(batch.first.0 + u64::from(batch.count) - 1);
            self.head = Head { batch: batch.number, seq, at: batch.at, hash: batch.head() };
            self.keys.publish(keys.iter(), seq);
            self.indexer.follow(seq);
        }
    }
}
