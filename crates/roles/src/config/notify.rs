//! `[notify]`: how events are delivered to webhooks.

use std::time::Duration;

use bankroll_notify::{TargetPolicy, WorkerSettings};
use serde::{Deserialize, Serialize};

use super::{Config, NodeConfig, chain::CHAINS, known_chains::KnownChain};
use crate::flows::NotifySetup;

pub(super) const PRIVATE_KEY: &str = "notify.allow_private_targets";

const DAY: u64 = 24 * 3_600 * 1_000_000;

/// `[notify]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotifyConfig {
    /// Whether webhooks may reach this machine and its network, by http and at every port.
    pub allow_private_targets: bool,
    pub poll_ms: u64,
    pub in_flight_max: usize,
    pub keep_days: u64,
}

impl Default for NotifyConfig {
    fn default() -> Self {
        Self { allow_private_targets: false, poll_ms: 250, in_flight_max: 256, keep_days: 30 }
    }
}

impl NotifyConfig {
    #[must_use]
    pub fn target_policy(&self) -> TargetPolicy {
        TargetPolicy { allows_private: self.allow_private_targets }
    }

    pub(crate) fn setup(&self, node: &NodeConfig) -> NotifySetup {
        NotifySetup {
            policy: self.target_policy(),
            poll: Duration::from_millis(self.poll_ms),
            worker: WorkerSettings {
                name: node.name.to_string(),
                in_flight_max: self.in_flight_max,
                keep_for: self.keep_days.saturating_mul(DAY),
            },
        }
    }

    /// With a chain of real money, no request of a webhook may reach the network of the deployment.
    pub(super) fn problems(&self, config: &Config) -> Option<(&'static str, String)> {
        let further = config.chains.iter().map(|(name, chain)| (format!("{CHAINS}.{name}.id"), chain));
        let mut chains = [("chain.id".to_owned(), &config.chain)].into_iter().chain(further);
        let real = chains.find(|(_, chain)| chain.is_set() && !KnownChain::of(chain.id).is_development);
        real.filter(|_| self.allow_private_targets).map(|(key, chain)| {
            let what = "is for development: on a real chain a webhook could reach the machines of this deployment";
            (PRIVATE_KEY, format!("true {what} ({key} is {}); set it to false", chain.id))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ChainConfig;

    fn problem(allow: bool, chain: ChainConfig, further: Option<ChainConfig>) -> Option<String> {
        let notify = NotifyConfig { allow_private_targets: allow, ..NotifyConfig::default() };
        let chains = further.map(|chain| ("polygon".to_owned(), chain)).into_iter().collect();
        let config = Config { chain, chains, ..Config::default() };
        notify.problems(&config).map(|(_, what)| what)
    }

    fn chain(rpc: &str, id: u64) -> ChainConfig {
        ChainConfig { rpc: serde_json::from_value(rpc.into()).unwrap(), id, ..ChainConfig::default() }
    }

    #[test]
    fn private_targets_are_for_development() {
        let url = "http://127.0.0.1:8545";
        assert_eq!(problem(false, chain(url, 1), None), None);
        assert_eq!(problem(true, chain("", 1), None), None);
        assert_eq!(problem(true, chain(url, 31_337), None), None);
        let refused = |key: &str, id: u64| {
            let what = "true is for development: on a real chain a webhook could reach the machines of this deployment";
            Some(format!("{what} ({key} is {id}); set it to false"))
        };
        assert_eq!(problem(true, chain(url, 1), None), refused("chain.id", 1));
        assert_eq!(problem(true, chain(url, 31_337), Some(chain(url, 137))), refused("chains.polygon.id", 137));
    }
}
