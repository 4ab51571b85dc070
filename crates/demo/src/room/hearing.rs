//! What the game makes of the ledger's answers.

use bankroll_ledger::{Amount, Rejection};
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
#[error("the ledger answered what it should not have: {ask} ({outcome})")]
pub struct Surprise {
    ask: String,
    outcome: String,
}

fn told(outcome: Result<(), Rejection>) -> String {
    outcome.map_or_else(|rejection| rejection.to_string(), |()| "applied".into())
}

/// What became of an ask.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// Whether this is the stored answer to an earlier request under the same key.
    pub replayed: bool,
    /// Applied, or rejected.
    pub outcome: Result<(), Rejection>,
}

impl From<&Answer> for Heard {
    fn from(answer: &Answer) -> Self {
        Self { replayed: answer.replayed, outcome: answer.effects().map(|_| ()) }
    }
}

impl Room {
    /// What a player has paid in is on the books.
    pub fn credited(&mut self, player: usize, paid: Amount, tally: &mut Tally) {
        tally.deposits += 1;
        tally.transfers += 1;
        add(&mut tally.paid_in, paid);
        add(&mut self.budget, self.arena.buy_in.split(paid).ecosystem);
        // With too little he tries all the same, and is refused.
        self.players[player].place = Place::AtTheDoor;
    }

    /// Takes in what the ledger answered.
    pub fn hear(&mut self, asked: &Asked, heard: Heard, tally: &mut Tally) -> Result<(), Surprise> {
        match (asked.again, heard.outcome) {
            // Whatever the first answer was, it was heard then.
            (true, Err(rejection @ Rejection::KeyReused)) => tally.reject(rejection),
            (true, _) if heard.replayed => tally.replayed += 1,
            (true, _) => return Err(Surprise { ask: format!("{:?} again", asked.ask), outcome: told(heard.outcome) }),
            // It may be a replay all the same: of an ask whose first answer was lost on its way.
            (false, Ok(())) => {
                tally.transfers += 1;
                self.applied(&asked.ask, tally);
            }
            (false, Err(rejection)) => {
                tally.reject(rejection);
                self.rejected(&asked.ask, rejection)?;
            }
        }
        Ok(())
    }

    fn applied(&mut self, ask: &Ask, tally: &mut Tally) {
        match *ask {
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
                add(&mut self.budget, amount);
                match from.map(|player| &mut self.players[player].place) {
                    Some(Place::InWorld { mass }) => take(mass, amount),
                    _ => take(&mut self.ashes, amount),
                }
            }
            Ask::Exit { player, mass: paid } => {
                tally.exits += 1;
                add(&mut tally.wanted_out, paid);
                let place = &mut self.players[player].place;
                if let Place::InWorld { mut mass } = *place {
                    *place = Place::Outside;
                    // What he ate after he had asked to leave stays.
                    take(&mut mass, paid);
                    add(&mut self.loose, mass);
                }
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
            (Ask::Theft { .. }, Rejection::NotAllowed) => Ok(()),
            _ => Err(Surprise { ask: format!("{ask:?}"), outcome: told(Err(rejection)) }),
        }
    }
}
