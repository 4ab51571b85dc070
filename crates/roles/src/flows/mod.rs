//! The flows as roles run them: the same loops in a node of `bankroll serve` and in `bankroll demo`.
//!
//! | file | role | what it does, again and again |
//! | --- | --- | --- |
//! | `setup` | | what a node knows of its chain, its wallet and its server |
//! | `rpc` | | where the chain's nodes are |
//! | `indexer` | `indexer` | follows the chain, and knows players by their accounts |
//! | `booking` | `books` | credits what is final, takes back what is not; settles payouts |
//! | `payouts` | `payouts` | has intents signed, sent and watched |
//! | `running` | | the threads of a process, and their end |
//! | `pace` | | when to go on, and what is worth saying |
//!
//! The steps are the flows' own, without clock or thread; here they get both. Guarantees: no failure of a node, a signer or
//! a database ends a loop. Each is taken for "not known", said once, and tried again, less and less often. A loop ends within a
//! moment when it is told to stop; whatever it was doing is gone on with by the next start.

mod booking;
mod indexer;
mod pace;
mod payouts;
mod rpc;
mod running;
mod setup;

use bankroll_deposits::DEPOSITS;
use bankroll_store::Migrations;
use bankroll_withdrawals::WITHDRAWALS;

pub use pace::Stop;
pub use rpc::Rpc;
pub(crate) use rpc::without_keys;
pub use running::Running;
pub use setup::{RowsAt, Setup, Way};

/// The tables of all flows: every book of this program has them.
pub fn migrations() -> Vec<Migrations> {
    vec![DEPOSITS, WITHDRAWALS]
}
