//! What each move of the game asks of the ledger: who asks, under which key, which money moves.

use bankroll_ledger::{
    AccountId, Amount, BlockRef, HoldId, Leg, Namespace, Principal, References, Request, Settler, Split,
};

use super::{
    arena::{Arena, CHAIN, request},
    room::{Player, Purse},
};

/// A move of the game that needs the ledger. Players are named by their place in the room.
#[derive(Clone, Debug)]
pub enum Ask {
    /// A deposit of his is final: credit it, fees on top.
    Deposit { player: usize, paid: Amount, split: Split },
    /// What he had paid too little or too much adds up to a buy-in.
    Allocate { player: usize, saved: Amount, split: Split },
    /// He enters the world with his buy-in as mass.
    Spawn { player: usize },
    /// A pellet appears, paid from the budget.
    Pellet { amount: Amount },
    /// Mass is burnt: by a player who moves, or from what lies about.
    Recycle { from: Option<usize>, amount: Amount },
    /// He leaves: his mass becomes his money, and is set aside for the payout in the same breath.
    Exit { player: usize, mass: Amount },
    /// The payout's transaction is final.
    Payout { player: usize, hold: HoldId, amount: Amount },
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
        let number = asked.number;
        let tag = self.tag(room, number);
        let funds = |player: usize| players[player].purse.funds;
        let moving = |from, to, amount| Leg::Move { from, to, amount };
        match asked.ask {
            Ask::Deposit { player, split, .. } => self.deposit(room, number, players[player].purse, split),
            Ask::Allocate { player, split, .. } => self.allocation(room, number, players[player].purse, split),
            Ask::Spawn { player } => {
                self.of_server(tag, vec![moving(funds(player), self.world, self.buy_in.amount)], References::default())
            }
            Ask::Pellet { amount } => {
                self.of_server(tag, vec![moving(self.ecosystem, self.world, amount)], References::default())
            }
            Ask::Recycle { amount, .. } => {
                self.of_server(tag, vec![moving(self.world, self.ecosystem, amount)], References::default())
            }
            Ask::Exit { player, mass } => {
                let hold = Leg::Hold { account: funds(player), amount: mass, expires: None, settler: Settler::System };
                let references = References { intent: Some(format!("exit/{tag}")), ..References::default() };
                self.of_server(tag, vec![moving(self.world, funds(player), mass), hold], references)
            }
            Ask::Payout { hold, amount, .. } => self.payout(hold, amount, room, number),
            Ask::Home { player, mass } => {
                self.of_server(tag, vec![moving(self.world, funds(player), mass)], References::default())
            }
            Ask::Theft { from, to } => {
                self.of_server(tag, vec![moving(funds(from), funds(to), Amount::new(1))], References::default())
            }
        }
    }

    /// Credits a deposit, fees on top.
    pub fn deposit(&self, room: usize, number: u64, purse: Purse, split: Split) -> Request {
        let (tx, block) = self.on_chain(room, number);
        // One transaction can pay several times: its identity has the place within the transaction.
        let deposit = format!("{CHAIN}/{tx}/native/0");
        let key = self.key(Namespace::Deposits, deposit.clone());
        let references =
            References { deposit: Some(deposit), tx_hash: Some(tx), block: Some(block), ..References::default() };
        request(key, Principal::Indexer, self.parts(self.custody, purse, split), references)
    }

    /// Makes a buy-in of what is unallocated.
    pub fn allocation(&self, room: usize, number: u64, purse: Purse, split: Split) -> Request {
        let rest = Split { unallocated: Amount::ZERO, ..split };
        let key = self.key(Namespace::Deposits, format!("allocate/{}", self.tag(room, number)));
        request(key, Principal::Indexer, self.parts(purse.unallocated, purse, rest), References::default())
    }

    /// What the keys of one ask are made of.
    fn tag(&self, room: usize, number: u64) -> String {
        format!("{}-{room}-{number:09}", self.run)
    }

    /// Settles a payout. Its key is the hold's, so that no second run can pay it again.
    pub fn payout(&self, hold: HoldId, amount: Amount, room: usize, number: u64) -> Request {
        let key = self.key(Namespace::Payouts, format!("payout/{hold}"));
        let (tx, block) = self.on_chain(room, number);
        let intent = Some(format!("hold/{hold}"));
        let references = References { intent, tx_hash: Some(tx), block: Some(block), ..References::default() };
        request(key, Principal::System, vec![Leg::Post { hold, to: self.custody, amount }], references)
    }

    /// One leg for each part of a split that is not nothing.
    fn parts(&self, from: AccountId, purse: Purse, split: Split) -> Vec<Leg> {
        let parts = [
            (purse.funds, split.funds),
            (self.developer, split.developer),
            (self.ecosystem, split.ecosystem),
            (purse.unallocated, split.unallocated),
        ];
        parts
            .into_iter()
            .filter(|(_, part)| !part.is_zero())
            .map(|(to, amount)| Leg::Move { from, to, amount })
            .collect()
    }

    /// A transaction and a block of the imagined chain.
    fn on_chain(&self, room: usize, number: u64) -> (String, BlockRef) {
        let run = self.run;
        let noise = fastrand::Rng::with_seed(number ^ run.rotate_left(24) ^ (room as u64).rotate_left(56)).u64(..);
        let height = 1_000_000 + run * 1_000 + number / 1_000;
        let hash = format!("0x{:064x}", u128::from(height) << 64 | 0xb10c);
        (format!("0x{noise:016x}{run:016x}{room:016x}{number:016x}"), BlockRef { number: height, hash })
    }
}
