//! A random hand under PokerKit's rules, played by us, and its form for the driver.

use bankroll_poker::{
    AllIn, Hand, HandEvent, HandRefusal, HandTime, LegalActions, Phase, PlayerAction, Pot, Seat, SeatStatus,
};
use fastrand::Rng;
use serde_json::{Value, json};

use crate::{deal::TestDeal, player};

const NOW: HandTime = HandTime(0);

/// A hand as we played it, with what we would have allowed at each decision.
pub struct PlayedHand {
    pub seed: u64,
    pub deal: TestDeal,
    pub events: Vec<HandEvent>,
    pub decisions: Vec<Decision>,
    /// The pots, and who is to show, when the showdown began.
    pub showdown: Option<(Vec<Pot>, Vec<Seat>)>,
    pub hand: Hand,
}

/// What we would have allowed.
pub struct Decision {
    pub legal: LegalActions,
    pub middle: u64,
    /// Whether a raise was refused because the betting was not reopened, and for no other reason.
    pub not_reopened: bool,
}

impl Decision {
    fn of(hand: &Hand, legal: LegalActions) -> Self {
        let all_in = PlayerAction::RaiseTo(hand.player(legal.seat).unwrap().reach());
        let outcome = hand.apply(&HandEvent::Acted { seat: legal.seat, action: all_in }, NOW);
        let not_reopened = matches!(outcome, Err(HandRefusal::RaiseNotReopened { .. }));
        Self { legal, middle: hand.in_the_middle().count(), not_reopened }
    }
}

impl PlayedHand {
    pub fn random(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let deal = TestDeal::of_pokerkit(&mut random);
        let hand = Hand::start(deal.snapshot.clone(), NOW);
        let mut played = Self { seed, deal, events: Vec::new(), decisions: Vec::new(), showdown: None, hand };
        while let Some(event) = played.next(&mut random) {
            played.hand = played.hand.apply(&event, NOW).unwrap_or_else(|refusal| panic!("{refusal}, seed {seed}"));
            played.events.push(event);
        }
        played
    }

    fn next(&mut self, random: &mut Rng) -> Option<HandEvent> {
        let hand = &self.hand;
        match hand.phase() {
            Phase::Dealing { .. } => Some(HandEvent::HoleCardsDealt),
            Phase::Betting(_) => {
                let legal = hand.legal().unwrap();
                self.decisions.push(Decision::of(hand, legal));
                Some(HandEvent::Acted { seat: legal.seat, action: player::choose(&legal, random) })
            }
            Phase::Opening { .. } => Some(HandEvent::BoardOpened { cards: self.deal.board(player::next_board(hand)) }),
            Phase::Showdown(showdown) => {
                let seat = showdown.to_show[0];
                // PokerKit burns a side pot that all seats mucked, so only a lone pot is mucked for.
                let may_muck = !self.is_run_out() && !showdown.must_show && hand.pots().len() == 1;
                if self.showdown.is_none() {
                    self.showdown = Some((hand.pots(), showdown.to_show.clone()));
                }
                let mucks = may_muck && random.u8(0..4) == 0;
                Some(if mucks {
                    HandEvent::Mucked { seat }
                } else {
                    HandEvent::Shown { seat, cards: self.deal.hole(seat) }
                })
            }
            Phase::Settled(_) | Phase::Void(_) => None,
        }
    }

    /// Whether the board was completed without betting.
    fn is_run_out(&self) -> bool {
        self.hand.players().iter().filter(|player| player.can_bet()).count() <= 1
    }

    pub fn bet_on_the_river(&self) -> bool {
        let is_board = |event: &HandEvent| matches!(event, HandEvent::BoardOpened { .. });
        let opened = self.events.iter().filter(|event| is_board(event)).count();
        let last = self.events.iter().rposition(is_board);
        opened == 3 && last.is_some_and(|last| matches!(self.events.get(last + 1), Some(HandEvent::Acted { .. })))
    }

    pub fn number(&self, seat: Seat) -> usize {
        self.hand.players().iter().position(|player| player.seat == seat).unwrap()
    }

    pub fn stacks(&self) -> Vec<u64> {
        self.hand.players().iter().map(|player| player.stack.count()).collect()
    }

    pub fn mucked(&self) -> Vec<usize> {
        let mucked = |number: &usize| matches!(self.hand.players()[*number].status, SeatStatus::Mucked { .. });
        (0..self.hand.players().len()).filter(mucked).collect()
    }

    /// The hand in the driver's format.
    pub fn order(&self, phh: bool) -> Value {
        let (snapshot, rules) = (&self.deal.snapshot, self.deal.snapshot.rules());
        let hole = |cards: [bankroll_poker::Card; 2]| cards.map(|card| card.to_string()).concat();
        let step = |event: &HandEvent| match event {
            HandEvent::Acted { action: PlayerAction::Fold, .. } => Some(json!(["f"])),
            HandEvent::Acted { action: PlayerAction::Check | PlayerAction::Call, .. } => Some(json!(["cc"])),
            HandEvent::Acted { action: PlayerAction::RaiseTo(to), .. } => Some(json!(["cbr", to.count()])),
            HandEvent::BoardOpened { cards } => {
                Some(json!(["board", cards.iter().map(ToString::to_string).collect::<String>()]))
            }
            HandEvent::Shown { seat, .. } => Some(json!(["show", self.number(*seat)])),
            HandEvent::Mucked { seat } => Some(json!(["muck", self.number(*seat)])),
            _ => None,
        };
        json!({
            "tournament": rules.all_in == AllIn::BeforeRunOut,
            "ante": rules.ante.count(),
            "small": rules.small_blind.count(),
            "big": rules.big_blind.count(),
            "stacks": snapshot.in_order().map(|seated| seated.stack.count()).collect::<Vec<_>>(),
            "hole": snapshot.in_order().map(|seated| hole(self.deal.hole(seated.seat))).collect::<Vec<_>>(),
            "steps": self.events.iter().filter_map(step).collect::<Vec<_>>(),
            "mucked": self.mucked(),
            "phh": phh,
        })
    }
}
