//! What commands ask of the books: opening a player, requesting a payout, and every request of the Funds API.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `books_client` | the way to the books: through the node that holds them, or directly if none does |
//! | `funds_client` | a caller of the Funds API: a key or a token with each request |
//! | `funds_way` | the ways to it: a URL, that of `books_client`, or the router in this process |
//! | `funds_messages` | registering a game server and opening a session |
//! | `player_messages` | a player's sign-in, and their consent to a payout |
//! | `players` | a player's accounts, and what one place in the game costs |
//! | `withdrawals` | a payout from a player's funds |
//!
//! Guarantees: a request that may have happened is never reported as one that did not; the same request again, under
//! the same id, has one effect. The ledger decides everything: these functions only build requests.

mod books_client;
mod funds_client;
mod funds_messages;
mod funds_way;
mod player_messages;
mod players;
mod withdrawals;

use bankroll_ledger::{AccountKind, AccountName, AssetId, Scope};
use bankroll_orders::Address;

pub use books_client::{BooksClient, ClientError};
pub use funds_client::{FundsCall, FundsCallError, FundsClient, FundsRefusal};
pub use funds_messages::{RegistrationOrder, SessionSubject};
pub use funds_way::FundsUrl;
pub use player_messages::PlayerPayout;
pub use players::{OpenedPlayer, open_player};
pub use withdrawals::{PayoutOrder, RequestedPayout, WithdrawalRequestError, request_payout};

use crate::flows::FlowSetup;

/// An account of a player at the configured game server.
fn account_of(setup: &FlowSetup, kind: AccountKind, asset: AssetId, player: Address) -> AccountName {
    // One spelling counts in the books: lower case.
    let owner = Some(player.lower_hex().parse().expect("an address is a legal name"));
    AccountName { scope: Scope::Server(setup.server.clone()), kind, asset, owner }
}
