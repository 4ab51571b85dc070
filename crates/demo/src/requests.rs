//! The call of each move of the game: its key, the accounts, and the money that moves.

use bankroll_ledger::{AccountKind, Amount};

use super::{
    arena::Arena,
    funds::{BatchMove, ExitMove},
    player::ArenaPlayer,
};

/// A move of the game that needs the books. A player is an index into the game's players.
#[derive(Clone, Debug)]
pub enum BackendRequest {
    /// The player enters the world with the buy-in as mass.
    Spawn { player: usize },
    /// A pellet appears, paid from the game's budget.
    Pellet { amount: Amount },
    /// Mass is burnt: by a player who moves, or from what an eaten player leaves.
    Recycle { from: Option<usize>, amount: Amount },
    /// The player leaves: their mass becomes their money, and is held for a payout in the same request.
    Exit { player: usize, mass: Amount },
    /// The arena closes: the player's mass becomes their money.
    Home { player: usize, mass: Amount },
    /// A bug or a thief in the game server: moves one player's money to another.
    Theft { from: usize, to: usize },
}

/// A request with the number that its key is made of.
#[derive(Clone, Debug)]
pub struct NumberedRequest {
    pub number: u64,
    /// Whether it was sent and answered before.
    pub again: bool,
    pub ask: BackendRequest,
}

/// How a move is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveCall {
    /// With the others of its tick.
    Batched(BatchMove),
    /// By itself.
    Exit(ExitMove),
}

impl MoveCall {
    pub fn batched(&self) -> Option<&BatchMove> {
        match self {
            Self::Batched(operation) => Some(operation),
            Self::Exit(_) => None,
        }
    }
}

impl Arena {
    /// The call. The same move under the same number is the same call, byte by byte.
    pub fn call(&self, game: usize, players: &[ArenaPlayer], numbered: &NumberedRequest) -> MoveCall {
        let key = format!("{}-{game}-{:09}", self.run, numbered.number);
        let funds = |player: usize| self.account(AccountKind::Funds, Some(players[player].name.clone())).to_string();
        let world = || self.account(AccountKind::World, None).to_string();
        let operation = |kind, from, to, amount| BatchMove { key: key.clone(), kind, from, to, amount };
        let transfer = |from, to, amount| operation("transfer", Some(from), Some(to), amount);
        MoveCall::Batched(match numbered.ask {
            BackendRequest::Spawn { player } => transfer(funds(player), world(), self.buy_in.amount),
            BackendRequest::Pellet { amount } => operation("pellets", None, None, amount),
            BackendRequest::Recycle { amount, .. } => operation("recycle", None, None, amount),
            BackendRequest::Exit { player, mass } => {
                let player = players[player].name.to_string();
                return MoveCall::Exit(ExitMove {
                    exit_id: format!("exit-{key}"),
                    player,
                    amount: mass,
                    payout: "auto",
                });
            }
            BackendRequest::Home { player, mass } => transfer(world(), funds(player), mass),
            BackendRequest::Theft { from, to } => transfer(funds(from), funds(to), Amount::new(1)),
        })
    }
}
