//! A table for the tests: an operator with its log, players and shufflers with their secrets, and the bytes that go
//! between them.

use bankroll_deck::{Curve, MasterSecret, Parameters, SeenBlindings};
use bankroll_poker::{
    Chips, Hand, HandTime, LegalActions, Phase, PlayerAction, Rake, Seat, SeatStack, Snapshot, TableRules,
    log::{
        ActionEnvelope, Actor, Bundle, EnvelopeHeader, EventReceipt, HandConfig, HandLog, LogMessage, MessageRejection,
        MessageSigner, Participant, Party, SubmitVerdict, VERSION,
    },
};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{RngCore, SeedableRng},
};

pub type Secp = bankroll_deck::Secp256k1;

pub struct TestTable<C: Curve = Secp> {
    pub rng: ChaCha20Rng,
    pub parameters: Parameters<C>,
    pub operator: MessageSigner,
    pub signers: Vec<(Actor, MessageSigner)>,
    pub log: HandLog<C>,
    pub parties: Vec<Party<C>>,
    pub now: HandTime,
}

/// Seats 1, 3, 5 ... with 1,000 chips, or what is given; blinds 5 and 10; five percent to the house.
pub fn snapshot(stacks: &[u64]) -> Snapshot {
    let seat = |(stack, number): (&u64, u8)| SeatStack { seat: Seat(number * 2 + 1), stack: Chips::new(*stack) };
    let seats: Vec<SeatStack> = stacks.iter().zip(0..).map(seat).collect();
    let rake = Rake { bps: 500, cap: Some(Chips::new(30)), no_flop_no_drop: true };
    let rules = TableRules { rake, ..TableRules::cash(Chips::new(5), Chips::new(10)) };
    Snapshot::new(rules, seats, Seat(1)).unwrap()
}

impl<C: Curve> TestTable<C> {
    /// A deck just large enough: fast, and all that can go wrong with 52 cards can go wrong with it.
    pub fn small(seed: u64, stacks: &[u64], shufflers: u8) -> Self {
        let cards = snapshot(stacks).plan().places() as u8;
        Self::new(seed, "hand 41", stacks, shufflers, cards)
    }

    pub fn new(seed: u64, hand: &str, stacks: &[u64], shufflers: u8, cards: u8) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let operator = MessageSigner::generate(&mut rng);
        let snapshot = snapshot(stacks);
        let actors = (0..shufflers).map(Actor::Shuffler);
        let actors: Vec<Actor> = actors.chain(snapshot.seats().iter().map(|seated| Actor::Seat(seated.seat))).collect();
        let signers: Vec<(Actor, MessageSigner)> =
            actors.iter().map(|actor| (*actor, MessageSigner::generate(&mut rng))).collect();
        let named = |wanted: fn(&Actor) -> bool| {
            let of =
                |(actor, signer): &(Actor, MessageSigner)| Participant { name: actor.to_string(), key: signer.key() };
            signers.iter().filter(|(actor, _)| wanted(actor)).map(of).collect()
        };
        let config = HandConfig {
            version: VERSION,
            deployment: "casino".into(),
            game: "table 7".into(),
            hand: hand.into(),
            curve: C::NAME.into(),
            cards,
            snapshot,
            operator: operator.key(),
            players: named(|actor| matches!(actor, Actor::Seat(_))),
            shufflers: named(|actor| matches!(actor, Actor::Shuffler(_))),
        };
        let now = HandTime(1_000);
        let log = HandLog::start(&config, operator.clone(), now, SeenBlindings::default()).unwrap();
        let first = &log.entries()[0];
        let mut join = |(actor, signer): &(Actor, MessageSigner)| {
            let master = MasterSecret::generate(&mut rng);
            Party::join(*actor, signer.clone(), &master, &first.envelope.0, &first.receipt).unwrap()
        };
        let parties = signers.iter().map(&mut join).collect();
        let parameters = Parameters::with_size(cards.into()).unwrap();
        Self { rng, parameters, operator, signers, log, parties, now }
    }

    pub fn hand(&self) -> &Hand {
        self.log.table().hand()
    }

    pub fn signer(&self, actor: Actor) -> &MessageSigner {
        &self.signers.iter().find(|(other, _)| *other == actor).unwrap().1
    }

    pub fn party(&self, actor: Actor) -> &Party<C> {
        self.parties.iter().find(|party| party.actor() == actor).unwrap()
    }

    /// What this actor would sign next: the header is right, the message is anything.
    pub fn next_of(&self, actor: Actor, message: LogMessage) -> ActionEnvelope {
        let progress = self.log.table().progress(actor);
        let header =
            EnvelopeHeader::next(self.log.table().config(), actor, progress.nonce + 1, progress.last, message.kind());
        ActionEnvelope::sign(header, message, self.signer(actor))
    }

    /// Submits bytes to the operator; if it accepts them, all parties receive the event.
    pub fn send(&mut self, bytes: &[u8]) -> SubmitVerdict {
        let verdict = self.log.submit(&self.parameters, bytes, self.now);
        if let SubmitVerdict::Accepted(receipt) = &verdict {
            self.deliver(bytes, receipt);
        }
        verdict
    }

    fn deliver(&mut self, bytes: &[u8], receipt: &EventReceipt) {
        for party in &mut self.parties {
            party.receive(&self.parameters, bytes, receipt).unwrap();
        }
    }

    pub fn accepted(&mut self, bytes: &[u8]) -> EventReceipt {
        match self.send(bytes) {
            SubmitVerdict::Accepted(receipt) => receipt,
            other => panic!("{other:?}"),
        }
    }

    pub fn refused(&mut self, bytes: &[u8]) -> MessageRejection {
        let before = (self.log.table().state_hash(), self.log.entries().len());
        let SubmitVerdict::Refused(rejection) = self.send(bytes) else { panic!("it was accepted") };
        assert_eq!(
            before,
            (self.log.table().state_hash(), self.log.entries().len()),
            "it was refused, but left a trace"
        );
        rejection
    }

    /// The operator sends a message, and all parties receive the event.
    pub fn issue(&mut self, message: LogMessage) -> SubmitVerdict {
        let verdict = self.log.issue(&self.parameters, message, self.now);
        if let SubmitVerdict::Accepted(receipt) = &verdict {
            let bytes = self.log.entries().last().unwrap().envelope.0.clone();
            self.deliver(&bytes, receipt);
        }
        verdict
    }

    /// What a party has to send now.
    pub fn duties(&mut self, place: usize) -> Vec<Vec<u8>> {
        self.parties[place].duties(&self.parameters, &mut self.rng)
    }

    /// All parties send their duties until none is left: up to the next decision.
    pub fn work(&mut self) {
        loop {
            let mut idle = true;
            for place in 0..self.parties.len() {
                for bytes in self.duties(place) {
                    self.accepted(&bytes);
                    idle = false;
                }
            }
            if idle {
                return;
            }
        }
    }

    /// Until the shufflers wait to shuffle.
    pub fn register(&mut self) {
        for place in 0..self.parties.len() {
            for bytes in self.duties(place).into_iter().take(1) {
                self.accepted(&bytes);
            }
        }
        assert!(self.log.table().shuffling().is_some());
    }

    /// Until the deck is shuffled and nothing is dealt.
    pub fn shuffle(&mut self) {
        self.register();
        while let Some(next) = self.log.table().shuffling().and_then(|shuffling| shuffling.next()) {
            let bytes = self.duties(usize::from(next)).remove(0);
            self.accepted(&bytes);
        }
    }

    pub fn act(&mut self, action: PlayerAction) {
        let seat = self.hand().to_act().unwrap();
        let bytes = self.party(Actor::Seat(seat)).decide(action);
        self.accepted(&bytes);
    }

    /// Checks or calls until the betting is over.
    pub fn check_down(&mut self) {
        self.work();
        while let Some(legal) = self.hand().legal() {
            self.act(if legal.check { PlayerAction::Check } else { PlayerAction::Call });
            self.work();
        }
    }

    pub fn show(&mut self, seat: Seat) {
        let place = self.parties.iter().position(|party| party.actor() == Actor::Seat(seat)).unwrap();
        let bytes = self.parties[place].show(&mut self.rng).unwrap();
        self.accepted(&bytes);
    }

    /// Plays to the end: `decide` makes the decisions, and seats show or muck at random.
    pub fn play(&mut self, mut decide: impl FnMut(&LegalActions, &mut ChaCha20Rng) -> PlayerAction) {
        loop {
            self.work();
            self.now.0 += 10;
            match self.hand().phase().clone() {
                Phase::Betting(_) => {
                    let legal = self.hand().legal().unwrap();
                    let action = decide(&legal, &mut self.rng);
                    self.act(action);
                }
                Phase::Showdown(showdown) => {
                    let first = showdown.to_show[0];
                    if showdown.must_show || showdown.to_show.len() > 1 && !self.rng.next_u32().is_multiple_of(3) {
                        self.show(first);
                    } else {
                        let bytes = self.party(Actor::Seat(first)).muck();
                        self.accepted(&bytes);
                    }
                }
                Phase::Settled(_) | Phase::Void(_) => break,
                waiting => panic!("no party can act in {waiting:?}"),
            }
        }
    }

    /// The operator closes the log, the players agree, and this is the file.
    pub fn finish(&mut self) -> Bundle {
        let (stacks, rake) = self.log.table().settlement().unwrap();
        assert!(matches!(self.issue(LogMessage::Settlement { stacks, rake }), SubmitVerdict::Accepted(_)));
        let checkpoint = self.log.checkpoint().unwrap();
        let agreed = self.parties.iter().filter_map(|party| party.agree(&checkpoint).unwrap()).collect();
        self.log.bundle(agreed).unwrap()
    }
}

/// Mostly calls and checks, with some folds and raises of all sizes.
pub fn any_action(legal: &LegalActions, rng: &mut ChaCha20Rng) -> PlayerAction {
    match (rng.next_u32() % 8, legal.raise) {
        (0, _) if legal.fold => PlayerAction::Fold,
        (1, Some(range)) => PlayerAction::RaiseTo(range.least),
        (2, Some(range)) => {
            let more = rng.next_u64() % (range.most.count() - range.least.count() + 1);
            PlayerAction::RaiseTo(Chips::new(range.least.count() + more))
        }
        (3, Some(range)) if rng.next_u32().is_multiple_of(3) => PlayerAction::RaiseTo(range.most),
        _ if legal.check => PlayerAction::Check,
        _ => PlayerAction::Call,
    }
}

/// A heads-up hand that is checked down and shown by both, in a file.
pub fn checked_down(seed: u64) -> (TestTable, Bundle) {
    let mut table = TestTable::small(seed, &[1_000, 1_000], 1);
    table.check_down();
    while let Some(seat) = table.hand().to_act() {
        table.show(seat);
    }
    let bundle = table.finish();
    (table, bundle)
}
