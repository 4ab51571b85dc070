//! The alerts that a decision needs: the newest of each kind and subject that is open or observed.

use std::collections::BTreeMap;

use bankroll_store::Reader;

use crate::{Alert, AlertError, AlertKind, AlertObservation, AlertState, rows};

/// The newest alert of a kind and a subject. One that is not here has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownAlerts {
    newest: BTreeMap<(AlertKind, String), Alert>,
}

impl KnownAlerts {
    /// All alerts that are not closed, and the newest ones of what was observed.
    ///
    /// # Errors
    /// If the books cannot be read, or a row is not as this program writes it.
    pub fn read(reader: &Reader, observations: &[AlertObservation]) -> Result<Self, AlertError> {
        let mut known: Self = rows::unclosed(reader)?.into_iter().collect();
        for condition in observations.iter().flat_map(|observation| &observation.conditions) {
            if known.newest(condition.kind, &condition.subject).is_none() {
                known.extend(rows::newest(reader, condition.kind, &condition.subject)?);
            }
        }
        Ok(known)
    }

    pub(crate) fn newest(&self, kind: AlertKind, subject: &str) -> Option<&Alert> {
        self.newest.get(&(kind, subject.to_owned()))
    }

    /// Those that are open or acknowledged.
    pub fn unclosed(&self) -> impl Iterator<Item = &Alert> {
        self.newest.values().filter(|alert| !alert.is_closed())
    }

    /// How many are open or acknowledged, by kind and state, for metrics.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<(AlertKind, AlertState), u64> {
        let mut counts = BTreeMap::new();
        for alert in self.unclosed() {
            let count: &mut u64 = counts.entry((alert.kind, alert.state)).or_default();
            *count = count.saturating_add(1);
        }
        counts
    }

    /// Takes over a change that was committed.
    pub(crate) fn replace(&mut self, alert: Alert) {
        self.newest.insert((alert.kind, alert.subject.clone()), alert);
    }
}

impl Extend<Alert> for KnownAlerts {
    fn extend<T: IntoIterator<Item = Alert>>(&mut self, alerts: T) {
        alerts.into_iter().for_each(|alert| self.replace(alert));
    }
}

impl FromIterator<Alert> for KnownAlerts {
    fn from_iter<T: IntoIterator<Item = Alert>>(alerts: T) -> Self {
        let mut known = Self::default();
        known.extend(alerts);
        known
    }
}
