//! The tokens: correct ones, and odd ones as they exist on real chains.

use alloy_primitives::{Address, address};

use super::{
    token::{Token, TokenAbilities},
    token_manner::TokenManner,
};
use crate::machine::SYSTEM;

/// A correct token: six decimals, everyone can `mint`. It has no allowances.
pub const DOLLAR: Address = address!("00000000000000000000000000000000000d0001");
/// A token that keeps a tenth of each transfer, while its log has the full amount.
pub const TAXED: Address = address!("00000000000000000000000000000000000d0002");
/// A token whose `transfer` succeeds, returns false, and moves nothing.
pub const DECLINING: Address = address!("00000000000000000000000000000000000d0003");
/// A correct token with `approve` and `transferFrom`; anyone may transfer nothing from anyone, as on real chains.
pub const EURO: Address = address!("00000000000000000000000000000000000d0006");
/// Logs a transfer, and moves nothing.
pub const BOASTING: Address = address!("00000000000000000000000000000000000d0007");
/// Moves, and logs nothing.
pub const SILENT: Address = address!("00000000000000000000000000000000000d0008");
/// All balances change when anyone calls `rebase(uint256)`.
pub const REBASING: Address = address!("00000000000000000000000000000000000d0009");
/// Its `Transfer` has four topics and no data, as of ERC-721.
pub const COLLECTIBLE: Address = address!("00000000000000000000000000000000000d000a");
/// Its `Transfer` has one topic and 96 bytes of data.
pub const UNINDEXED: Address = address!("00000000000000000000000000000000000d000b");
/// Correct until a call says otherwise: paused, blocked addresses, other decimals, another manner from a height on.
pub const MANAGED: Address = address!("00000000000000000000000000000000000d000c");
/// Another contract with the name, the symbol and the decimals of [`DOLLAR`].
pub const LOOKALIKE: Address = address!("00000000000000000000000000000000000d000d");

/// The token at this address. The system address logs transfers like one, and is none.
pub(super) fn token(address: Address) -> Option<Token> {
    let old = TokenAbilities { allowances: false, managed: false };
    let full = TokenAbilities { allowances: true, managed: false };
    let managed = TokenAbilities { allowances: true, managed: true };
    let (symbol, decimals, manner, abilities) = match address {
        DOLLAR => ("DOLLAR", 6, TokenManner::Sound, old),
        TAXED => ("TAXED", 18, TokenManner::Taxed, old),
        DECLINING => ("DECLINE", 8, TokenManner::Declining, old),
        EURO => ("EURO", 6, TokenManner::Sound, full),
        BOASTING => ("BOAST", 6, TokenManner::Boasting, full),
        SILENT => ("SILENT", 6, TokenManner::Silent, full),
        REBASING => ("REBASE", 18, TokenManner::Rebasing, full),
        COLLECTIBLE => ("ITEM", 0, TokenManner::Collectible, full),
        UNINDEXED => ("UNINDEX", 6, TokenManner::Unindexed, full),
        MANAGED => ("MANAGED", 6, TokenManner::Sound, managed),
        LOOKALIKE => ("DOLLAR", 6, TokenManner::Sound, full),
        SYSTEM => ("COIN", 18, TokenManner::Boasting, full),
        _ => return None,
    };
    Some(Token { address, symbol, decimals, manner, abilities })
}
