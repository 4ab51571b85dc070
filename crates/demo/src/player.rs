//! A player: their wallet, their account, and where they are in the game.

use bankroll_ledger::{AccountId, Amount, Name};
use bankroll_orders::Address;

use super::player_wallets::WalletId;

#[derive(Debug)]
pub struct ArenaPlayer {
    /// The player's wallet, its name in the books, and its address on the chain.
    pub wallet: WalletId,
    pub name: Name,
    pub address: Address,
    pub funds: AccountId,
    pub state: PlayerState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayerState {
    Outside,
    /// The payment is not credited yet.
    Paying,
    AtTheDoor,
    InWorld {
        mass: Amount,
    },
}

impl ArenaPlayer {
    pub fn new(wallet: WalletId, name: Name, address: Address, funds: AccountId) -> Self {
        Self { wallet, name, address, funds, state: PlayerState::Outside }
    }
}
