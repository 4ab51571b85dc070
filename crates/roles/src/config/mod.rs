//! The configuration: `bankroll.toml`, overridden by `BANKROLL__SECTION__KEY`, overridden by flags.
//!
//! An unknown key is an error that says where it is and what may have been meant: a value that is silently ignored
//! would be worse than a node that does not start.

mod api;
mod by_chain;
mod chain;
mod database;
mod environment;
mod file;
mod keys;
mod known_chains;
mod layers;
mod node;
mod notify;
mod problems;
mod units;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use bankroll_store::{Durability, LedgerOptions, Location};
use bankroll_terminal::Paint;
use serde::{Deserialize, Serialize};

use crate::flows;
pub use api::ApiConfig;
pub use by_chain::ByChain;
pub use chain::{ChainConfig, GameServerConfig};
pub use database::DatabaseConfig;
pub use file::commented;
pub use keys::KEYS;
pub use layers::{LoadedConfig, SetFlag};
pub use node::NodeConfig;
pub use notify::NotifyConfig;
pub use problems::ConfigError;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub books: BooksConfig,
    pub node: NodeConfig,
    pub api: ApiConfig,
    pub notify: NotifyConfig,
    pub chain: ChainConfig,
    /// Further chains that this process follows, each with the keys of `[chain]`.
    #[serde(default)]
    pub chains: BTreeMap<String, ChainConfig>,
    pub server: GameServerConfig,
}

/// `[books]`: how the ledger of record is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BooksConfig {
    pub folder: PathBuf,
    pub database: DatabaseConfig,
    pub durability: DurabilityConfig,
    pub lease_ms: u64,
    pub queue_max: usize,
    pub accounts_in_memory_max: usize,
    pub keys_in_memory_max: usize,
    /// The share of the time in which `serve` re-reads the books; 0 is never.
    pub scrub_percent: u32,
    pub scrub_pause_s: u64,
    /// Where `/metrics` answers in a node that has the role `books` and not the role `api`; empty for nowhere.
    pub metrics: String,
}

/// [`Durability`] as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DurabilityConfig {
    Full,
    MayLoseRecentCommits,
}

pub const CONFIG_FILE: &str = "bankroll.toml";

const RPC_KEY: &str = "chain.rpc";
const WS_KEY: &str = "chain.ws";
const DATABASE_KEY: &str = "books.database";

impl Default for BooksConfig {
    /// The store's own defaults.
    fn default() -> Self {
        let (folder, options) = (PathBuf::from("."), LedgerOptions::new(PathBuf::from(".")));
        Self {
            folder,
            database: DatabaseConfig::default(),
            durability: DurabilityConfig::Full,
            lease_ms: u64::try_from(options.lease.as_millis()).unwrap_or(u64::MAX),
            queue_max: options.queue_max,
            accounts_in_memory_max: options.accounts_in_memory_max,
            keys_in_memory_max: options.keys_in_memory_max,
            scrub_percent: 5,
            scrub_pause_s: 3_600,
            metrics: String::new(),
        }
    }
}

impl BooksConfig {
    /// The store's options, for books at this location.
    pub fn options(&self, location: impl Into<Location>) -> LedgerOptions {
        let durability = match self.durability {
            DurabilityConfig::Full => Durability::Full,
            DurabilityConfig::MayLoseRecentCommits => Durability::MayLoseRecentCommits,
        };
        LedgerOptions {
            durability,
            lease: Duration::from_millis(self.lease_ms),
            queue_max: self.queue_max,
            accounts_in_memory_max: self.accounts_in_memory_max,
            keys_in_memory_max: self.keys_in_memory_max,
            migrations: flows::migrations(),
            ..LedgerOptions::new(location)
        }
    }

    /// Warns if acknowledged transfers can be lost.
    pub fn warn_if_lossy(&self) {
        if self.durability == DurabilityConfig::MayLoseRecentCommits {
            let warning = Paint::stderr().bad("WARNING: books.durability is \"may_lose_recent_commits\".");
            eprintln!("{warning} A crash of this machine can lose transfers that were acknowledged. Play money only.");
        }
    }

    /// Values that have the right form and cannot work.
    fn problems(&self) -> Vec<(&'static str, String)> {
        let metrics = &self.metrics;
        let is_usable = metrics.is_empty() || node::is_host_and_port(metrics);
        let metrics = (!is_usable).then(|| ("books.metrics", format!("\"{metrics}\" is not of the form host:port")));
        self.database.problem().map(|problem| (DATABASE_KEY, problem)).into_iter().chain(metrics).collect()
    }
}
