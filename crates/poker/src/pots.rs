//! Pots: who can win how much, from what everybody has put in.
//!
//! Chips of folded seats count in full; a folded seat only cannot win them back. The pots and what is returned always
//! make up exactly what was put in.

use serde::{Deserialize, Serialize};

use crate::{Chips, Seat};

/// What a seat has put into the hand so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stake {
    /// The seat.
    pub seat: Seat,
    /// All of its chips in the middle: ante, blind, bets of every street.
    pub total: Chips,
    /// Whether it can no longer win.
    pub folded: bool,
}

/// Chips that some seats can win.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pot {
    /// How much it is.
    pub amount: Chips,
    /// Who can win it, in the order the stakes were given.
    pub eligible: Vec<Seat>,
}

/// The main pot and the side pots, main pot first.
///
/// Each level that a seat still in reached ends a layer; layers that the same seats can win are one pot. What folded
/// seats put above the highest level joins the last pot.
#[must_use]
pub fn pots(stakes: &[Stake]) -> Vec<Pot> {
    let mut levels: Vec<Chips> = stakes.iter().filter(|stake| !stake.folded).map(|stake| stake.total).collect();
    levels.sort_unstable();
    levels.dedup();
    levels.retain(|level| !level.is_zero());
    if let Some(top) = levels.last_mut() {
        *top = Chips::MAX;
    }
    let mut pots: Vec<Pot> = Vec::new();
    let mut floor = Chips::ZERO;
    let highest = stakes.iter().filter(|stake| !stake.folded).map(|stake| stake.total).max().unwrap_or(Chips::ZERO);
    for level in levels {
        let layer = |stake: &Stake| stake.total.min(level).above(floor);
        let amount = Chips::sum(stakes.iter().map(layer));
        let reaches = |stake: &&Stake| !stake.folded && stake.total >= level.min(highest);
        let eligible: Vec<Seat> = stakes.iter().filter(reaches).map(|stake| stake.seat).collect();
        match pots.last_mut().filter(|pot| pot.eligible == eligible) {
            Some(pot) => pot.amount = pot.amount.plus(amount),
            None => pots.push(Pot { amount, eligible }),
        }
        floor = level;
    }
    pots
}

/// What nobody has called: the part of the largest stake above the second largest, folded ones included, and whose.
#[must_use]
pub fn uncalled(stakes: &[Stake]) -> Option<(Seat, Chips)> {
    let largest = stakes.iter().max_by_key(|stake| stake.total)?;
    let others = stakes.iter().filter(|stake| stake.seat != largest.seat);
    let second = others.map(|stake| stake.total).max().unwrap_or(Chips::ZERO);
    let excess = largest.total.above(second);
    (!excess.is_zero()).then_some((largest.seat, excess))
}
