//! The registry, as a node uses it: its first entries, and what flows read of it.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `first_owner` | who owns a new deployment |
//! | `chain_view` | what a flow needs of one chain, read again whenever the registry changes |
//! | `seed` | the chains and the server of the configuration, each written once into a registry without it |

mod chain_view;
mod first_owner;
mod read_error;
mod seed;

pub use chain_view::{BooksView, ChainView, PayoutWallet};
pub use first_owner::record_owner;
pub(crate) use read_error::read_error;
pub use seed::{SeedOutcome, seed_registry};

#[cfg(test)]
mod tests;
