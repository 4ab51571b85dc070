//! A batch while it is being decided.
//!
//! Jobs are decided in the order they came in, some perhaps ahead, while the batch before is on its way to disk. What
//! is decided ahead is decided from memory alone: nothing is read that the batch before could be about to change.

use std::collections::HashMap;

use bankroll_ledger::{
    Account, AccountId, AccountName, Action, Asset, AssetId, Batch, Effects, Fingerprint, Hold, OpenRejected,
    PastTransfer, Policy, Principal, Recall, Record, Rejection, Request, Seq, Time, Verdict, decide_checked, recall,
};

use super::{
    aside::OnItsWay,
    keys::KeyHasher,
    prefetch,
    queue::{Answer, Job, Prepared},
    writer::{EXPIRIES_MAX, Writer},
};
use crate::{
    StoreError,
    engine::{Head, Standing},
};

/// A record to be: encoded already, or the request at this place with its answer.
pub(super) enum Entry {
    Encoded(Vec<u8>),
    Decided(usize),
}

/// The keys of a batch, each with where it was decided.
#[derive(Debug)]
pub(super) struct DecidedKeys {
    places: HashMap<u128, Decided, KeyHasher>,
    /// Keys whose fingerprint another key of the batch has too.
    twins: Vec<(u128, Decided)>,
}

#[derive(Clone, Copy, Debug)]
struct Decided {
    /// Among all requests of the batch.
    place: usize,
    seq: Seq,
}

impl DecidedKeys {
    fn new(hasher: KeyHasher) -> Self {
        Self { places: HashMap::with_hasher(hasher), twins: Vec::new() }
    }

    pub fn has(&self, key: Fingerprint) -> bool {
        self.places.contains_key(&key.0)
    }

    fn insert(&mut self, key: Fingerprint, decided: Decided) {
        if let Some(other) = self.places.insert(key.0, decided) {
            self.twins.push((key.0, other));
        }
    }

    fn places_of(&self, key: Fingerprint) -> impl Iterator<Item = usize> {
        let twins = self.twins.iter().filter(move |(twin, _)| *twin == key.0).map(|(_, decided)| decided);
        self.places.get(&key.0).into_iter().chain(twins).map(|decided| decided.place)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Fingerprint, Seq)> {
        let all = self.places.iter().map(|(key, decided)| (*key, decided.seq));
        all.chain(self.twins.iter().map(|(key, decided)| (*key, decided.seq))).map(|(key, seq)| (Fingerprint(key), seq))
    }
}

/// What has been decided so far, and what the commit will write.
pub(super) struct Draft {
    pub(super) before: Head,
    pub(super) now: Time,
    /// How many of the batch's jobs are decided.
    jobs_done: usize,
    /// Where each request of these jobs is: its job, and its place in it.
    requests: Vec<(usize, usize)>,
    pub(super) entries: Vec<Entry>,
    touched: Vec<AccountId>,
    pub(super) standings: Vec<Standing>,
    pub(super) holds: Vec<Hold>,
    pub(super) reversals: Vec<(Seq, Seq)>,
    pub(super) assets: Vec<(AssetId, Asset)>,
    pub(super) accounts: Vec<Account>,
    /// Accounts that were asked for by name; `None` if there is none of that name.
    named: HashMap<AccountName, Option<AccountId>>,
    pub(super) debt_links: Vec<(AccountId, AccountId)>,
    pub(super) keys: DecidedKeys,
    pub(super) answers: Vec<Answer>,
    pub(super) opened: Vec<Vec<Result<AccountId, OpenRejected>>>,
    pub(super) listed: Vec<AssetId>,
    pub(super) next_expiry: Option<Time>,
    pub(super) more_expiries: bool,
    refused: Vec<usize>,
    pub(super) batch: Option<Batch>,
}

impl Draft {
    /// An empty batch behind `before`. The requests at the places `refused` have a fact that their table refuses.
    pub fn new(before: Head, clock: Time, refused: Vec<usize>, hasher: KeyHasher) -> Self {
        Self {
            before,
            // The clock may have jumped back; the journal's time never does.
            now: clock.max(before.at),
            jobs_done: 0,
            requests: Vec::new(),
            entries: Vec::new(),
            touched: Vec::new(),
            standings: Vec::new(),
            holds: Vec::new(),
            reversals: Vec::new(),
            assets: Vec::new(),
            accounts: Vec::new(),
            named: HashMap::new(),
            debt_links: Vec::new(),
            keys: DecidedKeys::new(hasher),
            answers: Vec::new(),
            opened: Vec::new(),
            listed: Vec::new(),
            next_expiry: None,
            more_expiries: false,
            refused,
            batch: None,
        }
    }

    /// The keys, for who must know them while the batch is on its way.
    pub fn take_keys(&mut self) -> DecidedKeys {
        let hasher = *self.keys.places.hasher();
        std::mem::replace(&mut self.keys, DecidedKeys::new(hasher))
    }

    pub fn into_refused(self) -> Vec<usize> {
        self.refused
    }

    /// Decides the next job from memory alone, if that is possible: nothing of it needs the disk, which is away with the
    /// batch before, and nothing of it depends on what that batch wrote but for balances, which memory has.
    pub fn decide_ahead(&mut self, writer: &mut Writer, on_its_way: &OnItsWay, jobs: &[Job]) -> bool {
        let Some(Job::Money { requests, .. }) = jobs.get(self.jobs_done) else { return false };
        let well_formed = || requests.iter().filter(|prepared| prepared.checked.is_ok());
        if !well_formed().all(|prepared| prefetch::is_in_memory(&writer.books, &prepared.request)) {
            return false;
        }
        let fingerprints: Vec<Fingerprint> = well_formed().map(|prepared| prepared.fingerprint).collect();
        if fingerprints.iter().any(|key| on_its_way.keys.has(*key)) {
            return false;
        }
        // A key that was used before, and an index that is damaged, are for when the disk is back.
        let are_new = writer.keys.are_new(|chunk| writer.lookups.chunk(chunk), &fingerprints);
        if !are_new.unwrap_or(false) {
            return false;
        }
        self.decide_money(writer, jobs, requests.len(), &Earlier::new());
        self.jobs_done += 1;
        true
    }

    /// Whether holds are due to expire before anything else of this batch is decided.
    pub fn has_due_holds(&self, writer: &Writer) -> bool {
        writer.next_expiry.is_some_and(|expiry| expiry <= self.now)
    }

    /// Prefetches and decides everything that the jobs ask for and that is not decided yet.
    pub fn fill(&mut self, writer: &mut Writer, jobs: &[Job]) -> Result<(), StoreError> {
        let left = &jobs[self.jobs_done..];
        let requests = || left.iter().flat_map(Job::requests);
        let well_formed = requests().filter(|prepared| prepared.checked.is_ok());
        let named = well_formed.map(|prepared| &prepared.request);
        prefetch::prefetch(writer.disk.engine(), &mut writer.books, named)?;
        let fingerprints: Vec<Fingerprint> = requests().map(|prepared| prepared.fingerprint).collect();
        let candidates =
            writer.look_after_keys(|keys, engine| keys.candidates(|chunk| engine.chunk(chunk), &fingerprints))?;
        let earlier = earlier_requests(writer, self.answers.len(), &candidates)?;
        self.look_up_names(writer, left)?;
        self.expire_due(writer)?;
        for job in left {
            match job {
                Job::Money { requests, .. } => self.decide_money(writer, jobs, requests.len(), &earlier),
                Job::Open { by, names, .. } => {
                    let opened = names.iter().map(|(name, policy)| self.open(writer, by, name, policy));
                    let opened = opened.collect();
                    self.opened.push(opened);
                }
                Job::List { asset, .. } => self.list(writer, asset),
                Job::Rows { .. } | Job::Tick { .. } | Job::Stop => {}
            }
            self.jobs_done += 1;
        }
        self.close(writer);
        Ok(())
    }

    /// Answers the requests of the next job.
    fn decide_money(&mut self, writer: &mut Writer, jobs: &[Job], count: usize, earlier: &Earlier) {
        self.requests.extend((0..count).map(|place| (self.jobs_done, place)));
        self.keys.places.reserve(count);
        self.answers.reserve(count);
        for _ in 0..count {
            let known = earlier.get(&self.answers.len()).map_or(&[][..], Vec::as_slice);
            let answer = self.answer(writer, jobs, known);
            self.answers.push(answer);
        }
    }

    pub(super) fn request<'a>(&self, jobs: &'a [Job], place: usize) -> &'a Prepared {
        let (job, place) = self.requests[place];
        &jobs[job].requests()[place]
    }

    fn next_seq(&self) -> Seq {
        Seq(self.before.seq.0 + self.entries.len() as u64 + 1)
    }

    fn push_record(&mut self, record: &Record) {
        self.entries.push(Entry::Encoded(record.encode()));
    }

    fn expire_due(&mut self, writer: &mut Writer) -> Result<(), StoreError> {
        if !self.has_due_holds(writer) {
            return Ok(());
        }
        let due = writer.disk.engine().due_holds(self.now, EXPIRIES_MAX)?;
        self.more_expiries = due.len() == EXPIRIES_MAX;
        let accounts = due.iter().map(|hold| hold.account).collect();
        prefetch::load_accounts(writer.disk.engine(), &mut writer.books, accounts)?;
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
    fn answer(&mut self, writer: &mut Writer, jobs: &[Job], earlier: &[(Seq, Request, Verdict)]) -> Answer {
        let place = self.answers.len();
        let prepared = self.request(jobs, place);
        let untold = |rejection| Answer { seq: None, replayed: false, verdict: Verdict::Rejected(rejection) };
        if let Err(rejection) = prepared.checked {
            return untold(rejection);
        }
        for twin in self.keys.places_of(prepared.fingerprint) {
            match recall(&self.request(jobs, twin).request, &prepared.request) {
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
        self.decide(writer, jobs, place)
    }

    fn decide(&mut self, writer: &mut Writer, jobs: &[Job], place: usize) -> Answer {
        let (seq, prepared) = (self.next_seq(), self.request(jobs, place));
        if let Action::Reverse(original) = prepared.request.action {
            self.recall_original(writer, jobs, original);
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
        self.keys.insert(prepared.fingerprint, Decided { place, seq });
        Answer { seq: Some(seq), replayed: false, verdict }
    }

    /// A reversal may name a request of this very batch, which the store does not have yet.
    fn recall_original(&self, writer: &mut Writer, jobs: &[Job], original: Seq) {
        let entry = original.0.checked_sub(self.before.seq.0 + 1).and_then(|place| usize::try_from(place).ok());
        let Some(Entry::Decided(place)) = entry.and_then(|entry| self.entries.get(entry)) else { return };
        let (request, verdict) = (self.request(jobs, *place).request.clone(), self.answers[*place].verdict.clone());
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
    ) -> Result<AccountId, OpenRejected> {
        name.check_open(by, policy)?;
        if let Some(existing) = self.account_named(name) {
            return Ok(existing);
        }
        let listed = |(id, _): &(AssetId, Asset)| *id == name.asset;
        if !writer.assets.iter().chain(&self.assets).any(listed) {
            return Err(OpenRejected::AssetNotFound);
        }
        let id = AccountId(writer.last_account.0 + self.accounts.len() as u64 + 1);
        let mut account = Account::open(id, name.clone(), *policy);
        if let Some(debt) = name.debt() {
            account.debt = self.account_named(&debt);
        }
        for debtor in name.debtors() {
            if let Some(debtor) = self.account_named(&debtor) {
                writer.books.link_debt(debtor, id);
                self.link_debt(debtor, id);
            }
        }
        self.named.insert(name.clone(), Some(id));
        self.accounts.push(account.clone());
        writer.books.put_account(account);
        self.push_record(&Record::AccountOpened { id, name: name.clone(), policy: *policy, by: by.clone() });
        Ok(id)
    }

    /// The debtor may itself be new in this batch and not stored yet.
    fn link_debt(&mut self, debtor: AccountId, debt: AccountId) {
        match self.accounts.iter_mut().find(|account| account.id == debtor) {
            Some(new) => new.debt = Some(debt),
            None => self.debt_links.push((debtor, debt)),
        }
    }

    /// Looks for every account that opening these names is about, at once: a server answers one question much sooner than
    /// thousands.
    fn look_up_names(&mut self, writer: &mut Writer, jobs: &[Job]) -> Result<(), StoreError> {
        let opened = jobs.iter().flat_map(Job::names);
        let names: Vec<AccountName> =
            opened.flat_map(|name| [name.clone()].into_iter().chain(name.debt()).chain(name.debtors())).collect();
        if names.is_empty() {
            return Ok(());
        }
        let found = writer.disk.engine().accounts_named(&names)?;
        self.named.extend(names.into_iter().map(|name| (name, None)));
        // Loaded by their numbers, so that a copy which this batch has changed already stays as it is.
        prefetch::load_accounts(writer.disk.engine(), &mut writer.books, found.iter().map(|one| one.id).collect())?;
        self.named.extend(found.into_iter().map(|account| (account.name, Some(account.id))));
        Ok(())
    }

    fn account_named(&self, name: &AccountName) -> Option<AccountId> {
        *self.named.get(name).expect("looked up before anything is decided")
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
}

/// Earlier requests that may have used one of the keys, by the place of the request that asks.
type Earlier = HashMap<usize, Vec<(Seq, Request, Verdict)>>;

/// `before` requests of the batch come before those that the candidates are for.
fn earlier_requests(writer: &mut Writer, before: usize, candidates: &[(usize, Seq)]) -> Result<Earlier, StoreError> {
    let mut earlier = Earlier::new();
    let mut seqs: Vec<Seq> = candidates.iter().map(|(_, seq)| *seq).collect();
    seqs.sort_unstable();
    seqs.dedup();
    let records: HashMap<Seq, Vec<u8>> = writer.disk.engine().records(&seqs)?.into_iter().collect();
    for (place, seq) in candidates {
        let bytes = records.get(seq).ok_or_else(|| StoreError::diverged(*seq, "the record is missing"))?;
        if let Record::Decided { request, verdict } = Record::decode(bytes).map_err(StoreError::unreadable(*seq))? {
            earlier.entry(before + *place).or_default().push((*seq, request, verdict));
        }
    }
    Ok(earlier)
}
