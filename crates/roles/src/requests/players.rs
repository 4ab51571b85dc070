//! Players: their accounts at the game server. A player who has them is known when a payment arrives.

use bankroll_ledger::{AccountId, AccountKind, AccountName, Amount, AssetId, Principal};
use bankroll_orders::Address;
use bankroll_store::Reader;

use super::{BooksClient, ClientError, account_of};
use crate::flows::FlowSetup;

/// A player with accounts, and the price of their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedPlayer {
    pub address: Address,
    pub funds: AccountName,
    pub account: AccountId,
    /// Whether this request opened it.
    pub is_new: bool,
    /// The smallest payment that becomes a buy-in, fees included; `None` if it exceeds 128 bits.
    pub price: Option<Amount>,
    /// What of it the player gets.
    pub buy_in: Amount,
}

/// Opens a player's accounts; a player who has them already keeps them.
///
/// # Errors
/// See [`ClientError`].
pub fn open_player(
    books: &BooksClient,
    reader: &Reader,
    setup: &FlowSetup,
    asset: AssetId,
    address: Address,
) -> Result<OpenedPlayer, ClientError> {
    let funds = account_of(setup, AccountKind::Funds, asset, address);
    let unallocated = account_of(setup, AccountKind::Unallocated, asset, address);
    let is_new = reader.account_named(&funds).map_err(ClientError::Open)?.is_none();
    let by = Principal::GameServer(setup.server.clone());
    let numbers = books.open_accounts(&by, vec![funds.clone(), unallocated])?;
    let account = *numbers.first().expect("as many numbers as names");
    let buy_in = &setup.buy_in;
    Ok(OpenedPlayer { address, funds, account, is_new, price: buy_in.required(), buy_in: buy_in.amount })
}
