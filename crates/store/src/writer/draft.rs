//! A batch while it is being decided.

use std::{collections::HashMap, thread};

use bankroll_ledger::{
    Account, AccountId, AccountName, Action, Asset, AssetId, Batch, Effects, Fact, Fingerprint, Hold, OpenRejected,
    PastTransfer, Policy, Principal, Recall, Record, Rejection, Request, Seq, Time, Verdict, decide_checked,
    merkle::Hash, recall,
};

use super::{Answer, EXPIRIES_MAX, Job, Prepared, Writer, delivery::Outcomes, prefetch};
use crate::{
    RowsChanged, StoreError,
    engine::{Commit, CommitError, Engine, Head, Records, RunWrites, Standing},
    keys::KeyHasher,
};

/// From how many records on another thread encodes and hashes them: starting it costs about as much as a hundred.
const SEALED_BESIDE_MIN: usize = 512;

/// A record to be: encoded already, or the request at this place with its answer.
enum Entry {
    Encoded(Vec<u8>),
    Decided(usize),
}

/// What has been decided so far, and what the commit will write.
pub(super) struct Draft {
    before: Head,
    now: Time,
    entries: Vec<Entry>,
    touched: Vec<AccountId>,
    standings: Vec<Standing>,
    holds: Vec<Hold>,
    reversals: Vec<(Seq, Seq)>,
    assets: Vec<(AssetId, Asset)>,
    accounts: Vec<Account>,
    named: HashMap<AccountName, AccountId>,
    debt_links: Vec<(AccountId, AccountId)>,
    /// Keys decided in this batch, with the request's place among all requests of the batch.
    keys: HashMap<u128, usize, KeyHasher>,
    /// Places whose fingerprint another key of the batch has too.
    twins: Vec<(u128, usize)>,
    answers: Vec<Answer>,
    opened: Vec<Vec<Result<AccountId, OpenRejected>>>,
    listed: Vec<AssetId>,
    next_expiry: Option<Time>,
    more_expiries: bool,
    refused: Vec<usize>,
    batch: Option<Batch>,
}

impl Draft {
    /// An empty batch behind `before`. The requests at the places `refused` have a fact that their table refuses.
    pub fn new(before: Head, clock: Time, refused: Vec<usize>, hasher: KeyHasher) -> Self {
        Self {
            before,
            // The clock may have jumped back; the journal's time never does.
            now: clock.max(before.at),
            entries: Vec::new(),
            touched: Vec::new(),
            standings: Vec::new(),
            holds: Vec::new(),
            reversals: Vec::new(),
            assets: Vec::new(),
            accounts: Vec::new(),
            named: HashMap::new(),
            debt_links: Vec::new(),
            keys: HashMap::with_hasher(hasher),
            twins: Vec::new(),
            answers: Vec::new(),
            opened: Vec::new(),
            listed: Vec::new(),
            next_expiry: None,
            more_expiries: false,
            refused,
            batch: None,
        }
    }

    pub fn into_refused(self) -> Vec<usize> {
        self.refused
    }

    /// Prefetches and decides everything the jobs ask for.
    pub fn fill(&mut self, writer: &mut Writer, jobs: &[Job]) -> Result<(), StoreError> {
        let requests: Vec<&Prepared> = jobs.iter().flat_map(Job::requests).collect();
        let well_formed = requests.iter().filter(|prepared| prepared.checked.is_ok());
        let named = well_formed.map(|prepared| &prepared.request);
        prefetch::prefetch(writer.engine.as_mut(), &mut writer.books, named)?;
        self.keys.reserve(requests.len());
        self.answers.reserve(requests.len());
        let fingerprints: Vec<Fingerprint> = requests.iter().map(|prepared| prepared.fingerprint).collect();
        let candidates = writer.look_after_keys(|keys, engine| keys.candidates(engine, &fingerprints))?;
        let earlier = earlier_requests(writer, &candidates)?;
        self.expire_due(writer)?;
        for job in jobs {
            match job {
                Job::Money { requests: of_job, .. } => {
                    for _ in of_job {
                        let known = earlier.get(&self.answers.len()).map_or(&[][..], Vec::as_slice);
                        let answer = self.answer(writer, &requests, known);
                        self.answers.push(answer);
                    }
                }
                Job::Open { by, names, .. } => {
                    let opened = names.iter().map(|(name, policy)| self.open(writer, by, name, policy));
                    let opened = opened.collect::<Result<_, _>>()?;
                    self.opened.push(opened);
                }
                Job::List { asset, .. } => self.list(writer, asset),
                Job::Rows { .. } | Job::Tick { .. } | Job::Stop => {}
            }
        }
        self.close(writer);
        Ok(())
    }

    fn next_seq(&self) -> Seq {
        Seq(self.before.seq.0 + self.entries.len() as u64 + 1)
    }

    fn push_record(&mut self, record: &Record) {
        self.entries.push(Entry::Encoded(record.encode()));
    }

    fn expire_due(&mut self, writer: &mut Writer) -> Result<(), StoreError> {
        if writer.next_expiry.is_none_or(|expiry| expiry > self.now) {
            return Ok(());
        }
        let due = writer.engine.due_holds(self.now, EXPIRIES_MAX)?;
        self.more_expiries = due.len() == EXPIRIES_MAX;
        let accounts = due.iter().map(|hold| hold.account).collect();
        prefetch::load_accounts(writer.engine.as_mut(), &mut writer.books, accounts)?;
        for hold in due {
            writer.books.put_hold(hold);
            let Some(change) = writer.books.expire(hold.id) else {
                return Err(StoreError::diverged(hold.id.made_by(), "a hold holds more than its account"));
            };
            writer.books.apply_hold(&change);
            self.touched.push(hold.account);
            self.holds.push(change.hold);
            self.push_record(&Record::HoldExpired(change));
        }
        self.next_expiry = Some(self.now);
        Ok(())
    }

    /// Answers the next request: by what was answered before under its key, or by a decision.
    fn answer(&mut self, writer: &mut Writer, requests: &[&Prepared], earlier: &[(Seq, Request, Verdict)]) -> Answer {
        let place = self.answers.len();
        let prepared = requests[place];
        let untold = |rejection| Answer { seq: None, replayed: false, verdict: Verdict::Rejected(rejection) };
        if let Err(rejection) = prepared.checked {
            return untold(rejection);
        }
        let twins = self.twins.iter().filter(|(key, _)| *key == prepared.fingerprint.0).map(|(_, place)| place);
        for &twin in self.keys.get(&prepared.fingerprint.0).into_iter().chain(twins) {
            match recall(&requests[twin].request, &prepared.request) {
                Recall::Replay => return Answer { replayed: true, ..self.answers[twin].clone() },
                Recall::KeyReused => return untold(Rejection::KeyReused),
                Recall::Unrelated => {}
            }
        }
        for (seq, earlier, verdict) in earlier {
            match recall(earlier, &prepared.request) {
                Recall::Replay => return Answer { seq: Some(*seq), replayed: true, verdict: verdict.clone() },
                Recall::KeyReused => return untold(Rejection::KeyReused),
                Recall::Unrelated => {}
            }
        }
        self.decide(writer, requests, place)
    }

    fn decide(&mut self, writer: &mut Writer, requests: &[&Prepared], place: usize) -> Answer {
        let (seq, prepared) = (self.next_seq(), requests[place]);
        if let Action::Reverse(original) = prepared.request.action {
            self.recall_original(writer, requests, original);
        }
        let mut verdict = decide_checked(&writer.books, &prepared.request, seq, self.now);
        if matches!(verdict, Verdict::Applied(_)) && self.refused.contains(&place) {
            verdict = Verdict::Rejected(Rejection::FactRefused);
        }
        match &verdict {
            Verdict::Applied(effects) => {
                writer.books.apply(seq, effects, &prepared.request.facts);
                self.note(seq, effects);
            }
            Verdict::Rejected(rejection) if !rejection.is_remembered() => {
                return Answer { seq: None, replayed: false, verdict };
            }
            Verdict::Rejected(_) => {}
        }
        self.entries.push(Entry::Decided(place));
        if let Some(other) = self.keys.insert(prepared.fingerprint.0, place) {
            self.twins.push((prepared.fingerprint.0, other));
        }
        Answer { seq: Some(seq), replayed: false, verdict }
    }

    /// A reversal may name a request of this very batch, which the store does not have yet.
    fn recall_original(&self, writer: &mut Writer, requests: &[&Prepared], original: Seq) {
        let entry = original.0.checked_sub(self.before.seq.0 + 1).and_then(|place| usize::try_from(place).ok());
        let Some(Entry::Decided(place)) = entry.and_then(|entry| self.entries.get(entry)) else { return };
        let (request, verdict) = (requests[*place].request.clone(), self.answers[*place].verdict.clone());
        let reversed_by = self.reversals.iter().find(|(of, _)| *of == original).map(|(_, by)| *by);
        if let Some(past) = PastTransfer::of(Record::Decided { request, verdict }, reversed_by) {
            writer.books.put_past(original, past);
        }
    }

    fn note(&mut self, seq: Seq, effects: &Effects) {
        self.touched.extend(effects.postings.iter().flat_map(|posting| [posting.from, posting.to]));
        for change in &effects.holds {
            self.touched.push(change.hold.account);
            self.holds.push(change.hold);
            self.next_expiry = self.next_expiry.into_iter().chain(change.hold.expires).min();
        }
        self.reversals.extend(effects.reverses.map(|original| (original, seq)));
    }

    fn open(
        &mut self,
        writer: &mut Writer,
        by: &Principal,
        name: &AccountName,
        policy: &Policy,
    ) -> Result<Result<AccountId, OpenRejected>, StoreError> {
        if let Err(rejected) = name.check_open(by, policy) {
            return Ok(Err(rejected));
        }
        if let Some(existing) = self.account_named(writer, name)? {
            return Ok(Ok(existing));
        }
        let listed = |(id, _): &(AssetId, Asset)| *id == name.asset;
        if !writer.assets.iter().chain(&self.assets).any(listed) {
            return Ok(Err(OpenRejected::AssetNotFound));
        }
        let id = AccountId(writer.last_account.0 + self.accounts.len() as u64 + 1);
        let mut account = Account::open(id, name.clone(), *policy);
        if let Some(debt) = name.debt() {
            account.debt = self.account_named(writer, &debt)?;
        }
        for debtor in name.debtors() {
            if let Some(debtor) = self.account_named(writer, &debtor)? {
                writer.books.link_debt(debtor, id);
                self.link_debt(debtor, id);
            }
        }
        self.named.insert(name.clone(), id);
        self.accounts.push(account.clone());
        writer.books.put_account(account);
        self.push_record(&Record::AccountOpened { id, name: name.clone(), policy: *policy, by: by.clone() });
        Ok(Ok(id))
    }

    /// The debtor may itself be new in this batch and not stored yet.
    fn link_debt(&mut self, debtor: AccountId, debt: AccountId) {
        match self.accounts.iter_mut().find(|account| account.id == debtor) {
            Some(new) => new.debt = Some(debt),
            None => self.debt_links.push((debtor, debt)),
        }
    }

    fn account_named(&self, writer: &mut Writer, name: &AccountName) -> Result<Option<AccountId>, StoreError> {
        if let Some(id) = self.named.get(name) {
            return Ok(Some(*id));
        }
        let found = writer.engine.accounts_named(std::slice::from_ref(name))?.pop();
        let Some(account) = found else { return Ok(None) };
        // Loaded by its number, so that a copy which this batch has changed already stays as it is.
        prefetch::load_accounts(writer.engine.as_mut(), &mut writer.books, vec![account.id])?;
        Ok(Some(account.id))
    }

    fn list(&mut self, writer: &Writer, asset: &Asset) {
        let mut all = writer.assets.iter().chain(&self.assets);
        let known = all.find(|(_, known)| known.is_same_coin(asset)).map(|(id, _)| *id);
        let id = known.unwrap_or_else(|| {
            let id = AssetId(u32::try_from(writer.assets.len() + self.assets.len() + 1).unwrap_or(u32::MAX));
            self.assets.push((id, asset.clone()));
            self.push_record(&Record::AssetListed { id, asset: asset.clone() });
            id
        });
        self.listed.push(id);
    }

    /// All is decided: what the touched accounts stand at.
    fn close(&mut self, writer: &Writer) {
        self.touched.sort_unstable();
        self.touched.dedup();
        let new = self.accounts.first().map(|account| account.id);
        for id in self.touched.drain(..) {
            let account = writer.books.account(id).expect("touched accounts are in memory");
            if new.is_some_and(|new| id >= new) {
                // Inserted with what it stands at now.
                let index = usize::try_from(id.0 - new.map_or(0, |new| new.0)).expect("one of this batch");
                (self.accounts[index].balance, self.accounts[index].held) = (account.balance, account.held);
            } else {
                self.standings.push(Standing { id, balance: account.balance, held: account.held });
            }
        }
    }

    /// Stores everything in one transaction: what is derived first, while another thread encodes the records and
    /// computes their root, which takes about as long; then the records.
    pub fn store(
        &mut self,
        jobs: &[Job],
        engine: &mut dyn Engine,
        runs: &RunWrites,
    ) -> Result<Vec<RowsChanged>, CommitError> {
        let Some(commit) = self.commit(jobs, runs) else {
            return engine.end_unwritten().map(|()| Vec::new()).map_err(CommitError::Fatal);
        };
        let (rows, (records, root)) = thread::scope(|scope| {
            let seal = || self.seal(jobs);
            let beside = (self.entries.len() >= SEALED_BESIDE_MIN).then(|| scope.spawn(seal));
            let rows = engine.write(&commit)?;
            Ok((rows, beside.map_or_else(seal, |sealing| sealing.join().expect("sealing cannot fail"))))
        })?;
        if records.len() > 0 {
            let batch = Batch {
                number: self.before.batch + 1,
                first: self.before.seq.next(),
                count: u32::try_from(records.len()).expect("a batch is far smaller"),
                at: self.now,
                root,
                previous: self.before.hash,
            };
            engine.append(&batch, &records)?;
            self.batch = Some(batch);
        }
        engine.commit()?;
        Ok(rows)
    }

    /// The records as the journal stores them, and their root.
    fn seal(&self, jobs: &[Job]) -> (Records, Hash) {
        let requests: Vec<&Prepared> = jobs.iter().flat_map(Job::requests).collect();
        let mut records = Records::default();
        for entry in &self.entries {
            match entry {
                Entry::Encoded(record) => records.bytes.extend(record),
                Entry::Decided(place) => {
                    let (request, verdict) = (&requests[*place].encoded, &self.answers[*place].verdict);
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

    /// Whether no hold that is due is left to expire in a later batch.
    pub fn all_expired(&self) -> bool {
        !self.more_expiries
    }

    /// The batch is durable: memory follows.
    pub fn publish(self, writer: &mut Writer, rows: Vec<RowsChanged>) -> Outcomes {
        if let Some(batch) = self.batch {
            let seq = Seq(self.before.seq.0 + u64::from(batch.count));
            writer.head = Head { batch: batch.number, seq, at: batch.at, hash: batch.head() };
            let decided = self.keys.iter().map(|(key, place)| (*key, *place)).chain(self.twins.iter().copied());
            let places = decided.filter_map(|(key, place)| Some((Fingerprint(key), self.answers[place].seq?)));
            writer.keys.publish(places, seq);
        }
        writer.assets.extend(self.assets);
        writer.last_account.0 += self.accounts.len() as u64;
        writer.next_expiry = match (self.more_expiries, writer.next_expiry) {
            (true, _) => Some(self.now),
            // Some have expired: only the store knows which is next.
            (false, Some(expiry)) if expiry <= self.now => writer.engine.next_expiry().unwrap_or(Some(self.now)),
            (false, expiry) => expiry.into_iter().chain(self.next_expiry).min(),
        };
        Outcomes { answers: self.answers, opened: self.opened, listed: self.listed, rows }
    }
}

impl Job {
    fn requests(&self) -> &[Prepared] {
        match self {
            Self::Money { requests, .. } => requests,
            _ => &[],
        }
    }

    fn statements(&self) -> Option<&[crate::Statement]> {
        match self {
            Self::Rows { statements, .. } => Some(statements),
            _ => None,
        }
    }
}

/// Earlier requests that may have used one of the keys, by the place of the request that asks.
type Earlier = HashMap<usize, Vec<(Seq, Request, Verdict)>>;

fn earlier_requests(writer: &mut Writer, candidates: &[(usize, Seq)]) -> Result<Earlier, StoreError> {
    let mut earlier = Earlier::new();
    for (place, seq) in candidates {
        let bytes = writer.engine.record(*seq)?.ok_or_else(|| StoreError::diverged(*seq, "the record is missing"))?;
        if let Record::Decided { request, verdict } = Record::decode(&bytes).map_err(StoreError::unreadable(*seq))? {
            earlier.entry(*place).or_default().push((*seq, request, verdict));
        }
    }
    Ok(earlier)
}
