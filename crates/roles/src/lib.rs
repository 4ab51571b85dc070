//! What a node does: its configuration, the roles it runs, the flows they carry through, and whether chain and books agree.
//!
//! It guarantees:
//! - a configuration is used only if every key is known and every value can be used; each problem says where it stands;
//! - no failure of a chain's node, a signer or a database ends a node: it is logged once, and tried again;
//! - a node that is asked to stop answers the calls in flight, and releases the lease of the books at once;
//! - a secret of the configuration (a password, a key in the address of a node) is in no output.
//!
//! It does not know: the command line, the demo, who asks for payouts.
//!
//! | to learn | read |
//! | --- | --- |
//! | what can be configured, and how it is loaded | [`config`], [`config::Loaded`] |
//! | how a node holds the books, stands by, forwards | [`serve`] |
//! | the loops of the roles | [`flows`] |
//! | the wallet on its chain beside custody in the books | [`reconcile`] |
//! | the books computed again, with a bar | [`audit`] |

pub mod audit;
pub mod config;
pub mod flows;
mod log;
pub mod reconcile;
pub mod serve;

pub use log::Log;
