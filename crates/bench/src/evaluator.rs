//! Compares the hand evaluator with the fastest crate for it, on the same hands in the same run.
//!
//! Both get seven cards in their own form and build what they need from them, as a showdown does. The hands are random,
//! so that neither profits from neighbours that resemble each other. Rounds alternate and the best of each counts.

use std::{
    collections::BTreeMap,
    hint::black_box,
    time::{Duration, Instant},
};

use anyhow::ensure;
use aya_poker::base::{Card as TheirCard, Hand as TheirHand};
use bankroll_poker::{Card, Evaluator};

/// Hands evaluated in a second on one core.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Our evaluator.
    pub ours: f64,
    /// `aya_poker`.
    pub aya_poker: f64,
    /// Random hands in each round.
    pub hands: usize,
}

/// Measures for about this time, after checking that both evaluators order all hands equally.
///
/// # Errors
/// If they do not.
pub fn measure(hands: usize, time: Duration) -> anyhow::Result<Rates> {
    let ours = random_hands(hands);
    let theirs: Vec<[TheirCard; 7]> = ours.iter().map(|cards| cards.map(their_card)).collect();
    let evaluator = Evaluator::get();
    same_order(&ours, &theirs)?;
    let started = Instant::now();
    let mut best = [f64::INFINITY; 2];
    while started.elapsed() < time || best[1].is_infinite() {
        let seconds = [
            seconds(|| ours.iter().map(|cards| u64::from(evaluator.strength(cards).number())).sum()),
            seconds(|| theirs.iter().map(|cards| u64::from(their_rank(cards))).sum()),
        ];
        best = [best[0].min(seconds[0]), best[1].min(seconds[1])];
    }
    let [ours, aya_poker] = best.map(|seconds| hands as f64 / seconds);
    Ok(Rates { ours, aya_poker, hands })
}

fn seconds(work: impl Fn() -> u64) -> f64 {
    let started = Instant::now();
    black_box(work());
    started.elapsed().as_secs_f64()
}

fn random_hands(hands: usize) -> Vec<[Card; 7]> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut deck: Vec<Card> = Card::all().collect();
    let mut seven = || {
        for place in 0..7 {
            deck.swap(place, random.usize(place..52));
        }
        std::array::from_fn(|place| deck[place])
    };
    (0..hands).map(|_| seven()).collect()
}

fn their_card(card: Card) -> TheirCard {
    card.to_string().parse().expect("both write cards the same way")
}

/// The fastest of its ways to build a hand.
fn their_rank(cards: &[TheirCard; 7]) -> u16 {
    let mut hand = TheirHand::new();
    for card in cards {
        hand.insert_unchecked(card);
    }
    aya_poker::poker_rank(&hand).0
}

/// Equal strengths have equal ranks, and greater ones greater.
fn same_order(ours: &[[Card; 7]], theirs: &[[TheirCard; 7]]) -> anyhow::Result<()> {
    let mut ranks = BTreeMap::new();
    for (cards, theirs) in ours.iter().zip(theirs) {
        let rank = their_rank(theirs);
        let known = *ranks.entry(bankroll_poker::strength(cards)).or_insert(rank);
        ensure!(known == rank, "the evaluators disagree about {cards:?}");
    }
    ensure!(
        ranks.values().is_sorted_by(|weaker, stronger| weaker < stronger),
        "the evaluators order hands differently"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_rates_are_of_the_same_hands_in_one_order() {
        let rates = measure(10_000, Duration::ZERO).unwrap();
        assert_eq!(rates.hands, 10_000);
        assert!(rates.ours > 0.0 && rates.aya_poker > 0.0);
    }

    #[test]
    fn hands_that_are_ordered_differently_are_noticed() {
        let ours = random_hands(1_000);
        let mut theirs: Vec<_> = ours.iter().map(|cards| cards.map(their_card)).collect();
        assert!(same_order(&ours, &theirs).is_ok());
        theirs.rotate_left(1);
        assert!(same_order(&ours, &theirs).is_err());
    }
}
