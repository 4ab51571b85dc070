//! How players behave.

use bankroll_ledger::Amount;

use super::{
    super::{
        requests::{BackendRequest, NumberedRequest},
        tally::{add, take},
    },
    ArenaGame, PlayerState, Turn,
};

/// The value of a pellet, and the fraction of their mass that a player loses by moving.
const PELLET: Amount = Amount::new(70_000_000_000_000);
const BURN: u128 = 256;
/// One of this many moves gets the player eaten, and one makes them leave: as often as a chain, and a signer that syncs
/// each promise, can follow without slowing down all other moves.
pub const FATES: u32 = 20_000;
/// The same for games of counted turns, which are short.
pub const FATES_OF_FEW: u32 = 300;
/// The smallest payout: below it, gas would cost more.
const DUST: Amount = Amount::new(100_000_000_000_000);

impl ArenaGame {
    pub(super) fn act(&mut self, player: usize, turn: &mut Turn) {
        let requests = &mut turn.requests;
        match self.players[player].state {
            PlayerState::Outside if self.chance.u32(..4) > 0 => {}
            PlayerState::Outside => {
                let paid = self.payment();
                self.players[player].state = PlayerState::Paying;
                turn.payments.push((player, paid));
            }
            PlayerState::Paying => {}
            PlayerState::AtTheDoor => {
                self.push(BackendRequest::Spawn { player }, requests);
                if self.chance.u32(..16) == 0 {
                    // An impatient player clicks twice.
                    self.push(BackendRequest::Spawn { player }, requests);
                }
            }
            PlayerState::InWorld { mass } => self.live(player, mass, requests),
        }
    }

    /// Most players pay the required amount; some more, some less.
    fn payment(&mut self) -> Amount {
        let required = self.arena.buy_in.required().unwrap_or(Amount::MAX).units();
        Amount::new(match self.chance.u32(..20) {
            0 => self.chance.u128(required / 4..required),
            1..=3 => required.saturating_add(self.chance.u128(1..required / 2)),
            _ => required,
        })
    }

    fn live(&mut self, player: usize, mass: Amount, requests: &mut Vec<NumberedRequest>) {
        let fate = self.chance.u32(..self.fates);
        if fate == 0 {
            return self.be_eaten(player, mass, requests);
        }
        if fate == 1 && mass >= DUST {
            return self.push(BackendRequest::Exit { player, mass }, requests);
        }
        let burnt = Amount::new(mass.units() / BURN);
        if !burnt.is_zero() {
            self.push(BackendRequest::Recycle { from: Some(player), amount: burnt }, requests);
        }
        let bite = self.loose.min(PELLET);
        take(&mut self.loose, bite);
        self.gain(player, bite);
        if fate.is_multiple_of(2) && self.budget >= PELLET {
            take(&mut self.budget, PELLET);
            self.push(BackendRequest::Pellet { amount: PELLET }, requests);
        }
    }

    /// A random player gets three quarters of the mass; the rest is burnt.
    fn be_eaten(&mut self, player: usize, mass: Amount, requests: &mut Vec<NumberedRequest>) {
        let eater = self.chance.usize(..self.admitted);
        if eater == player || !matches!(self.players[eater].state, PlayerState::InWorld { .. }) {
            return;
        }
        let burnt = Amount::new(mass.units() / 4);
        let mut rest = mass;
        take(&mut rest, burnt);
        self.gain(eater, rest);
        self.players[player].state = PlayerState::Outside;
        if !burnt.is_zero() {
            add(&mut self.ashes, burnt);
            self.push(BackendRequest::Recycle { from: None, amount: burnt }, requests);
        }
    }

    pub(super) fn gain(&mut self, player: usize, amount: Amount) {
        if let PlayerState::InWorld { mass } = &mut self.players[player].state {
            add(mass, amount);
        } else {
            add(&mut self.loose, amount);
        }
    }
}
