//! What players do.

use bankroll_ledger::Amount;

use super::{
    super::{
        asks::{Ask, Asked},
        tally::{add, take},
    },
    Place, Room, Turn,
};

/// What a pellet is worth, and the part of his mass that a player loses by moving.
const PELLET: Amount = Amount::new(70_000_000_000_000);
const BURN: u128 = 256;
/// Of so many moves one is a player's last because he is eaten, and one because he leaves: about as often as a chain, and a
/// signer that syncs each promise, can keep up with without slowing down all the other moves.
pub const FATES: u32 = 20_000;
/// The same where turns are counted, since there are few of them.
pub const FATES_OF_FEW: u32 = 300;
/// Nobody has less than this paid out: gas would cost more.
const DUST: Amount = Amount::new(100_000_000_000_000);

impl Room {
    pub(super) fn act(&mut self, player: usize, turn: &mut Turn) {
        let asked = &mut turn.asked;
        match self.players[player].place {
            Place::Outside if self.chance.u32(..4) > 0 => {}
            Place::Outside => {
                let paid = self.payment();
                self.players[player].place = Place::Paying;
                turn.payments.push((player, paid));
            }
            Place::Paying => {}
            Place::AtTheDoor => {
                self.ask(Ask::Spawn { player }, asked);
                if self.chance.u32(..16) == 0 {
                    // An impatient player clicks twice.
                    self.ask(Ask::Spawn { player }, asked);
                }
            }
            Place::InWorld { mass } => self.live(player, mass, asked),
        }
    }

    /// Most pay what is asked for; some more, some less.
    fn payment(&mut self) -> Amount {
        let required = self.arena.buy_in.required().unwrap_or(Amount::MAX).units();
        Amount::new(match self.chance.u32(..20) {
            0 => self.chance.u128(required / 4..required),
            1..=3 => required.saturating_add(self.chance.u128(1..required / 2)),
            _ => required,
        })
    }

    fn live(&mut self, player: usize, mass: Amount, asked: &mut Vec<Asked>) {
        let fate = self.chance.u32(..self.fates);
        if fate == 0 {
            return self.be_eaten(player, mass, asked);
        }
        if fate == 1 && mass >= DUST {
            return self.ask(Ask::Exit { player, mass }, asked);
        }
        let burnt = Amount::new(mass.units() / BURN);
        if !burnt.is_zero() {
            self.ask(Ask::Recycle { from: Some(player), amount: burnt }, asked);
        }
        let bite = self.loose.min(PELLET);
        take(&mut self.loose, bite);
        self.gain(player, bite);
        if fate.is_multiple_of(2) && self.budget >= PELLET {
            take(&mut self.budget, PELLET);
            self.ask(Ask::Pellet { amount: PELLET }, asked);
        }
    }

    /// Whoever comes along gets three quarters of the mass; the rest is burnt.
    fn be_eaten(&mut self, player: usize, mass: Amount, asked: &mut Vec<Asked>) {
        let eater = self.chance.usize(..self.admitted);
        if eater == player || !matches!(self.players[eater].place, Place::InWorld { .. }) {
            return;
        }
        let burnt = Amount::new(mass.units() / 4);
        let mut rest = mass;
        take(&mut rest, burnt);
        self.gain(eater, rest);
        self.players[player].place = Place::Outside;
        if !burnt.is_zero() {
            add(&mut self.ashes, burnt);
            self.ask(Ask::Recycle { from: None, amount: burnt }, asked);
        }
    }

    pub(super) fn gain(&mut self, player: usize, amount: Amount) {
        if let Place::InWorld { mass } = &mut self.players[player].place {
            add(mass, amount);
        } else {
            add(&mut self.loose, amount);
        }
    }
}
