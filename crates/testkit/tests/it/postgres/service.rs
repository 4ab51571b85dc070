//! Books that are served through faults: reopened whenever their writer stops, retried whenever the outcome of a call
//! is unknown; and the final check.
//!
//! [`Service::reckon`] requires: every answered request is in the journal once, at the position and with the verdict
//! of its answer; a call that was answered "nothing happened" was not applied until it was retried; nothing else is in
//! the journal; a retry gives the same answers; the audit passes.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Mutex, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bankroll_ledger::{IdempotencyKey, Record, Request, Seq};
use bankroll_store::{
    Answer, Audit, Ledger, LedgerOptions, Reader, StoreError, SubmitError, SubmitFailure, SubmitRefusal,
};
use bankroll_testkit::script::{Script, VictimAnswer, set_up};

/// How long a fault may prevent opening the books; far longer than any here lasts.
const PATIENCE: Duration = Duration::from_secs(90);

pub struct Service {
    options: LedgerOptions,
    ledger: RwLock<Ledger>,
    answered: AtomicU64,
    /// Why writers stopped.
    stops: Mutex<Vec<String>>,
}

/// A call with all its outcomes.
pub struct Call {
    pub requests: Vec<Request>,
    pub failures: Vec<SubmitError>,
    pub answers: Vec<Answer>,
}

/// The outcomes of many calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reckoning {
    pub requests: u64,
    pub nothing_happened: u64,
    pub unknown: u64,
    /// Calls with unknown outcome that were applied.
    pub were_there: u64,
}

impl fmt::Display for Reckoning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requests, nothing_happened, unknown, were_there } = self;
        write!(
            f,
            "{requests} requests, each in the journal once as answered; calls answered \"nothing happened\": \
             {nothing_happened}, none of them had; \"unknown\": {unknown}, of which {were_there} were there"
        )
    }
}

impl Service {
    pub fn open(options: LedgerOptions) -> Self {
        let ledger = RwLock::new(open(&options));
        let service = Self { options, ledger, answered: AtomicU64::new(0), stops: Mutex::default() };
        set_up(&service.ledger()).unwrap();
        service
    }

    pub fn ledger(&self) -> Ledger {
        self.ledger.read().unwrap().clone()
    }

    pub fn reader(&self) -> Reader {
        Reader::open(&self.options.location).unwrap()
    }

    /// Calls answered so far.
    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::SeqCst)
    }

    pub fn stops(&self) -> Vec<String> {
        self.stops.lock().unwrap().clone()
    }

    pub fn close(self) {
        self.ledger.into_inner().unwrap().close();
    }

    /// Opens the books again if their writer has stopped.
    pub fn revive(&self) {
        let mut ledger = self.ledger.write().unwrap();
        if let Some(why) = ledger.stopped_by() {
            self.stops.lock().unwrap().push(format!("{why:?}"));
            ledger.clone().close();
            *ledger = open(&self.options);
        }
    }

    /// Makes a call once.
    pub fn try_once(&self, requests: Vec<Request>) -> Result<Vec<Answer>, SubmitError> {
        Ok(self.ledger().submit(requests)?.wait()?)
    }

    /// Makes a call until it is answered.
    pub fn make(&self, requests: Vec<Request>) -> Call {
        let mut call = Call { requests, failures: Vec::new(), answers: Vec::new() };
        let started = Instant::now();
        while call.answers.is_empty() {
            assert!(started.elapsed() < PATIENCE, "no answer after {:?}", call.failures);
            match self.try_once(call.requests.clone()) {
                Ok(answers) => call.answers = answers,
                Err(failure) => {
                    if matches!(
                        failure,
                        SubmitError::Refused(SubmitRefusal::Stopped) | SubmitError::Failed(SubmitFailure::Unknown)
                    ) {
                        self.revive();
                    }
                    call.failures.push(failure);
                }
            }
        }
        self.answered.fetch_add(1, Ordering::SeqCst);
        call
    }

    /// Makes the calls of a script until `is_over`.
    pub fn play(&self, mut script: Script, is_over: impl Fn() -> bool) -> Vec<Call> {
        let mut calls = Vec::new();
        while !is_over() {
            let call = self.make(script.call());
            script.learn(&call.answers.iter().map(VictimAnswer::from).collect::<Vec<_>>());
            calls.push(call);
        }
        calls
    }

    pub fn reckon(&self, calls: &[Call], what: &str) -> Reckoning {
        let mut found = Reckoning::default();
        let journal = journal(&self.reader(), Seq(1));
        for call in calls {
            call.check(what, &mut found);
            for (request, answer) in call.requests.iter().zip(&call.answers) {
                let places = journal.get(&request.key).map_or(&[][..], Vec::as_slice);
                assert_eq!(places, [answer.seq.unwrap()], "{what}: {:?} was answered {answer:?}", request.key);
            }
            let again = self.make(call.requests.clone());
            for (again, outcome) in again.answers.iter().zip(&call.answers) {
                assert!(again.replayed && again.seq == outcome.seq, "{what}: answered {outcome:?}, and now {again:?}");
                assert_eq!(again.verdict, outcome.verdict, "{what}");
            }
        }
        let requested: usize = calls.iter().map(|call| call.requests.len()).sum();
        let there: usize = journal.values().map(Vec::len).sum();
        assert_eq!(there, requested, "{what}: the journal has a record that no caller requested");
        let audited = Audit::new(self.reader()).run(|_| {});
        assert!(audited.is_ok(), "{what}: {:?}", audited.err());
        found
    }
}

impl Call {
    /// Checks that the outcomes are consistent.
    fn check(&self, what: &str, found: &mut Reckoning) {
        let unknown =
            self.failures.iter().filter(|failure| **failure == SubmitError::Failed(SubmitFailure::Unknown)).count();
        let replayed = self.answers.iter().filter(|answer| answer.replayed).count();
        found.requests += self.requests.len() as u64;
        found.unknown += u64::from(unknown > 0);
        found.nothing_happened += (self.failures.len() - unknown) as u64;
        if unknown == 0 {
            assert_eq!(replayed, 0, "{what}: failed with {:?}, but it had happened", self.failures);
        } else {
            assert!([0, self.requests.len()].contains(&replayed), "{what}: half of a call was there");
            found.were_there += u64::from(replayed > 0);
        }
    }
}

/// Opens books whose last writer may have just stopped, or whose server is starting.
fn open(options: &LedgerOptions) -> Ledger {
    let started = Instant::now();
    loop {
        match Ledger::open_or_create(options.clone()) {
            Ok(ledger) => return ledger,
            Err(StoreError::Leased { .. } | StoreError::Postgres(_) | StoreError::Unreachable)
                if started.elapsed() < PATIENCE =>
            {
                std::thread::yield_now();
            }
            Err(error) => panic!("the books do not open: {error:?}"),
        }
    }
}

/// The positions at which each key was decided, from a position on.
pub fn journal(reader: &Reader, from: Seq) -> HashMap<IdempotencyKey, Vec<Seq>> {
    let mut places = HashMap::<IdempotencyKey, Vec<Seq>>::new();
    for seq in (from.0..=reader.head().unwrap().seq.0).map(Seq) {
        let bytes = reader.record(seq).unwrap().unwrap();
        if let Record::Decided { request, .. } = Record::decode(&bytes).unwrap() {
            places.entry(request.key).or_default().push(seq);
        }
    }
    places
}
