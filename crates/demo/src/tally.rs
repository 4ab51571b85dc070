//! Counts of what has happened in the games.

use std::collections::BTreeMap;

use bankroll_ledger::{Amount, Name, Rejection};

#[derive(Clone, Debug, Default)]
pub struct GameTally {
    /// Requests that were applied; replays do not count.
    pub transfers: u64,
    /// Players' payments that were credited.
    pub deposits: u64,
    pub spawns: u64,
    pub pellets: u64,
    pub recycled: u64,
    pub exits: u64,
    /// A player who left and requested a payout.
    pub left: Option<Name>,
    /// Players whose mass was returned to their balance when the arena closed.
    pub returns: u64,
    /// Requests that were sent again and got the stored answer.
    pub replayed: u64,
    /// Calls that were refused because the queue was full, and repeated.
    pub busy: u64,
    pub rejected: BTreeMap<&'static str, u64>,
    /// The players of each game.
    pub crowds: BTreeMap<usize, Crowd>,
    /// What players have paid in, and requested as payouts.
    pub paid_in: Amount,
    pub wanted_out: Amount,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Crowd {
    /// Players who have come at least once.
    pub arrived: u64,
    pub in_world: u64,
}

impl GameTally {
    pub fn reject(&mut self, rejection: Rejection) {
        *self.rejected.entry(rejection.code()).or_default() += 1;
    }

    pub fn players(&self) -> u64 {
        self.crowds.values().map(|crowd| crowd.arrived).sum()
    }

    pub fn in_world(&self) -> u64 {
        self.crowds.values().map(|crowd| crowd.in_world).sum()
    }
}

/// Adds amounts of play money, which never reach 128 bits.
pub fn add(to: &mut Amount, amount: Amount) {
    *to = to.checked_add(amount).expect("a demo's money fits 128 bits");
}

/// Subtracts an amount that is known to be there.
pub fn take(from: &mut Amount, amount: Amount) {
    *from = from.checked_sub(amount).expect("the game takes only what is there");
}
