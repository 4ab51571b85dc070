//! A small world: books that announce events, endpoints, a worker, and a clock that a story moves. Receivers are
//! answers of the story: nothing is sent.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bankroll_ledger::{
    AccountName, Action, Amount, Asset, Event, FACTS_MAX, Fact, IdempotencyKey, Leg, Name, Namespace, Principal,
    References, Request, Scope, Time, Unit,
};
use bankroll_notify::{
    AttemptOutcome, DeliveryAttempt, DeliveryFilter, DeliveryView, DeliveryWorker, EndpointChange, EndpointId, Jitter,
    NOTIFY, NewEndpoint, NewSecret, NotifyError, TypeFilter, WebhookEndpoint, WebhookRequest, WebhookRequestKind,
    WorkerSettings, deliveries, endpoint, event_id, next_request_number,
};
use bankroll_store::{
    Audit, Clock, EventPosition, Ledger, LedgerOptions, Location, Reader, Rows, RowsLocation, SubmitError,
};
use bankroll_testkit::postgres;
use tempfile::TempDir;

pub const SECOND: u64 = 1_000_000;
pub const DAY: u64 = 24 * 3_600 * SECOND;

/// One request that an endpoint got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    pub endpoint: EndpointId,
    pub event: String,
    pub body: String,
    pub at: Time,
    pub is_accepted: bool,
}

pub struct World {
    _folder: TempDir,
    options: LedgerOptions,
    ledger: Option<Ledger>,
    worker: Option<DeliveryWorker>,
    clock: Arc<AtomicU64>,
    next_key: u64,
    /// Everything that was sent, in order.
    pub received: Vec<Received>,
}

pub fn ok() -> AttemptOutcome {
    answered(200)
}

pub fn answered(status: u16) -> AttemptOutcome {
    AttemptOutcome::Answered { status, answer: format!("status {status}") }
}

pub fn no_answer() -> AttemptOutcome {
    AttemptOutcome::Failed { error: "no answer within the time".into() }
}

impl World {
    /// On the engine that the suite is run for.
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(set: impl FnOnce(&mut LedgerOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = postgres::new_database().unwrap_or_else(|| folder.path().into());
        Self::at(folder, location, set)
    }

    pub fn in_folder(set: impl FnOnce(&mut LedgerOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = folder.path().into();
        Self::at(folder, location, set)
    }

    /// For tests that need Postgres.
    pub fn in_database() -> Self {
        Self::at(tempfile::tempdir().unwrap(), postgres::needed_database().into(), |_| {})
    }

    pub fn location(&self) -> Location {
        self.options.location.clone()
    }

    fn at(folder: TempDir, location: Location, set: impl FnOnce(&mut LedgerOptions)) -> Self {
        let (clock, now) = Clock::manual(Time(1_800_000_000 * SECOND));
        let mut options = LedgerOptions { clock, migrations: vec![NOTIFY], ..LedgerOptions::new(location) };
        set(&mut options);
        let ledger = Some(Ledger::create(options.clone()).unwrap());
        let world =
            Self { _folder: folder, options, ledger, worker: None, clock: now, next_key: 1, received: Vec::new() };
        let chain = "eip155:1337".parse().unwrap();
        world.ledger().list_asset(Asset { chain, unit: Unit::Native, decimals: 2, symbol: "SIM".into() }).unwrap();
        let names: Vec<AccountName> =
            ["arena/custody/1/hot", "arena/funds/1/alice"].iter().map(|name| name.parse().unwrap()).collect();
        world.ledger().open_accounts(&Principal::System, names).unwrap();
        world
    }

    pub fn ledger(&self) -> &Ledger {
        self.ledger.as_ref().unwrap()
    }

    pub fn reader(&self) -> Reader {
        Reader::open(&self.options.location).unwrap()
    }

    /// The process dies: the worker forgets everything, and the books are opened again.
    pub fn restart(&mut self) {
        self.worker = None;
        self.ledger.take().unwrap().close();
        self.ledger = Some(Ledger::open(self.options.clone()).unwrap());
    }

    /// The worker dies alone.
    pub fn kill_worker(&mut self) {
        self.worker = None;
    }

    pub fn now(&self) -> Time {
        Time(self.clock.load(Ordering::SeqCst))
    }

    pub fn pass(&self, micros: u64) {
        self.clock.fetch_add(micros, Ordering::SeqCst);
    }

    /// As a role reaches its rows: through the writer of its process, or directly in a database.
    pub fn rows_location(&self) -> RowsLocation {
        match &self.options.location {
            Location::Folder(_) => RowsLocation::Writer(self.ledger().clone()),
            Location::Postgres(url) => RowsLocation::Database(url.clone()),
        }
    }

    fn request(&mut self, legs: Vec<Leg>, facts: Vec<Fact>, events: Vec<Event>) -> Request {
        let text = format!("story-{}", self.next_key);
        self.next_key += 1;
        let is_money = !legs.is_empty();
        Request {
            key: IdempotencyKey { namespace: Namespace::Deposits, scope: Scope::Server(name("arena")), text },
            principal: if is_money { Principal::Indexer } else { Principal::System },
            confirmation: None,
            action: Action::Legs(legs),
            references: References::default(),
            facts,
            events,
        }
    }

    /// A deposit announces an event about a resource, of the server `arena` and the player `alice`. Returns its id.
    pub fn announce(&mut self, kind: &str, resource: &str) -> String {
        self.announce_of("arena", kind, resource).unwrap()
    }

    pub fn announce_of(&mut self, server: &str, kind: &str, resource: &str) -> Result<String, SubmitError> {
        let events = vec![event(server, kind, resource)];
        let request = self.deposit(events);
        let seq = self.ledger().apply(request)?.seq.unwrap();
        Ok(event_id(EventPosition { seq, place: 0 }))
    }

    /// Events about as many resources, in few commits.
    pub fn announce_many(&mut self, count: usize) {
        let events: Vec<Event> =
            (0..count).map(|number| event("arena", "deposit.credited", &format!("dep_{number}"))).collect();
        let requests = events.chunks(FACTS_MAX).map(|events| self.deposit(events.to_vec())).collect();
        for answer in self.ledger().submit(requests).unwrap().wait().unwrap() {
            answer.effects().unwrap();
        }
    }

    /// A deposit of the smallest amount, with these announcements.
    fn deposit(&mut self, events: Vec<Event>) -> Request {
        let reader = self.reader();
        let account = |name: &str| reader.account_named(&name.parse().unwrap()).unwrap().unwrap().id;
        let (from, to) = (account("arena/custody/1/hot"), account("arena/funds/1/alice"));
        self.request(vec![Leg::Move { from, to, amount: Amount::new(1) }], Vec::new(), events)
    }

    /// Commits a change of an endpoint, as the act of a person does.
    pub fn commit(&mut self, change: EndpointChange) {
        let request = self.request(Vec::new(), vec![change.fact], vec![change.event]);
        self.ledger().apply(request).unwrap().effects().unwrap();
    }

    /// A new endpoint for all events of the deployment, except for those about webhooks.
    pub fn endpoint(&mut self, label: &str) -> WebhookEndpoint {
        self.endpoint_for(label, "deposit.*,spawn.*", None)
    }

    pub fn endpoint_for(&mut self, label: &str, types: &str, server: Option<&str>) -> WebhookEndpoint {
        let id = EndpointId::new("admin/olga", label);
        let secret = secret_for(label);
        self.write(vec![secret.insert(&id, self.now())]);
        let new = NewEndpoint {
            id,
            url: format!("https://hooks.example.com/{label}"),
            types: types.parse::<TypeFilter>().unwrap(),
            server: server.map(name),
            secret: &secret,
            from: self.reader().newest_event().unwrap(),
            now: self.now(),
        };
        let (endpoint, change) = new.create();
        self.commit(change);
        endpoint
    }

    pub fn write(&self, statements: Vec<bankroll_store::Statement>) {
        Rows::open(self.ledger()).unwrap().write(statements).unwrap();
    }

    pub fn find(&self, id: &EndpointId) -> WebhookEndpoint {
        endpoint(&self.reader(), id).unwrap().unwrap()
    }

    pub fn enable(&mut self, id: &EndpointId) {
        let (_, change) = self.find(id).enable();
        self.commit(change);
    }

    /// A person asks for something; returns the number of the request.
    pub fn ask(&mut self, id: &EndpointId, kind: WebhookRequestKind) -> u64 {
        let number = next_request_number(&self.reader(), id).unwrap();
        let asked = WebhookRequest { endpoint: id.clone(), number, kind, requested_at: self.now() };
        let request = self.request(Vec::new(), vec![asked.fact()], Vec::new());
        self.ledger().apply(request).unwrap().effects().unwrap();
        number
    }

    pub fn settings(name: &str) -> WorkerSettings {
        WorkerSettings { name: name.into(), in_flight_max: 64, keep_for: 30 * DAY }
    }

    /// The worker of this process, opened if it is not.
    pub fn worker(&mut self) -> Result<&mut DeliveryWorker, NotifyError> {
        if self.worker.is_none() {
            self.worker = Some(DeliveryWorker::open(self.rows_location(), Self::settings("node-1"))?);
        }
        Ok(self.worker.as_mut().unwrap())
    }

    /// What is due now.
    pub fn plan(&mut self) -> Result<(Vec<DeliveryAttempt>, bool), NotifyError> {
        let now = self.now();
        let round = self.worker()?.round(now)?;
        Ok((round.attempts, round.is_busy))
    }

    /// Sends, and notes what the endpoint got. `None`: the process died, and the outcome with it.
    pub fn send(
        &mut self,
        attempt: &DeliveryAttempt,
        answer: &mut dyn FnMut(&DeliveryAttempt) -> AttemptOutcome,
    ) -> AttemptOutcome {
        let outcome = answer(attempt);
        self.received.push(Received {
            endpoint: attempt.endpoint.clone(),
            event: attempt.event_id.clone(),
            body: attempt.body.clone(),
            at: self.now(),
            is_accepted: matches!(outcome, AttemptOutcome::Answered { status: 200..=299, .. }),
        });
        outcome
    }

    /// One round: plans, sends everything, records everything. Returns whether anything was done.
    pub fn round(&mut self, answer: &mut dyn FnMut(&DeliveryAttempt) -> AttemptOutcome) -> Result<bool, NotifyError> {
        let (attempts, is_busy) = self.plan()?;
        let is_busy = is_busy || !attempts.is_empty();
        let done = attempts.into_iter().map(|attempt| {
            let outcome = self.send(&attempt, answer);
            (attempt, outcome, Jitter::default())
        });
        let done: Vec<_> = done.collect();
        let now = self.now();
        self.worker()?.record(done, now)?;
        Ok(is_busy)
    }

    /// Rounds until nothing is due now.
    pub fn settle(&mut self, mut answer: impl FnMut(&DeliveryAttempt) -> AttemptOutcome) {
        while self.round(&mut answer).unwrap() {}
    }

    /// When the next delivery is due, of all endpoints.
    pub fn next_due(&self) -> Option<Time> {
        let sql = "SELECT next_at FROM webhook_deliveries WHERE state = 'pending' AND next_at > $1
                   ORDER BY next_at LIMIT 1";
        let rows = self.reader().rows(sql, vec![bankroll_store::columns::time(self.now())]).unwrap();
        rows.first().map(|row| Time(bankroll_store::columns::number_of(row, "next_at").unwrap()))
    }

    pub fn pass_until(&self, at: Time) {
        self.clock.store(at.0, Ordering::SeqCst);
    }

    /// The log of an endpoint, the oldest event first.
    pub fn log(&self, id: &EndpointId) -> Vec<DeliveryView> {
        let mut found = deliveries(&self.reader(), id, &DeliveryFilter::default(), 100).unwrap();
        found.reverse();
        found
    }

    /// The ids of what an endpoint got, in order.
    pub fn events_of(&self, id: &EndpointId) -> Vec<&str> {
        let of = self.received.iter().filter(|received| received.endpoint == *id);
        of.map(|received| received.event.as_str()).collect()
    }

    pub fn audit(&self) {
        Audit::new(self.reader()).run(|_| {}).unwrap();
    }
}

fn event(server: &str, kind: &str, resource: &str) -> Event {
    let body = format!(r#"{{"server":"{server}","wallet":"alice","note":"{resource}"}}"#);
    Event { kind: kind.parse().unwrap(), resource: resource.into(), body }
}

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub fn new_secret(byte: u8) -> NewSecret {
    NewSecret::new([byte; 16], [byte; 32])
}

/// The first secret of the endpoint with this label.
pub fn secret_for(label: &str) -> NewSecret {
    new_secret(label.bytes().fold(0, |sum: u8, byte| sum.wrapping_mul(31).wrapping_add(byte)))
}
