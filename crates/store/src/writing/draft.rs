//! A batch while it is being decided.
//!
//! Jobs are decided in order of arrival, some of them ahead: while the previous batch is in flight. A job is decided
//! ahead from memory alone: nothing is read that the batch in flight could be about to change.

use std::collections::HashMap;

use bankroll_ledger::{
    Account, AccountId, AccountName, AccountPolicy, Action, Answer, Asset, AssetId, Effects, Fingerprint,
    OpenRejection, PastTransfer, Principal, Recall, Record, Rejection, Request, Seq, Time, Verdict, decide_checked,
    recall,
};

use super::{
    changes::{BatchChanges, BatchRecord},
    decided_keys::DecidedKeys,
    keys::KeyHasher,
    memory::{ANOTHER_KEY, WriterMemory},
    prefetch,
    queue::Job,
};
use crate::{
    StoreError,
    engine::{BalanceRow, Engine, JournalHead, Source},
};

/// Holds that expire in one batch; the rest follow in the next.
const EXPIRIES_MAX: usize = 1024;

/// A batch while it is being decided: the changes so far, and what only deciding needs.
pub(super) struct Draft {
    pub changes: BatchChanges,
    /// How many of the batch's jobs are decided.
    jobs_done: usize,
    touched: Vec<AccountId>,
    /// Accounts looked up by name; `None` if there is no account of that name.
    named: HashMap<AccountName, Option<AccountId>>,
    refused: Vec<usize>,
}

impl Draft {
    /// An empty batch after `before`. The requests at the places `refused` have a fact that their table refuses.
    pub fn new(before: JournalHead, clock: Time, refused: Vec<usize>, hasher: KeyHasher) -> Self {
        let changes = BatchChanges::new(before, clock, hasher);
        Self { changes, jobs_done: 0, touched: Vec::new(), named: HashMap::new(), refused }
    }

    /// What the commit will write, and the places whose facts were refused in an earlier attempt.
    pub fn finish(self) -> (BatchChanges, Vec<usize>) {
        (self.changes, self.refused)
    }

    /// Decides the next job from memory alone, if that is possible: nothing of it needs the engine, which the commit
    /// thread has, and nothing depends on what the batch in flight writes except balances, which memory has.
    pub fn decide_ahead(
        &mut self,
        memory: &mut WriterMemory,
        lookups: &dyn Source,
        in_flight: &DecidedKeys,
        jobs: &[Job],
    ) -> bool {
        let Some(Job::Money { requests, .. }) = jobs.get(self.jobs_done) else { return false };
        let well_formed = || requests.iter().filter(|prepared| prepared.checked.is_ok());
        if !well_formed().all(|prepared| prefetch::is_in_memory(&memory.books, &prepared.request)) {
            return false;
        }
        let fingerprints: Vec<Fingerprint> = well_formed().map(|prepared| prepared.fingerprint).collect();
        if fingerprints.iter().any(|key| in_flight.has(*key)) {
            return false;
        }
        // Used keys and a damaged index wait until the engine is back.
        let are_new = memory.keys.are_new(|chunk| lookups.chunk(chunk), &fingerprints);
        if !are_new.unwrap_or(false) {
            return false;
        }
        self.decide_money(memory, jobs, requests.len(), &EarlierDecisions::new());
        self.jobs_done += 1;
        true
    }

    /// Prefetches and decides everything in the jobs that is not decided yet.
    pub fn fill(&mut self, memory: &mut WriterMemory, engine: &mut dyn Engine, jobs: &[Job]) -> Result<(), StoreError> {
        let left = &jobs[self.jobs_done..];
        let requests = || left.iter().flat_map(Job::requests);
        let well_formed = requests().filter(|prepared| prepared.checked.is_ok());
        let named = well_formed.map(|prepared| &prepared.request);
        prefetch::prefetch(engine, &mut memory.books, named)?;
        let fingerprints: Vec<Fingerprint> = requests().map(|prepared| prepared.fingerprint).collect();
        let before = self.changes.answers.len();
        let earlier = memory.with_key_index(engine, |keys, engine| {
            let candidates = keys.candidates(|chunk| engine.source().chunk(chunk), &fingerprints)?;
            earlier_requests(engine, before, &fingerprints, &candidates)
        })?;
        self.look_up_names(memory, engine, left)?;
        self.expire_due(memory, engine)?;
        for job in left {
            match job {
                Job::Money { requests, .. } => self.decide_money(memory, jobs, requests.len(), &earlier),
                Job::Open { by, names, .. } => {
                    let opened = names.iter().map(|(name, policy)| self.open(memory, by, name, policy));
                    let opened = opened.collect();
                    self.changes.opened.push(opened);
                }
                Job::List { asset, .. } => self.list(memory, asset),
                Job::Rows { .. } | Job::Tick { .. } | Job::Stop => {}
            }
            self.jobs_done += 1;
        }
        self.close(memory);
        Ok(())
    }

    /// Answers the requests of the next job.
    fn decide_money(&mut self, memory: &mut WriterMemory, jobs: &[Job], count: usize, earlier: &EarlierDecisions) {
        self.changes.requests.extend((0..count).map(|place| (self.jobs_done, place)));
        self.changes.keys.reserve(count);
        self.changes.answers.reserve(count);
        for _ in 0..count {
            let known = earlier.get(&self.changes.answers.len()).map_or(&[][..], Vec::as_slice);
            let answer = self.answer(memory, jobs, known);
            self.changes.answers.push(answer);
        }
    }

    fn expire_due(&mut self, memory: &mut WriterMemory, engine: &mut dyn Engine) -> Result<(), StoreError> {
        if !memory.has_due_holds(self.changes.now) {
            return Ok(());
        }
        let due = engine.source().due_holds(self.changes.now, EXPIRIES_MAX)?;
        self.changes.more_expiries = due.len() == EXPIRIES_MAX;
        let accounts = due.iter().map(|hold| hold.account).collect();
        prefetch::load_accounts(engine, &mut memory.books, accounts)?;
        for hold in due {
            memory.books.put_hold(hold);
            let Some(change) = memory.books.expire(hold.id) else {
                return Err(StoreError::diverged(hold.id.made_by(), "a hold holds more than its account"));
            };
            memory.books.apply_hold(&change);
            self.touched.push(hold.account);
            self.changes.holds.push(change.hold);
            self.changes.push_record(&Record::HoldExpired(change));
        }
        self.changes.next_expiry = Some(self.changes.now);
        Ok(())
    }

    /// Answers the next request: with the stored answer to its key, or with a decision.
    fn answer(&mut self, memory: &mut WriterMemory, jobs: &[Job], earlier: &[(Seq, Request, Verdict)]) -> Answer {
        let place = self.changes.answers.len();
        let prepared = self.changes.request(jobs, place);
        let unrecorded = |rejection| Answer { seq: None, replayed: false, verdict: Verdict::Rejected(rejection) };
        if let Err(rejection) = prepared.checked {
            return unrecorded(rejection);
        }
        for twin in self.changes.keys.places_of(prepared.fingerprint) {
            match recall(&self.changes.request(jobs, twin).request, &prepared.request) {
                Recall::Replay => return Answer { replayed: true, ..self.changes.answers[twin].clone() },
                Recall::KeyReused => return unrecorded(Rejection::KeyReused),
                Recall::Unrelated => {}
            }
        }
        for (seq, earlier, verdict) in earlier {
            match recall(earlier, &prepared.request) {
                Recall::Replay => return Answer { seq: Some(*seq), replayed: true, verdict: verdict.clone() },
                Recall::KeyReused => return unrecorded(Rejection::KeyReused),
                Recall::Unrelated => {}
            }
        }
        self.decide(memory, jobs, place)
    }

    fn decide(&mut self, memory: &mut WriterMemory, jobs: &[Job], place: usize) -> Answer {
        let (seq, prepared) = (self.changes.next_seq(), self.changes.request(jobs, place));
        if let Action::Reverse(original) = prepared.request.action {
            self.recall_original(memory, jobs, original);
        }
        let mut verdict = decide_checked(&memory.books, &prepared.request, seq, self.changes.now);
        if matches!(verdict, Verdict::Applied(_)) && self.refused.contains(&place) {
            verdict = Verdict::Rejected(Rejection::FactRefused);
        }
        match &verdict {
            Verdict::Applied(effects) => {
                memory.books.apply(seq, effects, &prepared.request.facts);
                self.note(seq, effects);
            }
            Verdict::Rejected(rejection) if !rejection.is_remembered() => {
                return Answer { seq: None, replayed: false, verdict };
            }
            Verdict::Rejected(_) => {}
        }
        self.changes.entries.push(BatchRecord::Decided(place));
        self.changes.keys.insert(prepared.fingerprint, place, seq);
        Answer { seq: Some(seq), replayed: false, verdict }
    }

    /// A reversal may name a request of this batch, which the store does not have yet.
    fn recall_original(&self, memory: &mut WriterMemory, jobs: &[Job], original: Seq) {
        let entry = original.0.checked_sub(self.changes.before.seq.0 + 1).and_then(|place| usize::try_from(place).ok());
        let Some(BatchRecord::Decided(place)) = entry.and_then(|entry| self.changes.entries.get(entry)) else { return };
        let (request, verdict) =
            (self.changes.request(jobs, *place).request.clone(), self.changes.answers[*place].verdict.clone());
        let reversed_by = self.changes.reversals.iter().find(|(of, _)| *of == original).map(|(_, by)| *by);
        if let Some(past) = PastTransfer::of(Record::Decided { request, verdict }, reversed_by) {
            memory.books.put_past(original, past);
        }
    }

    fn note(&mut self, seq: Seq, effects: &Effects) {
        self.touched.extend(effects.postings.iter().flat_map(|posting| [posting.from, posting.to]));
        for change in &effects.holds {
            self.touched.push(change.hold.account);
            self.changes.holds.push(change.hold);
            self.changes.next_expiry = self.changes.next_expiry.into_iter().chain(change.hold.expires).min();
        }
        self.changes.reversals.extend(effects.reverses.map(|original| (original, seq)));
    }

    fn open(
        &mut self,
        memory: &mut WriterMemory,
        by: &Principal,
        name: &AccountName,
        policy: &AccountPolicy,
    ) -> Result<AccountId, OpenRejection> {
        name.check_open(by, policy)?;
        if let Some(existing) = self.account_named(name) {
            return Ok(existing);
        }
        let listed = |(id, _): &(AssetId, Asset)| *id == name.asset;
        if !memory.assets.iter().chain(&self.changes.assets).any(listed) {
            return Err(OpenRejection::AssetNotFound);
        }
        let id = AccountId(memory.last_account.0 + self.changes.accounts.len() as u64 + 1);
        let mut account = Account::open(id, name.clone(), *policy);
        if let Some(debt) = name.debt() {
            account.debt = self.account_named(&debt);
        }
        for debtor in name.debtors() {
            if let Some(debtor) = self.account_named(&debtor) {
                memory.books.link_debt(debtor, id);
                self.link_debt(memory, debtor, id);
            }
        }
        self.named.insert(name.clone(), Some(id));
        self.changes.accounts.push(account.clone());
        memory.books.put_account(account);
        self.changes.push_record(&Record::AccountOpened { id, name: name.clone(), policy: *policy, by: by.clone() });
        Ok(id)
    }

    /// The debtor may itself be new in this batch and not stored yet.
    fn link_debt(&mut self, memory: &WriterMemory, debtor: AccountId, debt: AccountId) {
        match self.changes.accounts.iter_mut().find(|account| account.id == debtor) {
            Some(new) => new.debt = Some(debt),
            None => {
                let debtor = memory.books.account(debtor).expect("accounts looked up by name are in memory");
                self.changes.debt_links.push(debtor.clone());
            }
        }
    }

    /// Looks up every account that opening these names needs, in one query: thousands of round trips would be slow.
    fn look_up_names(
        &mut self,
        memory: &mut WriterMemory,
        engine: &mut dyn Engine,
        jobs: &[Job],
    ) -> Result<(), StoreError> {
        let opened = jobs.iter().flat_map(Job::names);
        let names: Vec<AccountName> =
            opened.flat_map(|name| [name.clone()].into_iter().chain(name.debt()).chain(name.debtors())).collect();
        if names.is_empty() {
            return Ok(());
        }
        let found = engine.source().accounts_named(&names)?;
        self.named.extend(names.into_iter().map(|name| (name, None)));
        // Loaded by number, so that an account which this batch has changed already is not overwritten.
        prefetch::load_accounts(engine, &mut memory.books, found.iter().map(|one| one.id).collect())?;
        self.named.extend(found.into_iter().map(|account| (account.name, Some(account.id))));
        Ok(())
    }

    fn account_named(&self, name: &AccountName) -> Option<AccountId> {
        *self.named.get(name).expect("looked up before anything is decided")
    }

    fn list(&mut self, memory: &WriterMemory, asset: &Asset) {
        let mut all = memory.assets.iter().chain(&self.changes.assets);
        let known = all.find(|(_, known)| known.is_same_coin(asset)).map(|(id, _)| *id);
        let id = known.unwrap_or_else(|| {
            let id = AssetId(u32::try_from(memory.assets.len() + self.changes.assets.len() + 1).unwrap_or(u32::MAX));
            self.changes.assets.push((id, asset.clone()));
            self.changes.push_record(&Record::AssetListed { id, asset: asset.clone() });
            id
        });
        self.changes.listed.push(id);
    }

    /// Everything is decided: collects the balances of the touched accounts.
    fn close(&mut self, memory: &WriterMemory) {
        self.touched.sort_unstable();
        self.touched.dedup();
        let new = self.changes.accounts.first().map(|account| account.id);
        for id in self.touched.drain(..) {
            let account = memory.books.account(id).expect("touched accounts are in memory");
            if new.is_some_and(|new| id >= new) {
                // A new account is inserted with its present balance.
                let index = usize::try_from(id.0 - new.map_or(0, |new| new.0)).expect("one of this batch");
                (self.changes.accounts[index].balance, self.changes.accounts[index].held) =
                    (account.balance, account.held);
            } else {
                self.changes.balances.push(BalanceRow { id, balance: account.balance, held: account.held });
            }
        }
    }
}

/// Earlier requests that may have used one of the keys, by the place of the request with that key.
type EarlierDecisions = HashMap<usize, Vec<(Seq, Request, Verdict)>>;

/// `before`: how many requests of the batch precede the first candidate. A record that has another fingerprint than the
/// index says means that the index is damaged, and so may hide the key's own record: it is rebuilt.
fn earlier_requests(
    engine: &dyn Engine,
    before: usize,
    fingerprints: &[Fingerprint],
    candidates: &[(usize, Seq)],
) -> Result<EarlierDecisions, StoreError> {
    let mut earlier = EarlierDecisions::new();
    let mut seqs: Vec<Seq> = candidates.iter().map(|(_, seq)| *seq).collect();
    seqs.sort_unstable();
    seqs.dedup();
    let records: HashMap<Seq, Vec<u8>> = engine.source().records(&seqs)?.into_iter().collect();
    for (place, seq) in candidates {
        let bytes = records.get(seq).ok_or_else(|| StoreError::diverged(*seq, "the record is missing"))?;
        match Record::decode(bytes).map_err(StoreError::unreadable(*seq))? {
            Record::Decided { request, verdict } if request.key.fingerprint() == fingerprints[*place] => {
                earlier.entry(before + *place).or_default().push((*seq, request, verdict));
            }
            _ => return Err(StoreError::KeyIndexDamaged { what: format!("record {seq} {ANOTHER_KEY}") }),
        }
    }
    Ok(earlier)
}
