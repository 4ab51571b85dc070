//! Open alerts, and how far each chain is read, as metrics and readiness of the process that holds the books.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use bankroll_alerts::{AlertKind, AlertState};
use bankroll_api::front::{MetricGauge, ReadyCheck};
use bankroll_ledger::{Name, Time};

/// How many alerts have each kind and state, and when that was known.
type KnownCounts = (BTreeMap<(AlertKind, AlertState), u64>, Time);

/// Written by the loop, read by `/metrics`. Without a holder in this process there is nothing to say: no value is better
/// than an old one.
#[derive(Clone, Debug, Default)]
pub struct AlertCounts {
    known: Arc<Mutex<Option<KnownCounts>>>,
    chains: Arc<Mutex<BTreeMap<Name, ChainPlace>>>,
}

/// How far the indexer of a chain is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainPlace {
    /// The last block that it has read, and when; `None` before the first.
    pub place: Option<(u64, Time)>,
    /// Why it does not go on.
    pub problem: Option<String>,
    pub is_development: bool,
}

impl AlertCounts {
    pub(super) fn set(&self, counts: BTreeMap<(AlertKind, AlertState), u64>, now: Time) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((counts, now));
    }

    pub(super) fn set_chain(&self, chain: &Name, place: ChainPlace) {
        self.chains.lock().unwrap_or_else(PoisonError::into_inner).insert(chain.clone(), place);
    }

    pub(super) fn forget(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.chains.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// One condition of readiness for each chain. A chain that stands still takes the node out of service only if no
    /// other goes on: players of the others are served. One for tests never does.
    #[must_use]
    pub fn ready_checks(&self) -> Vec<ReadyCheck> {
        let chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        let all_stand_still = chains.values().all(|place| place.problem.is_some());
        let check = |(chain, place): (&Name, &ChainPlace)| ReadyCheck {
            name: chain.to_string(),
            problem: place.problem.clone(),
            is_needed: all_stand_still && !place.is_development,
        };
        chains.iter().map(check).collect()
    }

    fn chain_gauges(&self) -> Vec<MetricGauge> {
        let chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        let labels = |chain: &Name| format!("chain=\"{chain}\"");
        let read = chains.iter().filter_map(|(chain, place)| Some((chain, place.place?)));
        let block = read.clone().map(|(chain, (block, _))| MetricGauge {
            name: "bankroll_chain_block",
            help: "The last block of a chain that its indexer has read.",
            labels: labels(chain),
            value: block,
        });
        let moved = read.map(|(chain, (_, at))| MetricGauge {
            name: "bankroll_chain_read_seconds",
            help: "When the indexer of a chain last read a block, since 1970.",
            labels: labels(chain),
            value: at.0 / 1_000_000,
        });
        let stalled = chains.iter().map(|(chain, place)| MetricGauge {
            name: "bankroll_chain_stalled",
            help: "1 if the indexer of a chain does not go on.",
            labels: labels(chain),
            value: u64::from(place.problem.is_some()),
        });
        block.chain(moved).chain(stalled).collect()
    }

    /// One value for each kind, zero included, so that a rule can tell "none" from "not known".
    #[must_use]
    pub fn gauges(&self) -> Vec<MetricGauge> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((counts, at)) = &*known else { return Vec::new() };
        let mut gauges = Vec::new();
        for kind in AlertKind::ALL {
            for state in [AlertState::Open, AlertState::Acknowledged] {
                let severity = kind.severity().as_str();
                gauges.push(MetricGauge {
                    name: "bankroll_alerts",
                    help: "Alerts that are not closed.",
                    labels: format!("kind=\"{kind}\",severity=\"{severity}\",state=\"{state}\""),
                    value: counts.get(&(*kind, state)).copied().unwrap_or(0),
                });
            }
        }
        gauges.push(MetricGauge {
            name: "bankroll_alerts_observed_seconds",
            help: "When the conditions of alerts were last observed, since 1970.",
            labels: String::new(),
            value: at.0 / 1_000_000,
        });
        gauges.extend(self.chain_gauges());
        gauges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_known_only_while_the_books_are_held() {
        let counts = AlertCounts::default();
        assert_eq!(counts.gauges(), []);
        counts.set([((AlertKind::WalletStopped, AlertState::Open), 2)].into(), Time(7_000_000));
        let gauges = counts.gauges();
        let stopped = "kind=\"wallet_stopped\",severity=\"critical\",state=\"open\"";
        let value = |labels: &str| gauges.iter().find(|gauge| gauge.labels == labels).map(|gauge| gauge.value);
        assert_eq!((value(stopped), value("")), (Some(2), Some(7)));
        assert_eq!(value("kind=\"disk_low\",severity=\"critical\",state=\"open\""), Some(0));
        counts.forget();
        assert_eq!(counts.gauges(), []);
    }

    #[test]
    fn a_chain_that_stands_still_is_named_and_holds_up_no_other() {
        let counts = AlertCounts::default();
        counts.set(BTreeMap::new(), Time(7_000_000));
        let chain = |id: u64| format!("eip155:{id}").parse::<Name>().unwrap();
        let still = |problem: &str| ChainPlace {
            place: Some((9, Time(5_000_000))),
            problem: Some(problem.into()),
            is_development: false,
        };
        counts.set_chain(&chain(1), ChainPlace { place: Some((12, Time(6_000_000))), ..ChainPlace::default() });
        counts.set_chain(&chain(137), still("stalled"));
        let shown = |counts: &AlertCounts| -> Vec<_> {
            let checks = counts.ready_checks().into_iter();
            checks.map(|check| (check.name, check.problem, check.is_needed)).collect()
        };
        let (first, second) = ("eip155:1".to_owned(), "eip155:137".to_owned());
        let stalled = Some("stalled".to_owned());
        assert_eq!(shown(&counts), [(first.clone(), None, false), (second.clone(), stalled.clone(), false)]);
        let gauges = counts.gauges();
        let value = |name: &str, labels: &str| {
            gauges.iter().find(|gauge| gauge.name == name && gauge.labels == labels).map(|gauge| gauge.value)
        };
        assert_eq!(value("bankroll_chain_block", "chain=\"eip155:1\""), Some(12));
        assert_eq!(value("bankroll_chain_read_seconds", "chain=\"eip155:137\""), Some(5));
        assert_eq!(value("bankroll_chain_stalled", "chain=\"eip155:137\""), Some(1));
        assert_eq!(value("bankroll_chain_stalled", "chain=\"eip155:1\""), Some(0));
        counts.set_chain(&chain(1), still("stalled"));
        assert_eq!(shown(&counts), [(first, stalled.clone(), true), (second, stalled, true)], "nothing goes on");
        counts.set_chain(&chain(137), ChainPlace { is_development: true, ..still("stalled") });
        assert_eq!(counts.ready_checks().iter().map(|check| check.is_needed).collect::<Vec<_>>(), [true, false]);
        counts.forget();
        assert_eq!((counts.ready_checks(), counts.gauges()), (Vec::new(), Vec::new()));
    }
}
