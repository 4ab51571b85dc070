//! Open alerts as metrics of the process that holds the books.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use bankroll_alerts::{AlertKind, AlertState};
use bankroll_api::front::MetricGauge;
use bankroll_ledger::Time;

/// How many alerts have each kind and state, and when that was known.
type KnownCounts = (BTreeMap<(AlertKind, AlertState), u64>, Time);

/// Written by the loop, read by `/metrics`. Without a holder in this process there is nothing to say: no value is better
/// than an old one.
#[derive(Clone, Debug, Default)]
pub struct AlertCounts {
    known: Arc<Mutex<Option<KnownCounts>>>,
}

impl AlertCounts {
    pub(super) fn set(&self, counts: BTreeMap<(AlertKind, AlertState), u64>, now: Time) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((counts, now));
    }

    pub(super) fn forget(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
}
