//! What each move of the game asks of the ledger: who asks, under which key, which money moves.

use bankroll_ledger::{Amount, Kind, Leg, Principal, Request};
use bankroll_withdrawals::{GasPayer, Intents, WithdrawalRequest};

use super::{
    arena::{Arena, policy},
    room::Player,
};

/// A move of the game that needs the ledger. Players are named by their place in the room.
#[derive(Clone, Debug)]
pub enum Ask {
    /// He enters the world with his buy-in as mass.
    Spawn { player: usize },
    /// A pellet appears, paid from the budget.
    Pellet { amount: Amount },
    /// Mass is burnt: by a player who moves, or from what lies about.
    Recycle { from: Option<usize>, amount: Amount },
    /// He leaves: his mass becomes his money, and is set aside for a payout in the same breath.
    Exit { player: usize, mass: Amount },
    /// The arena closes: his mass becomes his money.
    Home { player: usize, mass: Amount },
    /// A bug or a thief in the game server: one player's money straight to another.
    Theft { from: usize, to: usize },
}

/// An ask with the number its key is made of.
#[derive(Clone, Debug)]
pub struct Asked {
    pub number: u64,
    /// Whether it was asked and answered before.
    pub again: bool,
    pub ask: Ask,
}

impl Arena {
    /// The request for an ask. The same ask under the same number is the same request, byte by byte.
    pub fn request(&self, room: usize, players: &[Player], asked: &Asked) -> Request {
        let tag = format!("{}-{room}-{:09}", self.run, asked.number);
        let funds = |player: usize| players[player].funds;
        let moving = |from, to, amount| Leg::Move { from, to, amount };
        let leg = match asked.ask {
            Ask::Spawn { player } => moving(funds(player), self.world, self.buy_in.amount),
            Ask::Pellet { amount } => moving(self.ecosystem, self.world, amount),
            Ask::Recycle { amount, .. } => moving(self.world, self.ecosystem, amount),
            Ask::Exit { player, mass } => return self.exit(&tag, &players[player], mass),
            Ask::Home { player, mass } => moving(self.world, funds(player), mass),
            Ask::Theft { from, to } => moving(funds(from), funds(to), Amount::new(1)),
        };
        self.of_server(tag, vec![leg])
    }

    /// Out of the world, and a payout to his own wallet, for which the house pays the gas.
    fn exit(&self, tag: &str, player: &Player, mass: Amount) -> Request {
        let wanted = WithdrawalRequest {
            principal: Principal::GameServer(self.server.clone()),
            server: self.server.clone(),
            request_id: format!("exit-{tag}").parse().expect("a legal name"),
            wallet: player.name.clone(),
            account: self.account(Kind::Funds, Some(player.name.clone())),
            chain: self.chain.clone(),
            to: player.address,
            amount: mass,
            gas: GasPayer::House,
            exit: Some(mass),
        };
        Intents::new(policy()).request(&wanted, player.funds, self.world).expect("a demo's money fits 128 bits")
    }
}
