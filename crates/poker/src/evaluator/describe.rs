//! What a hand is, worked out from the definition of the game: slow and plain. The tables are filled from it.

use super::strength::Class;

/// A class and what decides between two hands of it: the ranks that matter, most important first. The derived order is
/// the order of hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Description {
    pub class: Class,
    ties: [u8; 5],
}

/// How many cards there are of each rank.
pub(super) type Counts = [u8; 13];

/// The best five of at least five cards, if no five of them are of one suit.
pub(super) fn of_ranks(counts: &Counts) -> Description {
    let straight = straight_in(mask_of(counts));
    let with = |least: u8, except: &[u8]| {
        (0..13_u8).rev().zip(counts.iter().rev()).filter(move |(_, count)| **count >= least).map(|(rank, _)| rank).find(
            {
                let except = except.to_vec();
                move |rank| !except.contains(rank)
            },
        )
    };
    let kickers = |made: &[u8]| {
        let mut ties = [0; 5];
        let singles = (0..13_u8).rev().zip(counts.iter().rev()).filter(|(_, count)| **count > 0).map(|(rank, _)| rank);
        let ranks = made.iter().copied().chain(singles.filter(|rank| !made.contains(rank)));
        ties.iter_mut().zip(ranks).for_each(|(tie, rank)| *tie = rank);
        ties
    };
    // Of the ranks that complete the five cards only so many count.
    let described = |class, made: &[u8], kept: usize| {
        let mut ties = kickers(made);
        ties.iter_mut().skip(kept).for_each(|tie| *tie = 0);
        Description { class, ties }
    };
    if let Some(four) = with(4, &[]) {
        return described(Class::Quads, &[four], 2);
    }
    let three = with(3, &[]);
    if let Some((three, two)) = three.and_then(|three| Some((three, with(2, &[three])?))) {
        return described(Class::FullHouse, &[three, two], 2);
    }
    if let Some(top) = straight {
        return Description { class: Class::Straight, ties: [top, 0, 0, 0, 0] };
    }
    if let Some(three) = three {
        return described(Class::Trips, &[three], 3);
    }
    match with(2, &[]) {
        None => described(Class::HighCard, &[], 5),
        Some(high) => match with(2, &[high]) {
            None => described(Class::Pair, &[high], 4),
            Some(low) => described(Class::TwoPair, &[high, low], 3),
        },
    }
}

/// The best five of at least five cards of one suit, given as a bit for each rank.
pub(super) fn of_suited(mask: u16) -> Description {
    if let Some(top) = straight_in(mask) {
        return Description { class: Class::StraightFlush, ties: [top, 0, 0, 0, 0] };
    }
    let mut ties = [0; 5];
    let ranks = (0..13_u8).rev().filter(|rank| mask & bit(*rank) != 0);
    ties.iter_mut().zip(ranks).for_each(|(tie, rank)| *tie = rank);
    Description { class: Class::Flush, ties }
}

/// A bit for each rank that is there.
pub(super) fn mask_of(counts: &Counts) -> u16 {
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
