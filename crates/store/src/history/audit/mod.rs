//! The audit: recomputes the books from the journal alone, and compares them with the tables.
//!
//! One pass checks: every batch's root and the chain over them; every request, decided again by the same pure function,
//! with the same effects; every guard of a fact, as far as facts before it decide it; no key decided twice; every event in the outbox as its record made it. At the end it compares
//! every account, hold and asset with its table, flows' rows with the facts that set them, and debits with credits for
//! each asset. The pass is paged, so that a writer can work at the same time; only the last step reads in one snapshot.

pub(super) mod flow_rows;

use std::{cell::Cell, collections::BTreeMap};

use bankroll_ledger::{
    Account, Action, AssetId, Batch, Fingerprint, Hold, HoldId, HoldState, Namespace, Principal, Record, Replay,
    Request, Seq, Total, Verdict, merkle::Hash,
};

use self::flow_rows::FlowRows;
use crate::{Reader, StoreError, StoredEvent, writing::recovery::check_batch};

/// Batches, or holds, read at a time.
const PAGE: usize = 256;

/// How far an audit has come.
#[derive(Clone, Copy, Debug)]
pub struct AuditProgress {
    /// Records checked.
    pub rows: u64,
    /// Records in the journal when the audit began.
    pub rows_total: u64,
}

/// What an audit found in sound books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// Records checked.
    pub rows: u64,
    /// Batches checked.
    pub batches: u64,
    /// The head of the chain.
    pub head: Hash,
    /// Accounts compared.
    pub accounts: u64,
    /// Compared rows of flows: those that facts have set.
    pub flow_rows: u64,
    /// For each asset, the sum of the debit-side and of the credit-side accounts. They are equal.
    pub totals: BTreeMap<AssetId, (Total, Total)>,
    /// The applied requests by which operators moved money, or decided anything by proposal. Whether people have signed
    /// them is not known here.
    pub overrides: Vec<(Seq, Request)>,
}

/// An audit of one ledger.
#[derive(Debug)]
pub struct Audit {
    pub(super) reader: Reader,
    pub(super) replay: Replay,
    pub(super) next_batch: u64,
    pub(super) next_seq: Seq,
    pub(super) head: Hash,
    /// The upper half of every fingerprint, and its place: 16 bytes a key. Equal ones are compared in full.
    keys: Vec<(u64, u64)>,
    /// The events of the page that is being checked.
    events: Vec<StoredEvent>,
    pub(super) flow_rows: FlowRows,
    overrides: Vec<(Seq, Request)>,
}

impl Audit {
    /// An audit of the books of this reader.
    #[must_use]
    pub fn new(reader: Reader) -> Self {
        let head = bankroll_ledger::GENESIS;
        Self {
            reader,
            replay: Replay::default(),
            next_batch: 1,
            next_seq: Seq(1),
            head,
            keys: Vec::new(),
            events: Vec::new(),
            flow_rows: FlowRows::default(),
            overrides: Vec::new(),
        }
    }

    /// Runs the audit and reports its progress.
    ///
    /// # Errors
    /// The first difference, as [`StoreError::Diverged`], or a failure to read.
    pub fn run(mut self, on_progress: impl FnMut(AuditProgress)) -> Result<(AuditReport, Vec<Account>), StoreError> {
        let audited = self.try_run(on_progress);
        self.reader.located(audited)
    }

    fn try_run(
        &mut self,
        mut on_progress: impl FnMut(AuditProgress),
    ) -> Result<(AuditReport, Vec<Account>), StoreError> {
        let rows_total = self.reader.head()?.seq.0;
        while self.page()? {
            on_progress(AuditProgress { rows: self.next_seq.0 - 1, rows_total });
        }
        // From here on in one snapshot: the batches that a writer has added meanwhile, then the tables at that moment.
        self.reader.source().begin_snapshot()?;
        while self.page()? {}
        let stored = self.compare()?;
        self.reader.source().end_snapshot()?;
        self.check_keys()?;
        let rows = self.next_seq.0 - 1;
        on_progress(AuditProgress { rows, rows_total: rows });
        let totals = self.totals()?;
        let report = AuditReport {
            rows,
            batches: self.next_batch - 1,
            head: self.head,
            accounts: stored.len() as u64,
            flow_rows: self.flow_rows.count(),
            totals,
            overrides: std::mem::take(&mut self.overrides),
        };
        Ok((report, stored))
    }

    /// Checks the next batches; `false` if there are none.
    fn page(&mut self) -> Result<bool, StoreError> {
        self.advance(u64::MAX, u64::MAX, &mut |_, _| {})
    }

    /// Checks the next batches, none after this one, and no more when it has checked so many records; `false` if there
    /// are none. `on_record` sees each record after it was checked.
    pub(super) fn advance(
        &mut self,
        last_batch: u64,
        records_max: u64,
        on_record: &mut dyn FnMut(Seq, &Record),
    ) -> Result<bool, StoreError> {
        let left = last_batch.saturating_sub(self.next_batch - 1);
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(PAGE);
        let batches = self.reader.source().batches_from(self.next_batch, most)?;
        let before = Seq(self.next_seq.0 - 1);
        for (batch, stored_head) in &batches {
            self.batch(batch, stored_head, on_record)?;
            if self.next_seq.0 - before.0 > records_max {
                break;
            }
        }
        self.check_events(before)?;
        Ok(!batches.is_empty())
    }

    /// The outbox must have the events of the records that were just checked, and no others.
    fn check_events(&mut self, before: Seq) -> Result<(), StoreError> {
        let expected = std::mem::take(&mut self.events);
        let mut stored = self.reader.events_after(before, expected.len() + 1)?;
        stored.retain(|event| event.seq < self.next_seq);
        let differing = expected.iter().zip(&stored).find(|(expected, stored)| expected != stored);
        let at = match differing {
            Some((expected, stored)) => expected.seq.min(stored.seq),
            None if stored.len() == expected.len() => return Ok(()),
            None => expected.get(stored.len()).or(stored.last()).map_or(before, |event| event.seq),
        };
        Err(StoreError::diverged(at, "the announcements are not what the journal says they are"))
    }

    fn batch(
        &mut self,
        batch: &Batch,
        stored_head: &Hash,
        on_record: &mut dyn FnMut(Seq, &Record),
    ) -> Result<(), StoreError> {
        if batch.number != self.next_batch || batch.first != self.next_seq || batch.previous != self.head {
            return Err(StoreError::diverged(self.next_seq, format!("batch {} is missing or moved", self.next_batch)));
        }
        let records = self.reader.source().records_from(batch.first, batch.count as usize)?;
        check_batch(batch, stored_head, &records)?;
        for (seq, bytes) in &records {
            let record = Record::decode(bytes).map_err(StoreError::unreadable(*seq))?;
            self.record(*seq, batch, &record)?;
            on_record(*seq, &record);
        }
        self.next_batch += 1;
        self.next_seq = Seq(batch.first.0 + u64::from(batch.count));
        self.head = *stored_head;
        Ok(())
    }

    fn record(&mut self, seq: Seq, batch: &Batch, record: &Record) -> Result<(), StoreError> {
        // A record that could not be read is not a missing record.
        let unread = Cell::new(None);
        let original = |place: Seq| {
            let stored = self.reader.record(place).map_err(|error| unread.set(Some(error))).ok().flatten();
            Record::decode(&stored.filter(|_| place < seq)?).ok()
        };
        let sound = self.replay.check(seq, batch.at, record, original);
        unread.into_inner().map_or(Ok(()), Err)?;
        sound.map_err(|unsound| StoreError::diverged(seq, unsound.to_string()))?;
        self.replay.apply(seq, record);
        if let Record::Decided { request, verdict: Verdict::Applied(_) } = record {
            if let Some(broken) = self.flow_rows.broken_guard(&request.facts) {
                return Err(StoreError::diverged(seq, broken));
            }
            self.flow_rows.apply(seq, &request.facts);
            let moves_nothing = matches!(&request.action, Action::Legs(legs) if legs.is_empty());
            // In the namespace of clients people act by proposals, also where no money moves.
            let is_proposal = request.key.namespace == Namespace::Client;
            if matches!(request.principal, Principal::Admin(_)) && (!moves_nothing || is_proposal) {
                self.overrides.push((seq, request.clone()));
            }
            self.events.extend(request.events.iter().zip(0..).map(|(event, place)| StoredEvent {
                seq,
                place,
                kind: event.kind.to_string(),
                resource: event.resource.clone(),
                body: event.body.clone(),
            }));
        }
        if let Record::Decided { request, .. } = record {
            self.keys.push((upper_half(request.key.fingerprint()), seq.0));
        }
        Ok(())
    }

    /// Compares the tables with the books that the journal gives.
    fn compare(&self) -> Result<Vec<Account>, StoreError> {
        let differs = |what: String| StoreError::diverged(Seq(self.next_seq.0 - 1), what);
        let books = &self.replay.books;
        let stored = self.reader.accounts(&crate::AccountFilter::default(), usize::MAX)?;
        for account in &stored {
            if books.account(account.id) != Some(account) {
                return Err(differs(format!("account {} is not what the journal says it is", account.name)));
            }
        }
        if stored.len() != books.account_count() {
            return Err(differs("an account of the journal is not in its table".into()));
        }
        self.compare_holds()?;
        if let Some(event) = self.reader.events_after(Seq(self.next_seq.0 - 1), 1)?.first() {
            return Err(differs(format!("something is announced of record {}, which is not there", event.seq)));
        }
        if self.reader.source().all_reversals()? != self.replay.reversals {
            return Err(differs("the reversals are not what the journal says they are".into()));
        }
        if self.reader.assets()? != self.replay.assets.clone().into_iter().collect::<Vec<_>>() {
            return Err(differs("the assets are not what the journal says they are".into()));
        }
        self.flow_rows.compare(&self.reader)?;
        Ok(stored)
    }

    /// Settled and expired holds too: a request that names one gets its state as the reason.
    fn compare_holds(&self) -> Result<(), StoreError> {
        let differs = |what: String| Err(StoreError::diverged(Seq(self.next_seq.0 - 1), what));
        let (books, source) = (&self.replay.books, self.reader.source());
        let wrong = |hold: &&Hold| books.hold(hold.id) != Some(*hold);
        let open = source.all_open_holds()?;
        let (mut found, mut after) = (0, HoldId(0));
        loop {
            let page = source.holds_after(after, PAGE)?;
            if let Some(hold) = page.iter().find(wrong) {
                return differs(format!("hold {} is not what the journal says it is", hold.id));
            }
            let Some(last) = page.last().map(|hold| hold.id).filter(|last| *last > after) else { break };
            (found, after) = (found + page.len(), last);
        }
        if found != books.holds().count() {
            return differs("a hold of the journal is not in its table".into());
        }
        if open.iter().any(|hold| wrong(&hold))
            || open.len() != books.holds().filter(|hold| hold.state == HoldState::Open).count()
        {
            return differs("the index of open holds is not what the journal says it is".into());
        }
        Ok(())
    }

    /// No key was decided twice.
    pub(super) fn check_keys(&mut self) -> Result<(), StoreError> {
        self.keys.sort_unstable();
        for pair in self.keys.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            let key = |place: u64| -> Result<_, StoreError> {
                let bytes = self.reader.record(Seq(place))?.unwrap_or_default();
                match Record::decode(&bytes).map_err(StoreError::unreadable(Seq(place)))? {
                    Record::Decided { request, .. } => Ok(Some(request.key)),
                    _ => Ok(None),
                }
            };
            if key(pair[0].1)? == key(pair[1].1)? {
                return Err(StoreError::diverged(Seq(pair[1].1), "an idempotency key was decided twice"));
            }
        }
        Ok(())
    }

    /// Debits and credits for each asset, which are equal.
    pub(super) fn totals(&self) -> Result<BTreeMap<AssetId, (Total, Total)>, StoreError> {
        let at = Seq(self.next_seq.0 - 1);
        let totals = self.replay.books.totals();
        match totals.iter().find(|(_, (debit, credit))| debit != credit) {
            Some((asset, _)) => Err(StoreError::diverged(at, format!("debits and credits of asset {asset} differ"))),
            None => Ok(totals),
        }
    }
}

fn upper_half(fingerprint: Fingerprint) -> u64 {
    (fingerprint.0 >> 64) as u64
}
