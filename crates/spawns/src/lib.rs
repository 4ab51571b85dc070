//! Spawns: a place in a server's world, reserved, committed, released or refunded, once.
//!
//! A game server reserves a place for a player: the price is held in the player's funds, for a minute. Commit moves it
//! into the world; release makes it available again; a reservation that is neither expires by itself. What is committed
//! is live until the player exits (the flow of withdrawals makes the transfer, with [`exit_fact`] in it) or the game
//! server refunds it.
//!
//! It guarantees:
//! - each change of a spawn is one request to the books: money and row in one commit, guarded by the row's status, so
//!   that a spawn is committed, refunded or exited at most once, however often it is retried;
//! - the same key returns the same reservation, although the server's price may have changed since;
//! - a deposit is consumed at most once; a reservation that was released or has expired gives it back;
//! - a spawn and a payout that want the same money: the ledger gives it to one, the other has insufficient funds;
//! - a game server that dies between reserve and commit costs the player nothing but the minute.
//!
//! It has no clock, thread or chance of its own. It deliberately does not know: the registry (the caller passes the
//! server's [`SpawnTerms`]), chains, how mass grows in the game, payouts.
//!
//! | to learn | read |
//! | --- | --- |
//! | reserving and ending spawns | [`Spawns`], [`SpawnOrder`], [`SpawnTerms`] |
//! | the requests to the books (pure) | [`requests`] |
//! | the status of a spawn | [`SpawnStatus`] |
//! | live spawns, one spawn, eligibility | [`views`] |
//! | the tables | [`SPAWNS`], `migrations/` |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic)]

mod accounts;
mod error;
mod grants;
mod id;
mod order;
pub mod requests;
mod rows;
mod spawns;
mod status;
mod terms;
pub mod views;

pub use accounts::{SpawnAccounts, UnallocatedAccounts};
pub use error::SpawnError;
pub use grants::SPAWNS_GRANTS;
pub use id::SpawnId;
pub use order::{ConsumedDeposit, SpawnOrder};
pub use requests::{SPAWNS_TABLE, exit_fact};
pub use rows::{SPAWNS, SpawnView};
pub use spawns::{RESERVATION_MICROS, ReservedSpawn, SpawnEnd, Spawns};
pub use status::SpawnStatus;
pub use terms::{Mass, SpawnTerms};

#[cfg(test)]
mod tests;
