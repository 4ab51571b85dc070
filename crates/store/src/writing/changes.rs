//! A decided batch: its changes, and storing them.

use std::thread;

use bankroll_ledger::{
    Account, AccountId, Answer, Asset, AssetId, Batch, Fact, Hold, OpenRejection, Record, Seq, Time, Verdict,
    merkle::Hash,
};

use super::{
    decided_keys::DecidedKeys,
    delivery::Outcomes,
    keys::KeyHasher,
    newest_head::HeadFile,
    queue::{Job, PreparedRequest},
};
use crate::{
    NotedHead, RowsOutcome,
    engine::{BalanceRow, Commit, CommitError, Engine, JournalHead, Records, RunWrites},
};

/// From this number of records on, another thread encodes and hashes them: starting it costs as much as a hundred
/// records.
const SEAL_THREAD_MIN: usize = 512;

/// The changes of a decided batch, and the answers that its callers get once it is durable.
pub(super) struct BatchChanges {
    pub before: JournalHead,
    pub now: Time,
    /// For each decided request: its job, and its place in the job.
    pub requests: Vec<(usize, usize)>,
    pub entries: Vec<BatchRecord>,
    pub balances: Vec<BalanceRow>,
    pub holds: Vec<Hold>,
    pub reversals: Vec<(Seq, Seq)>,
    pub assets: Vec<(AssetId, Asset)>,
    pub accounts: Vec<Account>,
    /// Existing accounts that have got their debt account.
    pub debt_links: Vec<Account>,
    pub keys: DecidedKeys,
    pub answers: Vec<Answer>,
    pub opened: Vec<Vec<Result<AccountId, OpenRejection>>>,
    pub listed: Vec<AssetId>,
    pub next_expiry: Option<Time>,
    pub more_expiries: bool,
    pub batch: Option<Batch>,
}

/// A record of the batch: encoded already, or the request at this place with its answer.
pub(super) enum BatchRecord {
    Encoded(Vec<u8>),
    Decided(usize),
}

impl BatchChanges {
    pub fn new(before: JournalHead, clock: Time, hasher: KeyHasher) -> Self {
        Self {
            before,
            // The clock may have jumped back; the journal's time never does.
            now: clock.max(before.at),
            requests: Vec::new(),
            entries: Vec::new(),
            balances: Vec::new(),
            holds: Vec::new(),
            reversals: Vec::new(),
            assets: Vec::new(),
            accounts: Vec::new(),
            debt_links: Vec::new(),
            keys: DecidedKeys::new(hasher),
            answers: Vec::new(),
            opened: Vec::new(),
            listed: Vec::new(),
            next_expiry: None,
            more_expiries: false,
            batch: None,
        }
    }

    pub fn request<'a>(&self, jobs: &'a [Job], place: usize) -> &'a PreparedRequest {
        let (job, place) = self.requests[place];
        &jobs[job].requests()[place]
    }

    pub fn next_seq(&self) -> Seq {
        Seq(self.before.seq.0 + self.entries.len() as u64 + 1)
    }

    pub fn push_record(&mut self, record: &Record) {
        self.entries.push(BatchRecord::Encoded(record.encode()));
    }

    /// Stores everything in one transaction. If the engine can do it at once, it does. Otherwise the derived rows go
    /// first, while another thread encodes the records and computes their root, which takes about as long; then the
    /// records. Then notes the new head, if there is a file for it.
    pub fn store(
        &mut self,
        jobs: &[Job],
        engine: &mut dyn Engine,
        runs: &RunWrites,
        head_file: Option<&HeadFile>,
    ) -> Result<Vec<RowsOutcome>, CommitError> {
        let rows = self.store_batch(jobs, engine, runs)?;
        // Before anything is answered: what a caller knows, the note knows.
        if let (Some(file), Some(batch)) = (head_file, &self.batch) {
            file.note(&NotedHead::new(batch.number, self.next_head().seq, batch.head()));
        }
        Ok(rows)
    }

    fn store_batch(
        &mut self,
        jobs: &[Job],
        engine: &mut dyn Engine,
        runs: &RunWrites,
    ) -> Result<Vec<RowsOutcome>, CommitError> {
        let Some(commit) = self.commit(jobs, runs) else {
            return engine.end_unwritten().map(|()| Vec::new()).map_err(CommitError::Fatal);
        };
        if !self.entries.is_empty() && engine.can_store_at_once(&commit) {
            let (records, root) = self.seal(jobs);
            let batch = self.batch_of(&records, root);
            engine.store_at_once(&commit, &batch, &records)?;
            self.batch = Some(batch);
            return Ok(Vec::new());
        }
        let (rows, (records, root)) = thread::scope(|scope| {
            let seal = || self.seal(jobs);
            let sealing = (self.entries.len() >= SEAL_THREAD_MIN).then(|| scope.spawn(seal));
            let rows = engine.write(&commit)?;
            Ok((rows, sealing.map_or_else(seal, |thread| thread.join().expect("sealing cannot fail"))))
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
                BatchRecord::Encoded(record) => records.bytes.extend(record),
                BatchRecord::Decided(place) => {
                    let (request, verdict) = (&self.request(jobs, *place).encoded, &self.answers[*place].verdict);
                    Record::append_decided(&mut records.bytes, request, verdict);
                }
            }
            records.end_record();
        }
        let root = records.root();
        (records, root)
    }

    /// What to write in addition to the records; `None` if there is nothing to write at all.
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
            balances: &self.balances,
            holds: &self.holds,
            reversals: &self.reversals,
            facts,
            events,
            runs: Some(runs),
            rows,
        })
    }

    /// Where the journal will end, except the hash, which only the sealed records give.
    pub fn next_head(&self) -> JournalHead {
        let count = self.entries.len() as u64;
        if count == 0 {
            return self.before;
        }
        let seq = Seq(self.before.seq.0 + count);
        JournalHead { batch: self.before.batch + 1, seq, at: self.now, hash: self.before.hash }
    }

    /// Whether every due hold has expired in this batch.
    pub fn all_expired(&self) -> bool {
        !self.more_expiries
    }

    pub fn outcomes(self, rows: Vec<RowsOutcome>) -> Outcomes {
        Outcomes { answers: self.answers, opened: self.opened, listed: self.listed, rows }
    }
}
