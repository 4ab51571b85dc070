//! How the game applies the answers of the books.

use bankroll_ledger::{Amount, Rejection};

use super::{
    super::{
        requests::{BackendRequest, NumberedRequest},
        tally::{GameTally, add, take},
    },
    ArenaGame, PlayerState,
};

/// An answer that the game does not expect: a bug in the game or in the service.
#[derive(Debug, thiserror::Error)]
#[error("unexpected answer of the Funds API: {ask} ({outcome})")]
pub struct UnexpectedAnswer {
    ask: String,
    outcome: String,
}

fn outcome_text(outcome: Result<(), Rejection>) -> String {
    outcome.map_or_else(|rejection| rejection.to_string(), |()| "applied".into())
}

#[derive(Clone, Copy, Debug)]
pub struct RequestOutcome {
    /// Whether this is the stored answer to an earlier request under the same key.
    pub replayed: bool,
    pub result: Result<(), Rejection>,
}

impl ArenaGame {
    /// The books have credited a player's payment.
    pub fn credited(&mut self, player: usize, paid: Amount, tally: &mut GameTally) {
        tally.deposits += 1;
        tally.transfers += 1;
        add(&mut tally.paid_in, paid);
        add(&mut self.budget, self.arena.buy_in.split(paid).ecosystem);
        if self.first_paid.len() < 2 && !self.first_paid.contains(&player) {
            self.first_paid.push(player);
        }
        // A player who paid too little tries all the same, and is refused.
        self.players[player].state = PlayerState::AtTheDoor;
    }

    pub fn apply_answer(
        &mut self,
        request: &NumberedRequest,
        outcome: RequestOutcome,
        tally: &mut GameTally,
    ) -> Result<(), UnexpectedAnswer> {
        match (request.again, outcome.result) {
            // The first answer was applied then, whatever it was.
            (true, Err(rejection @ Rejection::KeyReused)) => tally.reject(rejection),
            (true, _) if outcome.replayed => tally.replayed += 1,
            (true, _) => {
                return Err(UnexpectedAnswer {
                    ask: format!("{:?} again", request.ask),
                    outcome: outcome_text(outcome.result),
                });
            }
            // It may be a replay all the same, of a request whose first answer was lost.
            (false, Ok(())) => {
                tally.transfers += 1;
                self.applied(&request.ask, tally);
            }
            (false, Err(rejection)) => {
                tally.reject(rejection);
                self.rejected(&request.ask, rejection)?;
            }
        }
        Ok(())
    }

    fn applied(&mut self, ask: &BackendRequest, tally: &mut GameTally) {
        match *ask {
            BackendRequest::Spawn { player } => {
                tally.spawns += 1;
                let mass = self.arena.buy_in.amount;
                match self.players[player].state {
                    PlayerState::InWorld { .. } => self.gain(player, mass),
                    _ => self.players[player].state = PlayerState::InWorld { mass },
                }
            }
            BackendRequest::Pellet { amount } => {
                tally.pellets += 1;
                add(&mut self.loose, amount);
            }
            BackendRequest::Recycle { from, amount } => {
                tally.recycled += 1;
                add(&mut self.budget, amount);
                match from.map(|player| &mut self.players[player].state) {
                    Some(PlayerState::InWorld { mass }) => take(mass, amount),
                    _ => take(&mut self.ashes, amount),
                }
            }
            BackendRequest::Exit { player, mass: paid } => {
                tally.exits += 1;
                tally.left.get_or_insert_with(|| self.players[player].name.clone());
                add(&mut tally.wanted_out, paid);
                let state = &mut self.players[player].state;
                if let PlayerState::InWorld { mut mass } = *state {
                    *state = PlayerState::Outside;
                    // What they ate after the request to leave stays.
                    take(&mut mass, paid);
                    add(&mut self.loose, mass);
                }
            }
            BackendRequest::Home { player, .. } => {
                tally.returns += 1;
                self.players[player].state = PlayerState::Outside;
            }
            BackendRequest::Theft { .. } => {}
        }
    }

    /// Some rejections are expected; any other is a bug and must fail the demo.
    fn rejected(&mut self, ask: &BackendRequest, rejection: Rejection) -> Result<(), UnexpectedAnswer> {
        match (ask, rejection) {
            (BackendRequest::Spawn { player }, Rejection::InsufficientFunds) => {
                let state = &mut self.players[*player].state;
                if *state == PlayerState::AtTheDoor {
                    *state = PlayerState::Outside;
                }
                Ok(())
            }
            (BackendRequest::Theft { .. }, Rejection::NotAllowed) => Ok(()),
            _ => Err(UnexpectedAnswer { ask: format!("{ask:?}"), outcome: outcome_text(Err(rejection)) }),
        }
    }
}
