//! The ledger request of each move of the game: its principal, its key, and the money that moves.

use bankroll_ledger::{AccountKind, Amount, Leg, Principal, Request};
use bankroll_withdrawals::{GasPayer, Intents, WithdrawalRequest};

use super::{
    arena::{Arena, policy},
    player::ArenaPlayer,
};

/// A move of the game that needs the ledger. A player is an index into the game's players.
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

impl Arena {
    /// The ledger request. The same move under the same number is the same request, byte by byte.
    pub fn request(&self, game: usize, players: &[ArenaPlayer], numbered: &NumberedRequest) -> Request {
        let tag = format!("{}-{game}-{:09}", self.run, numbered.number);
        let funds = |player: usize| players[player].funds;
        let moving = |from, to, amount| Leg::Move { from, to, amount };
        let leg = match numbered.ask {
            BackendRequest::Spawn { player } => moving(funds(player), self.world, self.buy_in.amount),
            BackendRequest::Pellet { amount } => moving(self.ecosystem, self.world, amount),
            BackendRequest::Recycle { amount, .. } => moving(self.world, self.ecosystem, amount),
            BackendRequest::Exit { player, mass } => return self.exit(&tag, &players[player], mass),
            BackendRequest::Home { player, mass } => moving(self.world, funds(player), mass),
            BackendRequest::Theft { from, to } => moving(funds(from), funds(to), Amount::new(1)),
        };
        self.of_server(tag, vec![leg])
    }

    /// Moves the mass out of the world and requests a payout to the player's wallet; the house pays the gas.
    fn exit(&self, tag: &str, player: &ArenaPlayer, mass: Amount) -> Request {
        let wanted = WithdrawalRequest {
            principal: Principal::GameServer(self.server.clone()),
            server: self.server.clone(),
            request_id: format!("exit-{tag}").parse().expect("a legal name"),
            wallet: player.name.clone(),
            account: self.account(AccountKind::Funds, Some(player.name.clone())),
            chain: self.chain.clone(),
            to: player.address,
            amount: mass,
            gas: GasPayer::House,
            exit: Some(mass.into()),
            consent: None,
        };
        Intents::new(policy()).request(&wanted, player.funds, self.world).expect("a demo's money fits 128 bits")
    }
}
