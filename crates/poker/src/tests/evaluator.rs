//! The evaluator on every hand there is.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::pedantic,
    reason = "a test that panics has said what it has to say"
)]

use std::thread;

use aya_poker::base::Hand as Referee;

use super::describe::{Description, of_ranks, of_suited};
use super::tables::{WEIGHTS, choices, descriptions, sum_of};
use super::{Evaluator, HandClass, Strength, strength};
use crate::Card;

fn check(cards: &str, class: HandClass, number: u16) {
    let cards: [Card; 7] = Card::parse_many(cards).unwrap().try_into().unwrap();
    let strength = strength(&cards);
    assert_eq!((strength.class(), strength.number()), (class, number), "{cards:?}");
}

#[test]
fn the_weakest_and_the_strongest_of_each_class() {
    // Of seven cards the two weakest are left out, so the weakest hand of seven is nine high.
    check("2c3d4h5s7c8d9h", HandClass::HighCard, 48);
    check("AsKsQdJh9c8d7h", HandClass::HighCard, 1276);
    check("2c2d3h4s5c7d8h", HandClass::Pair, 1295);
    check("AsAhKdQcJs9d8c", HandClass::Pair, 4136);
    check("AsAhKdKcQsQd2c", HandClass::TwoPair, 4994);
    check("AsAhAdKcQs9d8c", HandClass::Trips, 5852);
    check("As2d3h4c5s9d9c", HandClass::Straight, 5853);
    check("AsKdQhJcTs9d8c", HandClass::Straight, 5862);
    check("2c3c4c5c7cAdKd", HandClass::Flush, 5863);
    check("AsKsQsJs9s8s7s", HandClass::Flush, 7139);
    check("AsAhAdKcKsKdQc", HandClass::FullHouse, 7295);
    check("AsAhAdAcKsKdKc", HandClass::Quads, 7451);
    check("As2s3s4s5sAdAc", HandClass::StraightFlush, 7452);
    check("AsKsQsJsTs9s8s", HandClass::StraightFlush, 7461);
}

#[test]
fn a_straight_flush_counts_only_if_the_straight_is_suited() {
    check("AsKsQsJs9sTd2c", HandClass::Flush, 7139);
    check("6s5s4s3s2sAs7d", HandClass::StraightFlush, 7453);
}

#[test]
fn every_choice_of_seven_ranks_has_a_sum_of_its_own() {
    let mut sums: Vec<u32> = choices(7).iter().map(sum_of).collect();
    sums.sort_unstable();
    sums.dedup();
    assert_eq!(sums.len(), 49_205);
    assert_eq!(sums.last(), Some(&(4 * WEIGHTS[12] + 3 * WEIGHTS[11])));
}

#[test]
fn there_are_7462_strengths() {
    let all = descriptions();
    assert_eq!(all.len(), 7_462);
    let of = |class| all.iter().filter(|description| description.class == class).count();
    let counts = HandClass::ALL.map(of);
    assert_eq!(counts, [1277, 2860, 858, 858, 10, 1277, 156, 156, 10]);
    assert_eq!(counts, HandClass::ALL.map(|class| usize::from(class.strengths())));
}

/// The numbers of every book on the game.
#[test]
fn all_2598960_hands_of_five_cards() {
    let mut counts = [0_u32; 9];
    for_each_choice::<5>(0..52, |cards| counts[describe(cards).class as usize] += 1);
    assert_eq!(counts, [1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 40]);
    assert_eq!(counts.iter().sum::<u32>(), 2_598_960);
}

/// Counted into the nine classes, and each in the same place of the order as an evaluator written by others has it.
#[test]
fn all_133784560_hands_of_seven_cards() {
    let halves = thread::scope(|scope| {
        // The lowest card decides how many hands follow; these two shares are about equal.
        let halves = [0..5, 5..52].map(|lowest| scope.spawn(move || count_sevens(lowest)));
        halves.map(|half| half.join().unwrap())
    });
    let mut classes = [0_u32; 9];
    let mut referee = vec![None; usize::from(Strength::COUNT)];
    for (counts, ranks) in halves {
        classes.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        for (known, rank) in referee.iter_mut().zip(ranks) {
            assert!(known.is_none() || rank.is_none() || *known == rank, "two ranks for one strength");
            *known = known.or(rank);
        }
    }
    assert_eq!(
        classes,
        [23_294_460, 58_627_800, 31_433_400, 6_461_620, 6_180_020, 4_047_644, 3_473_184, 224_848, 41_584]
    );
    assert_eq!(classes.iter().sum::<u32>(), 133_784_560);
    let ranks: Vec<u16> = referee.into_iter().flatten().collect();
    assert_eq!(ranks.len(), 4_824, "seven cards make so many different best fives");
    assert!(ranks.is_sorted_by(|weaker, stronger| weaker < stronger), "the referee orders them otherwise");
}

/// The plain way, card by card, on a sample: the best of the 21 hands of five.
#[test]
fn seven_cards_are_worth_their_best_five() {
    let seed = crate::tests::seed();
    let mut random = fastrand::Rng::with_seed(seed);
    let order = descriptions();
    for _ in 0..20_000 {
        let mut deck: Vec<Card> = Card::all().collect();
        random.shuffle(&mut deck);
        let cards: [Card; 7] = deck[..7].try_into().unwrap();
        let mut best = None;
        for_each_choice::<5>(0..7, |five| {
            best = best.max(Some(describe(five.map(|place| cards[usize::from(place.index())]))));
        });
        let expected = order.binary_search(&best.unwrap()).unwrap();
        assert_eq!(usize::from(strength(&cards).number()), expected, "{cards:?}, seed {seed}");
    }
}

/// How many hands are of each class, and which rank the referee gives to each strength.
fn count_sevens(lowest: std::ops::Range<u8>) -> ([u32; 9], Vec<Option<u16>>) {
    let evaluator = Evaluator::get();
    let theirs: Vec<aya_poker::base::Card> = Card::all().map(|card| card.to_string().parse().unwrap()).collect();
    let mut strengths = vec![0_u32; usize::from(Strength::COUNT)];
    let mut referee: Vec<Option<u16>> = vec![None; usize::from(Strength::COUNT)];
    for first in lowest {
        let mut hand = Referee::new();
        hand.insert_unchecked(&theirs[usize::from(first)]);
        for_each_choice::<6>(first + 1..52, |[b, c, d, e, f, g]| {
            let mut hand = hand;
            [b, c, d, e, f, g].iter().for_each(|card| hand.insert_unchecked(&theirs[usize::from(card.index())]));
            let ours = usize::from(evaluator.strength(&[Card::from_index(first).unwrap(), b, c, d, e, f, g]).number());
            let rank = aya_poker::poker_rank(&hand).0;
            strengths[ours] += 1;
            assert_eq!(*referee[ours].get_or_insert(rank), rank, "{first} {b} {c} {d} {e} {f} {g}");
        });
    }
    let mut classes = [0; 9];
    for (number, count) in (0..).zip(strengths) {
        classes[Strength(number).class() as usize] += count;
    }
    (classes, referee)
}

fn describe(cards: [Card; 5]) -> Description {
    let suited = cards.iter().all(|card| card.suit() == cards[0].suit());
    if suited {
        return of_suited(cards.iter().fold(0, |mask, card| mask | 1 << card.rank().index()));
    }
    let mut counts = [0; 13];
    cards.iter().for_each(|card| counts[usize::from(card.rank().index())] += 1);
    of_ranks(&counts)
}

/// Every choice of so many cards with indexes in the range, in ascending order.
fn for_each_choice<const N: usize>(from: std::ops::Range<u8>, mut each: impl FnMut([Card; N])) {
    fn go<const N: usize>(
        from: std::ops::Range<u8>,
        at: usize,
        chosen: &mut [Card; N],
        each: &mut impl FnMut([Card; N]),
    ) {
        for index in from.clone() {
            chosen[at] = Card::from_index(index).unwrap();
            if at + 1 == N {
                each(*chosen);
            } else {
                go(index + 1..from.end, at + 1, chosen, each);
            }
        }
    }
    go(from, 0, &mut [Card::from_index(0).unwrap(); N], &mut each);
}
