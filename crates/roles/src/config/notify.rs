//! `[notify]`: how events are delivered to webhooks.

use std::time::Duration;

use bankroll_notify::{TargetPolicy, WorkerSettings};
use serde::{Deserialize, Serialize};

use super::{ChainConfig, NodeConfig};
use crate::flows::NotifySetup;

pub(super) const PRIVATE_KEY: &str = "notify.allow_private_targets";

/// Chains that are used for tests only: of anvil, Hardhat and this program, and of Ganache and geth.
const TEST_CHAINS: [u64; 2] = [31_337, 1_337];
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
    pub(super) fn problems(&self, chain: &ChainConfig) -> Option<(&'static str, String)> {
        let is_real = chain.is_set() && !TEST_CHAINS.contains(&chain.id);
        (self.allow_private_targets && is_real).then(|| {
            let what = "is for development: on a real chain a webhook could reach the machines of this deployment";
            (PRIVATE_KEY, format!("true {what} (chain.id is {}); set it to false", chain.id))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_targets_are_for_development() {
        let check = |allow: bool, rpc: &str, id: u64| {
            let rpc = serde_json::from_value(rpc.into()).unwrap();
            let chain = ChainConfig { rpc, id, ..ChainConfig::default() };
            let config = NotifyConfig { allow_private_targets: allow, ..NotifyConfig::default() };
            config.problems(&chain).map(|(_, what)| what)
        };
        assert_eq!(check(false, "http://127.0.0.1:8545", 1), None);
        assert_eq!(check(true, "", 1), None);
        assert_eq!(check(true, "http://127.0.0.1:8545", 31_337), None);
        let refused = "true is for development: on a real chain a webhook could reach the machines of this deployment \
                       (chain.id is 1); set it to false";
        assert_eq!(check(true, "http://127.0.0.1:8545", 1).as_deref(), Some(refused));
    }
}
