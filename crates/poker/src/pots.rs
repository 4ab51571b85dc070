//! Pots: which seats can win how much, from what all seats have put in.
//!
//! Chips of folded seats count in full; a folded seat only cannot win them back. The pots and what is returned always
//! make up exactly what was put in.

use serde::{Deserialize, Serialize};

use crate::{Chips, Seat};

/// What a seat has put into the hand so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stake {
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

/// The main pot and the side pots of one hand, main pot first.
///
/// Each level that a seat still in has reached ends a pot, and all chips up to it are in there. What folded
/// seats put above the highest level joins the last pot.
#[must_use]
pub fn pots(stakes: &[Stake]) -> Vec<Pot> {
    let still_in = || stakes.iter().filter(|stake| !stake.folded && !stake.total.is_zero());
    let mut levels: Vec<Chips> = still_in().map(|stake| stake.total).collect();
    levels.sort_unstable();
    levels.dedup();
    let highest = levels.last().copied();
    let mut floor = Chips::ZERO;
    let pot = |level: Chips| {
        let ceiling = if Some(level) == highest { Chips::MAX } else { level };
        let amount = Chips::sum(stakes.iter().map(|stake| stake.total.min(ceiling).above(floor)));
        floor = level;
        Pot { amount, eligible: still_in().filter(|stake| stake.total >= level).map(|stake| stake.seat).collect() }
    };
    levels.into_iter().map(pot).collect()
}

/// The uncalled chips: the part of the largest stake above the second largest, folded ones included, and their seat.
#[must_use]
pub fn uncalled(stakes: &[Stake]) -> Option<(Seat, Chips)> {
    let largest = stakes.iter().max_by_key(|stake| stake.total)?;
    let others = stakes.iter().filter(|stake| stake.seat != largest.seat);
    let second = others.map(|stake| stake.total).max().unwrap_or(Chips::ZERO);
    let excess = largest.total.above(second);
    (!excess.is_zero()).then_some((largest.seat, excess))
}
