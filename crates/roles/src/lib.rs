//! What a node does: its configuration, the roles it runs, the loops of those roles, and reconciliation.
//!
//! It guarantees:
//! - a configuration is used only if every key is known and every value is valid; each problem says where it is;
//! - no failure of an RPC node, a signer or a database ends a node: it is logged once, and retried;
//! - a node that is stopped answers the calls in flight, and releases the lease of the ledger at once;
//! - a secret of the configuration (a password, a key in the URL of an RPC node) is in no output.
//!
//! It does not know: the command line, the demo, why a payout is requested.
//!
//! Modules depend on each other in one direction only: [`NodeLog`] on none of them, [`flows`] on the log,
//! [`config`] on `flows` (it makes their settings), [`serve`] on all three, [`requests`] on `serve`.
//!
//! | to learn | read |
//! | --- | --- |
//! | what can be configured, and how it is loaded | [`config`], [`config::LoadedConfig`] |
//! | how a node holds the ledger, stands by, forwards | [`serve`] |
//! | the loops of the roles | [`flows`] |
//! | conditions that a person must look at | [`alerts`] |
//! | every wallet compared with the books at the indexer's block, all the time | [`reconciliation`] |
//! | one wallet and each of its transactions, over a whole chain at rest | [`reconcile`] |
//! | the first owner, servers from the configuration | [`registry`] |
//! | callers of the Funds API: commands, game servers, players | [`requests`] |
//! | the audit with a progress bar | [`audit`] |
//! | keys of game servers and of the owner | [`AuthKey`] |

pub mod alerts;
pub mod audit;
mod auth_key;
pub mod config;
pub mod flows;
mod log;
pub mod reconcile;
pub mod reconciliation;
pub mod registry;
pub mod requests;
mod scrub_file;
pub mod serve;

pub use auth_key::{AuthKey, AuthKeyError, HEAD_KEY_FILE, OWNER_KEY_FILE};
pub use log::{LogLevel, NodeLog};
pub use scrub_file::{SCRUB_FILE, ScrubFinding, ScrubRecord};
