//! What a hand is, worked out from the definition of the game: slow and plain. The tables are filled from it.

use super::strength::HandClass;

/// A class and what decides between two hands of it: the ranks that matter, most important first. The derived order is
/// the order of hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Description {
    pub class: HandClass,
    ties: [u8; 5],
}

/// How many cards there are of each rank.
pub(super) type RankCounts = [u8; 13];

/// The best five of at least five cards, if no five of them are of one suit.
pub(super) fn of_ranks(counts: &RankCounts) -> Description {
    let described = |class, made: &[u8], decide: usize| Description { class, ties: ties(counts, made, decide) };
    if let Some(four) = highest(counts, 4, None) {
        return described(HandClass::Quads, &[four], 2);
    }
    let three = highest(counts, 3, None);
    let pair = highest(counts, 2, three);
    if let (Some(three), Some(pair)) = (three, pair) {
        return described(HandClass::FullHouse, &[three, pair], 2);
    }
    if let Some(top) = straight_in(mask_of(counts)) {
        return Description { class: HandClass::Straight, ties: [top, 0, 0, 0, 0] };
    }
    if let Some(three) = three {
        return described(HandClass::Trips, &[three], 3);
    }
    match (pair, highest(counts, 2, pair)) {
        (Some(high), Some(low)) => described(HandClass::TwoPair, &[high, low], 3),
        (Some(pair), None) => described(HandClass::Pair, &[pair], 4),
        (None, _) => described(HandClass::HighCard, &[], 5),
    }
}

/// The highest rank of which there are so many, other than this one.
fn highest(counts: &RankCounts, least: u8, except: Option<u8>) -> Option<u8> {
    ranks_down(counts).find(|(rank, count)| *count >= least && Some(*rank) != except).map(|(rank, _)| rank)
}

/// The ranks that made the hand and then the highest others, as many as decide.
fn ties(counts: &RankCounts, made: &[u8], decide: usize) -> [u8; 5] {
    let others = ranks_down(counts).filter(|(rank, count)| *count > 0 && !made.contains(rank)).map(|(rank, _)| rank);
    let mut ties = [0; 5];
    ties.iter_mut().zip(made.iter().copied().chain(others).take(decide)).for_each(|(tie, rank)| *tie = rank);
    ties
}

/// From the ace down, how many there are of each rank.
fn ranks_down(counts: &RankCounts) -> impl Iterator<Item = (u8, u8)> {
    (0..13_u8).zip(counts.iter().copied()).rev()
}

/// The best five of at least five cards of one suit, given as a bit for each rank.
pub(super) fn of_suited(mask: u16) -> Description {
    if let Some(top) = straight_in(mask) {
        return Description { class: HandClass::StraightFlush, ties: [top, 0, 0, 0, 0] };
    }
    let mut ties = [0; 5];
    let ranks = (0..13_u8).rev().filter(|rank| mask & bit(*rank) != 0);
    ties.iter_mut().zip(ranks).for_each(|(tie, rank)| *tie = rank);
    Description { class: HandClass::Flush, ties }
}

/// A bit for each rank that is there.
pub(super) fn mask_of(counts: &RankCounts) -> u16 {
    (0..13_u8).zip(counts).filter(|(_, count)| **count > 0).fold(0, |mask, (rank, _)| mask | bit(rank))
}

/// The top rank of the best straight. The wheel, with the ace below the two, has the five on top.
fn straight_in(mask: u16) -> Option<u8> {
    let run = |top: u8| (0..5_u8).all(|below| top.checked_sub(below).is_some_and(|rank| mask & bit(rank) != 0));
    let wheel = [12, 0, 1, 2, 3].iter().all(|rank| mask & bit(*rank) != 0);
    (4..13_u8).rev().find(|top| run(*top)).or(wheel.then_some(3))
}

fn bit(rank: u8) -> u16 {
    1_u16.wrapping_shl(u32::from(rank))
}
