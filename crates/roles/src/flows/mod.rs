//! The loops of the roles: the same in a node of `bankroll serve` and in `bankroll demo`.
//!
//! | file | role | what it does |
//! | --- | --- | --- |
//! | `setup` | | the settings of one chain, its wallet and its server |
//! | `rpc` | | the URLs of the chain's RPC nodes |
//! | `indexer` | `indexer` | follows the chain |
//! | `deposit_log` | | what the log says about a deposit |
//! | `booking` | `books` | credits what is final, reverses what is orphaned; settles payouts |
//! | `payouts` | `payouts` | has intents signed, sends them and watches them |
//! | `probe` | | asks once whether chain, indexer and signer work |
//! | `threads` | | the threads of a process |
//! | `pace` | | the pace of a loop, and which failures are logged |
//!
//! The steps belong to the flows (`bankroll-deposits`, `bankroll-withdrawals`) and have neither clock nor thread;
//! here they get both. Guarantees: no failure of an RPC node, a signer or a database ends a loop. Each counts as
//! "unknown", is logged once, and retried less and less often. A loop ends at once when a stop is requested; the
//! next start continues its work.

mod booking;
mod deposit_log;
mod indexer;
mod pace;
mod payouts;
mod probe;
mod rpc;
mod setup;
mod threads;

use bankroll_deposits::DEPOSITS;
use bankroll_store::Migrations;
use bankroll_withdrawals::WITHDRAWALS;

pub use bankroll_store::RowsLocation;
pub use pace::StopFlag;
pub use probe::{ProbeResult, ProbeTrouble};
pub use rpc::RpcUrls;
pub(crate) use rpc::without_keys;
pub use setup::{FlowSetup, RpcEndpoint};
pub use threads::FlowThreads;

/// The tables of all flows: every ledger of this program has them.
pub fn migrations() -> Vec<Migrations> {
    vec![DEPOSITS, WITHDRAWALS]
}
