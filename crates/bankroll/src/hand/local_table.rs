//! A table in one process: an operator, players and shufflers as separate objects, each with its own secrets and its
//! own copy of the state. They exchange only envelopes and receipts.
//!
//! Every secret and every decision follows from one seed, so that a hand can be played again; such keys are for
//! demonstrations only.

use anyhow::{Context, bail};
use bankroll_deck::{Curve, MasterSecret, Parameters, Secp256k1, SeenBlindings};
use bankroll_poker::{
    Chips, HandTime, LegalActions, Phase, PlayerAction, Rake, Seat, SeatStack, Snapshot, TableRules,
    log::{
        Actor, Bundle, EventReceipt, HandConfig, HandLog, MessageSigner, Participant, Party, SubmitVerdict, VERSION,
    },
};
use fastrand::Rng;
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

/// The stack of every player at the start, and again when it is gone.
const STACK: u64 = 1_000;
/// When the first hand begins, in milliseconds since 1970; every message takes ten more.
const BEGAN: u64 = 1_760_000_000_000;

/// A player or shuffler with its long-lived secrets.
struct Person {
    name: String,
    signer: MessageSigner,
    master: MasterSecret,
}

pub struct LocalTable {
    rng: ChaCha20Rng,
    dice: Rng,
    operator: MessageSigner,
    players: Vec<Person>,
    shufflers: Vec<Person>,
    stacks: Vec<u64>,
    parameters: Parameters<Secp256k1>,
    now: HandTime,
    hands: u64,
}

/// A hand under way.
struct HandInProgress {
    log: HandLog<Secp256k1>,
    parties: Vec<Party<Secp256k1>>,
}

impl LocalTable {
    pub fn new(seed: u64, seats: u8, shufflers: u8) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let operator = MessageSigner::generate(&mut rng);
        let mut person = |what: &str, number: u8| Person {
            name: format!("{what} {number}"),
            signer: MessageSigner::generate(&mut rng),
            master: MasterSecret::generate(&mut rng),
        };
        let players = (1..=seats).map(|number| person("player", number)).collect();
        let shufflers = (1..=shufflers).map(|number| person("shuffler", number)).collect();
        Self {
            operator,
            players,
            shufflers,
            stacks: vec![STACK; seats.into()],
            parameters: Parameters::standard(),
            now: HandTime(BEGAN),
            hands: 0,
            dice: Rng::with_seed(seed),
            rng,
        }
    }

    /// Plays the next hand to its end; the file of it.
    pub fn play(&mut self) -> anyhow::Result<Bundle> {
        self.hands += 1;
        self.stacks.iter_mut().filter(|stack| **stack == 0).for_each(|stack| *stack = STACK);
        let config = self.config()?;
        let mut played = self.sit_down(&config)?;
        while !played.log.table().hand().phase().is_over() {
            self.work(&mut played)?;
            self.decide(&mut played)?;
        }
        let settled = played.log.settle(&self.parameters, self.now);
        self.deliver(&mut played, settled)?;
        let checkpoint = played.log.checkpoint().context("a settled hand has a checkpoint")?;
        let mut agreed = Vec::new();
        for party in &played.parties {
            agreed.extend(party.agree(&checkpoint)?);
        }
        let stacks = checkpoint.page.stacks.iter().map(|(_, chips)| chips.count());
        self.stacks = stacks.collect();
        played.log.bundle(agreed).context("a settled hand is a file")
    }

    fn config(&self) -> anyhow::Result<HandConfig> {
        let seats: Vec<SeatStack> = (1..)
            .zip(&self.stacks)
            .map(|(number, stack)| SeatStack { seat: Seat(number), stack: Chips::new(*stack) })
            .collect();
        let button = seats[(self.hands - 1) as usize % seats.len()].seat;
        let rake = Rake { bps: 250, cap: Some(Chips::new(30)), no_flop_no_drop: true };
        let rules = TableRules { rake, ..TableRules::cash(Chips::new(5), Chips::new(10)) };
        let named = |people: &[Person]| {
            let participant = |person: &Person| Participant { name: person.name.clone(), key: person.signer.key() };
            people.iter().map(participant).collect()
        };
        Ok(HandConfig {
            version: VERSION,
            deployment: "demonstration".into(),
            game: "table 1".into(),
            hand: self.hands.to_string(),
            curve: Secp256k1::NAME.into(),
            cards: bankroll_poker::DECK,
            snapshot: Snapshot::new(rules, seats, button)?,
            operator: self.operator.key(),
            players: named(&self.players),
            shufflers: named(&self.shufflers),
        })
    }

    fn sit_down(&self, config: &HandConfig) -> anyhow::Result<HandInProgress> {
        let log = HandLog::start(config, self.operator.clone(), self.now, SeenBlindings::default())?;
        let start = &log.entries()[0];
        let people = self.shufflers.iter().chain(&self.players);
        let mut parties = Vec::new();
        for (actor, person) in config.actors().zip(people) {
            let (envelope, receipt) = (&start.envelope.0, &start.receipt);
            parties.push(Party::join(actor, person.signer.clone(), &person.master, envelope, receipt)?);
        }
        Ok(HandInProgress { log, parties })
    }

    /// All parties send their duties until none is left.
    fn work(&mut self, played: &mut HandInProgress) -> anyhow::Result<()> {
        loop {
            let before = played.log.entries().len();
            for place in 0..played.parties.len() {
                for bytes in played.parties[place].duties(&self.parameters, &mut self.rng) {
                    self.send(played, &bytes)?;
                }
            }
            if played.log.entries().len() == before {
                return Ok(());
            }
        }
    }

    /// The seat to act decides.
    fn decide(&mut self, played: &mut HandInProgress) -> anyhow::Result<()> {
        let hand = played.log.table().hand();
        let Some(seat) = hand.to_act() else { return Ok(()) };
        let last_to_show = matches!(hand.phase(), Phase::Showdown(showdown) if showdown.to_show.len() == 1);
        let legal = hand.legal();
        let party = played
            .parties
            .iter()
            .find(|party| party.actor() == Actor::Seat(seat))
            .context("the seat to act has no party")?;
        let bytes = match legal {
            Some(legal) => party.decide(action(&legal, &mut self.dice)),
            // The last player may be beaten and muck; the others mostly show.
            None if !last_to_show && self.dice.u8(0..4) > 0 => {
                party.show(&mut self.rng).context("a dealt hand can be shown")?
            }
            None if self.dice.bool() => party.show(&mut self.rng).context("a dealt hand can be shown")?,
            None => party.muck(),
        };
        self.send(played, &bytes)
    }

    fn send(&mut self, played: &mut HandInProgress, bytes: &[u8]) -> anyhow::Result<()> {
        self.now.0 += 10;
        let verdict = played.log.submit(&self.parameters, bytes, self.now);
        self.deliver(played, verdict)
    }

    /// All parties receive what the operator accepted, and check it.
    fn deliver(&self, played: &mut HandInProgress, verdict: SubmitVerdict) -> anyhow::Result<()> {
        let receipt: EventReceipt = match verdict {
            SubmitVerdict::Accepted(receipt) | SubmitVerdict::Repeated(receipt) => receipt,
            SubmitVerdict::Refused(rejection) => bail!("an honest message was refused: {rejection}"),
        };
        let entry = played.log.entries().last().context("the log has an event")?;
        for party in &mut played.parties {
            party.receive(&self.parameters, &entry.envelope.0, &receipt)?;
        }
        Ok(())
    }
}

fn action(legal: &LegalActions, dice: &mut Rng) -> PlayerAction {
    match (dice.u8(0..12), legal.raise) {
        (0 | 1, _) if legal.fold => PlayerAction::Fold,
        (2 | 3, Some(range)) => PlayerAction::RaiseTo(range.least),
        (4, Some(range)) => PlayerAction::RaiseTo(Chips::new(dice.u64(range.least.count()..=range.most.count()))),
        _ if legal.check => PlayerAction::Check,
        _ => PlayerAction::Call,
    }
}
