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

use bankroll_poker::{Pot, Seat};
use serde_json::{Value, json};

use crate::{
    played::{Decision, PlayedHand},
    pokerkit::PokerKit,
    run,
};

const HANDS: u64 = 10_000;

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
        let played = PlayedHand::random(seed.wrapping_mul(2).wrapping_add(half));
        let answer = pokerkit.ask(&played.order(false));
        Comparison { played: &played, answer: &answer }.check(&mut counts);
    }
    counts.print_line(half);
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
    fn print_line(&self, half: u64) {
        run::print_line(&format!(
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
    played: &'a PlayedHand,
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
        let PlayedHand { seed, events, deal, .. } = self.played;
        format!("{what}\nhand seed {seed}\n{:?}\n{events:?}", deal.snapshot)
    }
}

/// The fourth difference: something short follows what had reopened the betting to a seat that has acted.
fn forgets_short_all_ins(theirs: &Value) -> bool {
    let (short, completion) = (theirs["short_all_ins"].as_u64().unwrap(), theirs["completion"].as_u64().unwrap());
    theirs["acted"] == true && short > 0 && short < completion
}
