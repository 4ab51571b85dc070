//! The game: the state and the mass of each player. Pure: it gets chance and answers from its caller.
//!
//! What a game counts (mass, loose pellets) is exactly what it has put into the world's account and not taken out
//! again, so that the account is empty when every game has closed.

mod answers;
mod behaviour;
mod opening;

use std::sync::Arc;

use bankroll_ledger::Amount;

pub use answers::RequestOutcome;
pub use behaviour::{FATES, FATES_OF_FEW};
pub use opening::open_games;

use super::{
    arena::Arena,
    player::{ArenaPlayer, PlayerState},
    player_wallets::WalletId,
    requests::{BackendRequest, MoveCall, NumberedRequest},
    tally::{Crowd, add},
};

/// In how many turns there is a theft, and in which of them: players have paid by then.
const THEFT_EVERY: u64 = 64;
const THEFT_TURN: u64 = 24;

/// One turn: the requests to the books, and the payments on chain.
#[derive(Debug, Default)]
pub struct Turn {
    pub requests: Vec<NumberedRequest>,
    /// The paying players with their amounts.
    pub payments: Vec<(usize, Amount)>,
}

#[derive(Debug)]
pub struct ArenaGame {
    pub number: usize,
    arena: Arc<Arena>,
    players: Vec<ArenaPlayer>,
    /// Players who have arrived: a few are admitted in each turn.
    admitted: usize,
    /// The first two players who have paid: they have accounts.
    first_paid: Vec<usize>,
    cursor: usize,
    turns: u64,
    /// Loose pellets, and the remains of eaten players: in the world, without an owner.
    loose: Amount,
    ashes: Amount,
    /// What this game has brought into the ecosystem account and not taken out as pellets. It never uses the shares of
    /// other games, so that its course does not depend on their speed.
    budget: Amount,
    chance: fastrand::Rng,
    /// One of this many moves gets the player eaten, and one makes them leave.
    fates: u32,
    next_number: u64,
    /// The last requests: some of them are sent again, as after a lost answer.
    last: Vec<NumberedRequest>,
}

impl ArenaGame {
    pub fn new(number: usize, arena: Arc<Arena>, players: Vec<ArenaPlayer>, chance: fastrand::Rng, fates: u32) -> Self {
        Self {
            number,
            arena,
            players,
            admitted: 0,
            first_paid: Vec::new(),
            cursor: 0,
            turns: 0,
            loose: Amount::ZERO,
            ashes: Amount::ZERO,
            budget: Amount::ZERO,
            chance,
            fates,
            next_number: 0,
            last: Vec::new(),
        }
    }

    pub fn call(&self, request: &NumberedRequest) -> MoveCall {
        self.arena.call(self.number, &self.players, request)
    }

    pub fn wallet(&self, player: usize) -> WalletId {
        self.players[player].wallet
    }

    /// Turns played so far.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    pub fn crowd(&self) -> Crowd {
        let in_world = self.players.iter().filter(|player| matches!(player.state, PlayerState::InWorld { .. })).count();
        Crowd { arrived: self.admitted as u64, in_world: in_world as u64 }
    }

    /// Plays one turn of the next players, with about `most` requests. New players arrive if the door is open.
    pub fn turn(&mut self, most: usize, is_open: bool) -> Turn {
        let mut turn = Turn { requests: self.repeat_some(), payments: Vec::new() };
        if is_open {
            self.admitted = self.players.len().min(self.admitted + self.players.len().div_ceil(256));
        }
        // Each player makes at most two requests, which leaves space for the repeated ones.
        for _ in 0..self.admitted.min(most * 2 / 5) {
            self.cursor = (self.cursor + 1) % self.admitted;
            self.act(self.cursor, &mut turn);
        }
        self.turns += 1;
        if let ([from, to], THEFT_TURN) = (&self.first_paid[..], self.turns % THEFT_EVERY) {
            let (from, to) = (*from, *to);
            self.push(BackendRequest::Theft { from, to }, &mut turn.requests);
        }
        self.last.clone_from(&turn.requests);
        turn
    }

    /// The arena closes: mass becomes the players' money, pellets go back. Returns nothing when all is done.
    pub fn close(&mut self, most: usize) -> Vec<NumberedRequest> {
        let mut requests = Vec::new();
        for player in 0..self.players.len() {
            match self.players[player].state {
                _ if requests.len() >= most => break,
                PlayerState::InWorld { mass } if mass.is_zero() => self.players[player].state = PlayerState::Outside,
                PlayerState::InWorld { mass } => self.push(BackendRequest::Home { player, mass }, &mut requests),
                PlayerState::Outside | PlayerState::Paying | PlayerState::AtTheDoor => {}
            }
        }
        if requests.is_empty() && !self.loose.is_zero() {
            add(&mut self.ashes, self.loose);
            let amount = std::mem::take(&mut self.loose);
            self.push(BackendRequest::Recycle { from: None, amount }, &mut requests);
        }
        requests
    }

    fn push(&mut self, ask: BackendRequest, requests: &mut Vec<NumberedRequest>) {
        self.next_number += 1;
        requests.push(NumberedRequest { number: self.next_number, again: false, ask });
    }

    /// Answers get lost and servers have bugs: repeats some of the last requests, a few of them with another body under
    /// the same key.
    fn repeat_some(&mut self) -> Vec<NumberedRequest> {
        let mut again: Vec<NumberedRequest> = Vec::new();
        for earlier in std::mem::take(&mut self.last) {
            match (self.chance.u32(..8_192), &earlier.ask) {
                (0, BackendRequest::Pellet { amount }) => {
                    let amount = amount.checked_add(Amount::new(1)).unwrap_or(*amount);
                    again.push(NumberedRequest { ask: BackendRequest::Pellet { amount }, again: true, ..earlier });
                }
                (1..=16, _) => again.push(NumberedRequest { again: true, ..earlier }),
                _ => {}
            }
        }
        again
    }
}
