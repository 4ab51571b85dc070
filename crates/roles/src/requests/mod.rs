//! What commands ask of the books: each is a client of the Funds API.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `books_client` | the way to the books: through the node that holds them, or directly if none does |
//! | `funds_client` | a caller of the Funds API: a key or a token with each request |
//! | `funds_way` | the ways to it: a URL, that of `books_client`, or the router in this process |
//! | `funds_messages` | registering a game server and opening a session |
//! | `player_messages` | a player's sign-in, and their consent to a payout |
//! | `known_server` | the chain and the asset of a game server, which signatures name |
//!
//! Guarantees: a request that may have happened is never reported as one that did not; the same request again, under
//! the same id, has one effect. The books decide everything: these functions only sign and send.

mod books_client;
mod funds_client;
mod funds_messages;
mod funds_way;
mod known_server;
mod player_messages;

use books_client::BooksClient;
pub use books_client::ClientError;
pub use funds_client::{FundsCall, FundsCallError, FundsClient, FundsRefusal};
pub use funds_messages::{RegistrationOrder, SessionSubject};
pub use funds_way::FundsUrl;
pub use known_server::KnownServer;
pub use player_messages::{PlayerPayout, signed_sign_in};
