//! Ten thousand random hands go as PokerKit says.
//!
//! Compared at every decision: who acts, what a call costs, the least and the most of a raise, whether folding is
//! allowed, the chips in the middle. Then the pots and who can win them, the order of the showdown, the final stacks.
//!
//! The two are known to differ in six points, and in nothing else:
//! 1. A big blind posted short: our comparison runs under PokerKit's rule, the usual one has its own stories.
//! 2. `PokerKit` asks the only seat with chips left to check, where that decides nothing; the driver passes over it.
//! 3. An all-in below the least bet as the first of a street reopens the betting there, because it is measured against
//!    itself; with us, and in every rule book, only a full bet or raise does.
//! 4. Short all-ins that together reopened the betting are forgotten there when another short one follows; with us what
//!    counts is how far the bet has gone since the seat acted.
//! 5. Odd chips: all to the first winner there, and pots whose losers are out are joined before they are split. With us
//!    each pot is split on its own and odd chips go one by one. The driver pays PokerKit's pots by PokerKit's hands so.
//! 6. The big blind is known there by what was posted, so that the wrong seat begins heads-up with equal blinds, or if
//!    there is no small blind and the ante took the big one. Such hands are not dealt here.

use bankroll_poker::{Action, AllIn, Event, Hand, Legal, Phase, Pot, Refusal, Seat, Standing, Time};
use fastrand::Rng;
use serde_json::{Value, json};

use crate::{deal::Deal, player, pokerkit::PokerKit, run};

const HANDS: u64 = 10_000;
const NOW: Time = Time(0);

#[test]
fn the_first_half_of_ten_thousand_hands_goes_as_pokerkit_says() {
    compare(0);
}

#[test]
fn the_second_half_of_ten_thousand_hands_goes_as_pokerkit_says() {
    compare(1);
}

/// Two processes, because PokerKit is what takes the time.
fn compare(half: u64) {
    let mut pokerkit = PokerKit::start();
    let mut counts = Counts::default();
    for seed in run::rounds(HANDS / 2) {
        let played = Played::random(seed.wrapping_mul(2).wrapping_add(half));
        let answer = pokerkit.ask(&played.order(false));
        Comparison { played: &played, answer: &answer }.check(&mut counts);
    }
    counts.tell(half);
}

/// A hand as we played it, with what we would have allowed at each decision.
pub struct Played {
    seed: u64,
    pub deal: Deal,
    pub events: Vec<Event>,
    decisions: Vec<Decision>,
    /// The pots, and who is to show, when the showdown began.
    showdown: Option<(Vec<Pot>, Vec<Seat>)>,
    pub hand: Hand,
}

/// What we would have allowed.
struct Decision {
    legal: Legal,
    middle: u64,
    /// Whether a raise was refused because the betting was not reopened, and for no other reason.
    not_reopened: bool,
}

impl Decision {
    fn of(hand: &Hand, legal: Legal) -> Self {
        let all_in = Action::RaiseTo(hand.player(legal.seat).unwrap().reach());
        let outcome = hand.apply(&Event::Acted { seat: legal.seat, action: all_in }, NOW);
        let not_reopened = matches!(outcome, Err(Refusal::RaiseNotReopened { .. }));
        Self { legal, middle: hand.in_the_middle().count(), not_reopened }
    }
}

impl Played {
    pub fn random(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let deal = Deal::of_pokerkit(&mut random);
        let hand = Hand::start(deal.snapshot.clone(), NOW);
        let mut played = Self { seed, deal, events: Vec::new(), decisions: Vec::new(), showdown: None, hand };
        while let Some(event) = played.next(&mut random) {
            played.hand = played.hand.apply(&event, NOW).unwrap_or_else(|refusal| panic!("{refusal}, seed {seed}"));
            played.events.push(event);
        }
        played
    }

    fn next(&mut self, random: &mut Rng) -> Option<Event> {
        let hand = &self.hand;
        match hand.phase() {
            Phase::Dealing { .. } => Some(Event::HoleCardsDealt),
            Phase::Betting(_) => {
                let legal = hand.legal().unwrap();
                self.decisions.push(Decision::of(hand, legal));
                Some(Event::Acted { seat: legal.seat, action: player::choose(&legal, random) })
            }
            Phase::Opening { .. } => Some(Event::BoardOpened { cards: self.deal.board(player::next_board(hand)) }),
            Phase::Showdown(showdown) => {
                let seat = showdown.to_show[0];
                // PokerKit burns a side pot that everybody mucked, so only a lone pot is mucked for.
                let may_muck = !self.is_run_out() && !showdown.must_show && hand.pots().len() == 1;
                if self.showdown.is_none() {
                    self.showdown = Some((hand.pots(), showdown.to_show.clone()));
                }
                let mucks = may_muck && random.u8(0..4) == 0;
                Some(if mucks { Event::Mucked { seat } } else { Event::Shown { seat, cards: self.deal.hole(seat) } })
            }
            Phase::Settled(_) | Phase::Void(_) => None,
        }
    }

    /// Whether the board was completed without betting.
    fn is_run_out(&self) -> bool {
        self.hand.players().iter().filter(|player| player.can_bet()).count() <= 1
    }

    fn bet_on_the_river(&self) -> bool {
        let is_board = |event: &Event| matches!(event, Event::BoardOpened { .. });
        let opened = self.events.iter().filter(|event| is_board(event)).count();
        let last = self.events.iter().rposition(is_board);
        opened == 3 && last.is_some_and(|last| matches!(self.events.get(last + 1), Some(Event::Acted { .. })))
    }

    fn number(&self, seat: Seat) -> usize {
        self.hand.players().iter().position(|player| player.seat == seat).unwrap()
    }

    pub fn stacks(&self) -> Vec<u64> {
        self.hand.players().iter().map(|player| player.stack.count()).collect()
    }

    pub fn mucked(&self) -> Vec<usize> {
        let mucked = |number: &usize| matches!(self.hand.players()[*number].standing, Standing::Mucked { .. });
        (0..self.hand.players().len()).filter(mucked).collect()
    }

    /// The hand as the driver is told it.
    pub fn order(&self, phh: bool) -> Value {
        let (snapshot, rules) = (&self.deal.snapshot, self.deal.snapshot.rules());
        let hole = |cards: [bankroll_poker::Card; 2]| cards.map(|card| card.to_string()).concat();
        let step = |event: &Event| match event {
            Event::Acted { action: Action::Fold, .. } => Some(json!(["f"])),
            Event::Acted { action: Action::Check | Action::Call, .. } => Some(json!(["cc"])),
            Event::Acted { action: Action::RaiseTo(to), .. } => Some(json!(["cbr", to.count()])),
            Event::BoardOpened { cards } => {
                Some(json!(["board", cards.iter().map(ToString::to_string).collect::<String>()]))
            }
            Event::Shown { seat, .. } => Some(json!(["show", self.number(*seat)])),
            Event::Mucked { seat } => Some(json!(["muck", self.number(*seat)])),
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

/// What was seen, so that a run that compared little does not look like one that compared much.
#[derive(Default)]
struct Counts {
    hands: u64,
    decisions: u64,
    raises: u64,
    showdowns: u64,
    side_pots: u64,
    odd_chips: u64,
    reopened_there_only: u64,
    reopened_here_only: u64,
}

impl Counts {
    fn tell(&self, half: u64) {
        run::tell(&format!(
            "referee, half {half}: {} hands, {} decisions ({} with a raise open), {} showdowns, {} with side pots, {} with \
             odd chips; reopened only there {}, only here {}",
            self.hands,
            self.decisions,
            self.raises,
            self.showdowns,
            self.side_pots,
            self.odd_chips,
            self.reopened_there_only,
            self.reopened_here_only
        ));
        let excepted = self.reopened_there_only + self.reopened_here_only;
        if self.hands < 1_000 {
            // A short soak: too few to say anything about the mix.
            return;
        }
        assert!(self.showdowns * 5 > self.hands && self.side_pots * 10 > self.hands, "the hands were too tame");
        assert!(excepted * 50 < self.decisions, "exceptions are no longer exceptions");
    }
}

struct Comparison<'a> {
    played: &'a Played,
    answer: &'a Value,
}

impl Comparison<'_> {
    fn check(&self, counts: &mut Counts) {
        assert!(self.answer["error"].is_null(), "{}", self.about(&self.answer["error"]));
        counts.hands += 1;
        let theirs = self.answer["decisions"].as_array().unwrap();
        for (ours, theirs) in self.played.decisions.iter().zip(theirs) {
            self.check_decision(ours, theirs, counts);
        }
        if !self.answer["refused"].is_null() {
            // Only the fourth difference lets us do what PokerKit refuses; the hand cannot be compared further.
            let last = theirs.last().unwrap();
            assert!(forgets_short_all_ins(last), "{}", self.about(&self.answer["refused"]));
            return;
        }
        assert_eq!(self.played.decisions.len(), theirs.len(), "{}", self.about(&json!("number of decisions")));
        if let Some((pots, to_show)) = &self.played.showdown {
            counts.showdowns += 1;
            counts.side_pots += u64::from(pots.len() > 1);
            self.check_showdown(pots, to_show);
        }
        self.check_stacks(counts);
    }

    fn check_decision(&self, decision: &Decision, theirs: &Value, counts: &mut Counts) {
        let Decision { legal: ours, middle, not_reopened } = decision;
        counts.decisions += 1;
        counts.raises += u64::from(ours.raise.is_some());
        let call = ours.call.map_or(0, |call| call.count());
        let common = json!([self.played.number(ours.seat), ours.fold, call, middle]);
        let same = json!([theirs["actor"], theirs["fold"], theirs["call"], theirs["middle"]]);
        assert_eq!(common, same, "{}", self.about(theirs));
        let raise = json!(ours.raise.map(|range| [range.least.count(), range.most.count()]));
        let their_raise = match &theirs["least"] {
            Value::Null => Value::Null,
            least => json!([least, theirs["most"]]),
        };
        let big = self.played.deal.snapshot.rules().big_blind.count();
        if *not_reopened && theirs["completion"].as_u64().unwrap() < big && !their_raise.is_null() {
            counts.reopened_there_only += 1;
        } else if their_raise.is_null() && !raise.is_null() && forgets_short_all_ins(theirs) {
            counts.reopened_here_only += 1;
        } else {
            assert_eq!(raise, their_raise, "{}", self.about(theirs));
        }
    }

    fn check_showdown(&self, pots: &[Pot], to_show: &[Seat]) {
        let number = |seat: &Seat| self.played.number(*seat);
        let pot = |pot: &Pot| json!([pot.amount.count(), pot.eligible.iter().map(number).collect::<Vec<_>>()]);
        let ours: Vec<Value> = pots.iter().map(pot).collect();
        assert_eq!(json!(ours), self.answer["pots"], "{}", self.about(&json!("pots")));
        // After betting on the river hands are shown in the same order; the last one need not be shown at all.
        let shows = self.answer["shows"].as_array().unwrap();
        if self.played.bet_on_the_river() {
            let order: Vec<Value> = to_show.iter().map(number).map(|number| json!(number)).collect();
            assert_eq!(shows.as_slice(), &order[..shows.len()], "{}", self.about(&json!("order")));
        }
    }

    fn check_stacks(&self, counts: &mut Counts) {
        let ours = self.played.stacks();
        let read = |stacks: &Value| serde_json::from_value::<Vec<u64>>(stacks.clone()).unwrap();
        let last = read(&self.answer["final"]);
        if self.answer["odd"] == true {
            counts.odd_chips += 1;
            let few = ours.len() as u64 * 10;
            let close = ours.iter().zip(&last).all(|(ours, theirs)| ours.abs_diff(*theirs) < few);
            assert!(close, "{ours:?} {last:?} {}", self.about(&json!("odd chips")));
        } else {
            assert_eq!(ours, last, "{}", self.about(&json!("final stacks")));
        }
        if !self.answer["paid"].is_null() {
            assert_eq!(ours, read(&self.answer["paid"]), "{}", self.about(&json!("stacks, pot by pot")));
        }
    }

    fn about(&self, what: &Value) -> String {
        let Played { seed, events, deal, .. } = self.played;
        format!("{what}\nhand seed {seed}\n{:?}\n{events:?}", deal.snapshot)
    }
}

/// The fourth difference: something short follows what had reopened the betting to a seat that has acted.
fn forgets_short_all_ins(theirs: &Value) -> bool {
    let (short, completion) = (theirs["short_all_ins"].as_u64().unwrap(), theirs["completion"].as_u64().unwrap());
    theirs["acted"] == true && short > 0 && short < completion
}
