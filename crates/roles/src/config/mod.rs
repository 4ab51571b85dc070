//! The configuration: `bankroll.toml`, under `BANKROLL__SECTION__KEY`, under flags.
//!
//! Every key that is not known is an error that says where it stands and what may have been meant; a value that is
//! misread silently would be worse than no start.

mod chain;
mod database;
mod file;
mod layers;
mod node;
mod problems;
mod units;

use std::{path::PathBuf, time::Duration};

use bankroll_store::{Durability, Location, Options};
use bankroll_terminal::Paint;
use serde::{Deserialize, Serialize};

use crate::flows;
pub use chain::{Chain, Server};
pub use database::Database;
pub use file::commented_defaults;
pub use layers::{Loaded, SetFlag};
pub use node::Node;
pub use problems::ConfigError;

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub books: Books,
    pub node: Node,
    pub chain: Chain,
    pub server: Server,
}

/// `[books]`: how the ledger of record is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Books {
    pub folder: PathBuf,
    pub database: Database,
    pub durability: Durable,
    pub lease_ms: u64,
    pub queue_max: usize,
    pub accounts_in_memory_max: usize,
    pub keys_in_memory_max: usize,
}

/// [`Durability`] as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durable {
    Full,
    MayLoseRecentCommits,
}

/// The name of the configuration file in its folder.
pub const CONFIG_FILE: &str = "bankroll.toml";

/// Every key there is, in the order in which it is shown.
pub const KEYS: [&str; 30] = [
    "books.folder",
    DATABASE_KEY,
    "books.durability",
    "books.lease_ms",
    "books.queue_max",
    "books.accounts_in_memory_max",
    "books.keys_in_memory_max",
    "node.name",
    node::ROLES_KEY,
    "node.listen",
    "node.address",
    "node.certificates",
    RPC_KEY,
    "chain.id",
    "chain.genesis",
    "chain.symbol",
    "chain.confirmations",
    "chain.start",
    "chain.wallet",
    "chain.treasury",
    "chain.signer",
    "chain.poll_ms",
    "chain.resend_ms",
    "chain.in_flight_max",
    "chain.max_fee_per_gas",
    "chain.pay_at_once",
    "server.name",
    "server.buy_in",
    "server.developer_bps",
    "server.world_bps",
];
const RPC_KEY: &str = "chain.rpc";
const DATABASE_KEY: &str = "books.database";

impl Default for Books {
    /// What the store does by itself.
    fn default() -> Self {
        let (folder, options) = (PathBuf::from("."), Options::new(PathBuf::from(".")));
        Self {
            folder,
            database: Database::default(),
            durability: Durable::Full,
            lease_ms: u64::try_from(options.lease.as_millis()).unwrap_or(u64::MAX),
            queue_max: options.queue_max,
            accounts_in_memory_max: options.accounts_in_memory_max,
            keys_in_memory_max: options.keys_in_memory_max,
        }
    }
}

impl Books {
    /// As the store wants it, for books at this place.
    pub fn options(&self, location: impl Into<Location>) -> Options {
        let durability = match self.durability {
            Durable::Full => Durability::Full,
            Durable::MayLoseRecentCommits => Durability::MayLoseRecentCommits,
        };
        Options {
            durability,
            lease: Duration::from_millis(self.lease_ms),
            queue_max: self.queue_max,
            accounts_in_memory_max: self.accounts_in_memory_max,
            keys_in_memory_max: self.keys_in_memory_max,
            migrations: flows::migrations(),
            ..Options::new(location)
        }
    }

    /// Says loudly that money can be lost, if it can.
    pub fn warn_if_lossy(&self) {
        if self.durability == Durable::MayLoseRecentCommits {
            let warning = Paint::stderr().bad("WARNING: books.durability is \"may_lose_recent_commits\".");
            eprintln!("{warning} A crash of this machine can lose transfers that were acknowledged. Play money only.");
        }
    }

    /// Numbers that would not work, each with what would.
    fn out_of_range(&self) -> Vec<(&'static str, String)> {
        let ranges = [
            ("books.queue_max", self.queue_max, 1_024..=1_048_576),
            ("books.accounts_in_memory_max", self.accounts_in_memory_max, 1_024..=16_777_216),
            ("books.keys_in_memory_max", self.keys_in_memory_max, 1_024..=16_777_216),
        ];
        let lease = usize::try_from(self.lease_ms).unwrap_or(usize::MAX);
        let ranges = ranges.into_iter().chain([("books.lease_ms", lease, 500..=300_000)]);
        let wrong = ranges.filter(|(_, value, range)| !range.contains(value));
        wrong
            .map(|(key, value, range)| (key, format!("{value} is not from {} to {}", range.start(), range.end())))
            .chain(self.database.problem().map(|problem| (DATABASE_KEY, problem)))
            .collect()
    }
}
