//! A player: their wallet, and where they are in the game.

use bankroll_ledger::{Amount, Name};

use super::player_wallets::WalletId;

#[derive(Debug)]
pub struct ArenaPlayer {
    /// The player's wallet, and its name in the books.
    pub wallet: WalletId,
    pub name: Name,
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
    pub fn new(wallet: WalletId, name: Name) -> Self {
        Self { wallet, name, state: PlayerState::Outside }
    }
}
