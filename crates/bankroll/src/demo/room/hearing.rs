//! What the game makes of the ledger's answers.

use bankroll_ledger::{Effects, Rejection};
use bankroll_store::Answer;

use super::{
    super::{
        asks::{Ask, Asked},
        tally::{Tally, add, take},
    },
    Place, Room,
};

/// An answer that the game cannot explain: a bug in it, or in the ledger.
#[derive(Debug, thiserror::Error)]
#[error("the ledger refused what it should not have: {ask} ({rejection})")]
pub struct Surprise {
    ask: String,
    rejection: Rejection,
}

impl Room {
    /// Takes in what the ledger answered.
    pub fn hear(&mut self, asked: &Asked, answer: &Answer, tally: &mut Tally) -> Result<(), Surprise> {
        if answer.replayed {
            tally.replayed += 1;
            return Ok(());
        }
        match answer.effects() {
            Ok(effects) => {
                tally.transfers += 1;
                self.applied(&asked.ask, effects, tally);
                Ok(())
            }
            Err(rejection) => {
                tally.reject(rejection);
                self.rejected(&asked.ask, rejection)
            }
        }
    }

    fn applied(&mut self, ask: &Ask, effects: &Effects, tally: &mut Tally) {
        match *ask {
            Ask::Deposit { player, paid, split } => {
                tally.deposits += 1;
                add(&mut tally.deposited, paid);
                add(&mut self.players[player].saved, split.unallocated);
                // With too little he tries all the same, and is refused.
                self.players[player].place = Place::AtTheDoor;
            }
            Ask::Allocate { player, split } => {
                tally.allocations += 1;
                self.players[player].saved = split.unallocated;
                self.players[player].place = Place::AtTheDoor;
            }
            Ask::Spawn { player } => {
                tally.spawns += 1;
                let mass = self.arena.buy_in.amount;
                match self.players[player].place {
                    Place::InWorld { .. } => self.gain(player, mass),
                    _ => self.players[player].place = Place::InWorld { mass },
                }
            }
            Ask::Pellet { amount } => {
                tally.pellets += 1;
                add(&mut self.loose, amount);
            }
            Ask::Recycle { from, amount } => {
                tally.recycled += 1;
                match from.map(|player| &mut self.players[player].place) {
                    Some(Place::InWorld { mass }) => take(mass, amount),
                    _ => take(&mut self.ashes, amount),
                }
            }
            Ask::Exit { player, mass: paid } => {
                tally.exits += 1;
                let place = &mut self.players[player].place;
                if let (Place::InWorld { mut mass }, Some(change)) = (*place, effects.holds.first()) {
                    *place = Place::Leaving { hold: change.hold.id, amount: paid };
                    // What he ate after he had asked to leave stays.
                    take(&mut mass, paid);
                    add(&mut self.loose, mass);
                }
            }
            Ask::Payout { player, amount, .. } => {
                tally.payouts += 1;
                add(&mut tally.paid_out, amount);
                self.players[player].place = Place::Outside;
            }
            Ask::Home { player, .. } => {
                tally.returns += 1;
                self.players[player].place = Place::Outside;
            }
            Ask::Theft { .. } => {}
        }
    }

    /// Some are to be expected; any other is a bug that must be seen.
    fn rejected(&mut self, ask: &Ask, rejection: Rejection) -> Result<(), Surprise> {
        match (ask, rejection) {
            (Ask::Spawn { player }, Rejection::InsufficientFunds) => {
                let place = &mut self.players[*player].place;
                if *place == Place::AtTheDoor {
                    *place = Place::Outside;
                }
                Ok(())
            }
            // No budget, no pellet.
            (Ask::Pellet { .. }, Rejection::InsufficientFunds | Rejection::KeyReused)
            | (Ask::Theft { .. }, Rejection::NotAllowed) => Ok(()),
            _ => Err(Surprise { ask: format!("{ask:?}"), rejection }),
        }
    }
}
