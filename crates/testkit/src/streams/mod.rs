//! Random set-ups and streams of requests, all from one seed.
//!
//! A stream draws a step, asks the model, and returns both: the step and its expected outcome. Most requests are
//! plausible, so that money circulates; the rest is what careless, unlucky and hostile callers send.

mod extras;
mod hostile;
mod keys;
mod legs;
mod world;

use bankroll_ledger::{
    AccountName, AccountPolicy, Action, Asset, Confirmation, Leg, Name, Principal, Request, Roles, Seq, Settler,
};
use bankroll_store::Statement;
use fastrand::Rng;

use crate::model::{Model, ModelOutcome, RejectionCode, RoleSet, role_name};

pub use extras::{ModelRowsOutcome, rows_outcome};
pub use world::name;

/// The next step and its expected outcome.
#[derive(Debug)]
pub enum StreamStep {
    /// Lists a coin.
    List { asset: Asset, expected: u32 },
    /// Opens accounts.
    Open { by: Principal, names: Vec<(AccountName, AccountPolicy)>, expected: Vec<Result<u64, RejectionCode>> },
    /// Submits these calls, and in addition a set of row statements, before waiting for any answer.
    Submit { calls: Vec<Vec<(Request, ModelOutcome)>>, rows: Option<(Vec<Statement>, ModelRowsOutcome)> },
    /// Sets the clock and lets the writer read it.
    Clock(u64),
    /// Closes the books and opens them again.
    Restart,
}

/// A stream of steps.
#[derive(Debug)]
pub struct Stream {
    rng: Rng,
    pub model: Model,
    servers: Vec<Name>,
    players: Vec<Name>,
    clock: u64,
    history: Vec<Request>,
    keys_made: u64,
    ticket: i64,
    setting_up: Vec<StreamStep>,
}

/// The initial time of every stream.
pub const START: u64 = 1_000_000;

impl Stream {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let servers = world::pick_names(&mut rng, &["arena", "plaza", "harbour"], 1);
        let players = world::pick_names(&mut rng, &["0xa1", "0xb2", "0xc3", "0xd4", "0xe5", "0xf6"], 2);
        let mut stream = Self {
            rng,
            model: Model::at(START),
            servers,
            players,
            clock: START,
            history: Vec::new(),
            keys_made: 0,
            ticket: 1,
            setting_up: Vec::new(),
        };
        stream.setting_up = stream.set_up();
        stream.setting_up.reverse();
        stream
    }

    /// All requests so far, for a test that repeats them.
    #[must_use]
    pub fn history(&self) -> &[Request] {
        &self.history
    }

    /// The next step.
    pub fn step(&mut self) -> StreamStep {
        if let Some(step) = self.setting_up.pop() {
            return step;
        }
        match self.rng.u32(0..100) {
            0..74 => self.ask(),
            74..84 => self.burst(),
            84..95 => self.move_clock(),
            95..98 => self.open_something(),
            _ => StreamStep::Restart,
        }
    }

    fn ask(&mut self) -> StreamStep {
        let sizes: Vec<usize> = match self.rng.u32(0..20) {
            0..6 => vec![1],
            6..14 => vec![self.rng.usize(2..=10)],
            14..19 => (0..self.rng.usize(2..=4)).map(|_| self.rng.usize(1..=20)).collect(),
            _ => vec![self.rng.usize(50..=120)],
        };
        let calls = sizes.into_iter().map(|size| (0..size).map(|_| self.ask_one()).collect()).collect();
        // After the money, because in one commit the rows come last.
        let rows = self.chance(15).then(|| self.rows());
        StreamStep::Submit { calls, rows }
    }

    /// Many small calls at once, nearly all of them plain money: decided while another batch is in flight.
    fn burst(&mut self) -> StreamStep {
        let mut call = || {
            let plain = |stream: &mut Self| {
                if stream.chance(1) {
                    return stream.ask_one();
                }
                let again = stream.chance(3) && !stream.history.is_empty();
                let request = if again { stream.repeated() } else { stream.plain_request() };
                stream.ask_model(request)
            };
            (0..self.rng.usize(1..=4)).map(|_| plain(self)).collect()
        };
        let calls = (0..30).map(|_| call()).collect();
        StreamStep::Submit { calls, rows: None }
    }

    fn plain_request(&mut self) -> Request {
        let server = self.one_of(&self.servers.clone());
        let principal = self.one_of(&[Principal::Indexer, Principal::GameServer(server), Principal::System]);
        let legs = (0..self.rng.usize(1..=3)).map(|_| self.plain_leg(&principal)).collect();
        let mut request = Request {
            key: self.key(&principal),
            confirmation: None,
            principal,
            action: Action::Legs(legs),
            references: self.references(),
            facts: Vec::new(),
            events: self.events(),
        };
        self.name_intent(&mut request);
        request
    }

    /// A hold that only the system frees must name an intent and make its row; nearly every caller does. The system
    /// itself need not.
    fn name_intent(&mut self, request: &mut Request) {
        let for_system = |leg: &Leg| matches!(leg, Leg::Hold { settler: Settler::System, .. });
        let needs = matches!(&request.action, Action::Legs(legs) if legs.iter().any(for_system));
        if needs && self.chance(95) {
            let intent = format!("wd-{}", self.keys_made);
            if request.principal != Principal::System && self.chance(95) {
                request.facts.push(extras::making(&intent));
            }
            request.references.intent = Some(intent);
        }
    }

    fn ask_one(&mut self) -> (Request, ModelOutcome) {
        let request = self.request();
        self.ask_model(request)
    }

    fn ask_model(&mut self, request: Request) -> (Request, ModelOutcome) {
        let outcome = self.model.submit(&request);
        self.history.push(request.clone());
        (request, outcome)
    }

    fn request(&mut self) -> Request {
        if self.chance(12) && !self.history.is_empty() {
            return self.repeated();
        }
        let principal = self.principal();
        let action = match self.rng.u32(0..100) {
            0..6 => self.reversal(),
            // An act that moves no money: legal if it has facts.
            6 => Action::Legs(Vec::new()),
            _ => Action::Legs(self.legs(&principal)),
        };
        let mut request = Request {
            key: self.key(&principal),
            confirmation: self.confirmation(&principal),
            principal,
            action,
            references: self.references(),
            facts: self.facts(),
            events: self.events(),
        };
        self.name_intent(&mut request);
        if self.chance(4) {
            self.spoil(&mut request);
        }
        request
    }

    fn principal(&mut self) -> Principal {
        let server = self.one_of(&self.servers.clone());
        match self.rng.u32(0..100) {
            0..28 => Principal::Indexer,
            28..56 => Principal::GameServer(server),
            56..72 => Principal::System,
            72..80 => Principal::Tables,
            80..88 => Principal::Admin(name(["ada", "bob"][self.rng.usize(0..2)])),
            88..96 => Principal::User(self.one_of(&self.players.clone())),
            _ => Principal::Developer(server),
        }
    }

    fn confirmation(&mut self, principal: &Principal) -> Option<Confirmation> {
        let by = match principal {
            Principal::Admin(_) if self.chance(5) => return None,
            Principal::Admin(person) if self.chance(5) => person.clone(),
            Principal::Admin(_) => name("carol"),
            // Other principals need none; it is part of the body all the same.
            _ if self.chance(98) => return None,
            _ => name("dave"),
        };
        Some(Confirmation { proposal: name("p-1"), by })
    }

    /// Reverses a record that exists, or one that does not exist (yet).
    fn reversal(&mut self) -> Action {
        let happened: Vec<u64> = self.model.transfers.keys().copied().collect();
        let guess = match self.rng.u32(0..20) {
            0 => 0,
            1 => u64::MAX,
            2..4 => self.model.seq + self.rng.u64(0..4),
            4..6 => self.rng.u64(0..=self.model.seq),
            6..12 => happened.len().checked_sub(1 + self.rng.usize(0..8)).map_or(1, |place| happened[place]),
            _ if happened.is_empty() => 1,
            _ => self.one_of(&happened),
        };
        Action::Reverse(Seq(guess))
    }

    fn move_clock(&mut self) -> StreamStep {
        self.clock = match self.rng.u32(0..10) {
            0 => self.clock.saturating_sub(self.rng.u64(1..20)),
            1 => self.clock,
            2 => self.clock + 1_000,
            _ => self.clock + self.rng.u64(1..30),
        };
        self.model.tick(self.clock);
        StreamStep::Clock(self.clock)
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(0..100) < percent
    }

    fn one_of<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.rng.usize(0..from.len())].clone()
    }
}

/// The same rights as the ledger's type.
fn policy([deposit, withdraw, transfer]: &[RoleSet; 3]) -> AccountPolicy {
    let roles = |set: &RoleSet| Roles::those(|role| set.contains(role_name(role)));
    AccountPolicy { deposit: roles(deposit), withdraw: roles(withdraw), transfer: roles(transfer) }
}
