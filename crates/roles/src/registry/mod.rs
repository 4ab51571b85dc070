//! The registry, as a node uses it: its first entries, and what flows read of it.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `first_owner` | who owns a new deployment |
//! | `seed` | the chain and the server of the configuration, written once into an empty registry |

mod first_owner;

pub use first_owner::record_owner;
