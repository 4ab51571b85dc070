//! The game: who is where with how much mass. Pure: chance and answers come from outside.
//!
//! What the room counts (mass, pellets lying about) is exactly what it has put into the world's account and not taken
//! out again, so that the account is empty when every room has closed.

mod hearing;
mod life;

use std::sync::Arc;

use bankroll_ledger::{AccountId, Amount, Name, Request};
use bankroll_orders::Address;

pub use hearing::Heard;
pub use life::{FATES, FATES_OF_FEW};

use super::{
    arena::Arena,
    asks::{Ask, Asked},
    street::WalletId,
    tally::{Crowd, add},
};

#[derive(Debug)]
pub struct Player {
    /// His wallet on the street, its name in the books, and its address on the chain.
    pub wallet: WalletId,
    pub name: Name,
    pub address: Address,
    pub funds: AccountId,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Outside,
    /// His payment is on its way.
    Paying,
    AtTheDoor,
    InWorld {
        mass: Amount,
    },
}

impl Player {
    pub fn new(wallet: WalletId, name: Name, address: Address, funds: AccountId) -> Self {
        Self { wallet, name, address, funds, place: Place::Outside }
    }
}

/// What players do in one turn: what is asked of the ledger, and what is paid on the chain.
#[derive(Debug, Default)]
pub struct Turn {
    pub asked: Vec<Asked>,
    /// Which player pays in how much.
    pub payments: Vec<(usize, Amount)>,
}

#[derive(Debug)]
pub struct Room {
    pub number: usize,
    arena: Arc<Arena>,
    players: Vec<Player>,
    /// How many have ever come: the door lets a few in each turn.
    admitted: usize,
    cursor: usize,
    turns: u64,
    /// Pellets lying about, and what is left of the eaten: in the world, and nobody's.
    loose: Amount,
    ashes: Amount,
    /// What this room has brought into the ecosystem and not taken out as pellets. Other rooms' shares are left alone, so
    /// that what happens here does not depend on who was faster.
    budget: Amount,
    chance: fastrand::Rng,
    /// Of how many moves two are a player's last.
    fates: u32,
    next_number: u64,
    /// What was asked last: some of it is asked again, as after a lost answer.
    last: Vec<Asked>,
}

impl Room {
    pub fn new(number: usize, arena: Arc<Arena>, players: Vec<Player>, chance: fastrand::Rng, fates: u32) -> Self {
        Self {
            number,
            arena,
            players,
            admitted: 0,
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

    pub fn request(&self, asked: &Asked) -> Request {
        self.arena.request(self.number, &self.players, asked)
    }

    pub fn wallet(&self, player: usize) -> WalletId {
        self.players[player].wallet
    }

    /// Turns played so far.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    pub fn crowd(&self) -> Crowd {
        let in_world = self.players.iter().filter(|player| matches!(player.place, Place::InWorld { .. })).count();
        Crowd { arrived: self.admitted as u64, in_world: in_world as u64 }
    }

    /// One turn: what the next players do, about `most` asks.
    pub fn turn(&mut self, most: usize) -> Turn {
        let mut turn = Turn { asked: self.ask_again(), payments: Vec::new() };
        self.admitted = self.players.len().min(self.admitted + self.players.len().div_ceil(256));
        // Each asks twice at the most, and there is room for those who ask again.
        for _ in 0..self.admitted.min(most * 2 / 5) {
            self.cursor = (self.cursor + 1) % self.admitted;
            self.act(self.cursor, &mut turn);
        }
        self.turns += 1;
        if self.admitted > 1 && self.turns % 64 == 2 {
            self.ask(Ask::Theft { from: 0, to: 1 }, &mut turn.asked);
        }
        self.last.clone_from(&turn.asked);
        turn
    }

    /// The arena closes: everybody's mass becomes his money, pellets go back. Empty when all is done.
    pub fn close(&mut self, most: usize) -> Vec<Asked> {
        let mut asked = Vec::new();
        for player in 0..self.players.len() {
            match self.players[player].place {
                _ if asked.len() >= most => break,
                Place::InWorld { mass } if mass.is_zero() => self.players[player].place = Place::Outside,
                Place::InWorld { mass } => self.ask(Ask::Home { player, mass }, &mut asked),
                Place::Outside | Place::Paying | Place::AtTheDoor => {}
            }
        }
        if asked.is_empty() && !self.loose.is_zero() {
            add(&mut self.ashes, self.loose);
            let amount = std::mem::take(&mut self.loose);
            self.ask(Ask::Recycle { from: None, amount }, &mut asked);
        }
        asked
    }

    fn ask(&mut self, ask: Ask, asked: &mut Vec<Asked>) {
        self.next_number += 1;
        asked.push(Asked { number: self.next_number, again: false, ask });
    }

    /// Answers get lost and servers have bugs: some of the last asks again, a few with another body under the same key.
    fn ask_again(&mut self) -> Vec<Asked> {
        let mut again: Vec<Asked> = Vec::new();
        for earlier in std::mem::take(&mut self.last) {
            match (self.chance.u32(..8_192), &earlier.ask) {
                (0, Ask::Pellet { amount }) => {
                    let amount = amount.checked_add(Amount::new(1)).unwrap_or(*amount);
                    again.push(Asked { ask: Ask::Pellet { amount }, again: true, ..earlier });
                }
                (1..=16, _) => again.push(Asked { again: true, ..earlier }),
                _ => {}
            }
        }
        again
    }
}
