//! The decision: what was observed and the alerts that are known give the changes to write. Pure.
//!
//! What it remembers between two calls is when a condition began and when it ended, for the kinds that wait. A process
//! that starts again begins to count anew: an alert opens or closes a minute later, and none is lost.

use std::collections::BTreeMap;

use bankroll_ledger::Time;

use crate::{Alert, AlertChange, AlertCondition, AlertEnding, AlertKind, AlertObservation, KnownAlerts};

/// An open alert whose items or summary change is written again after this time, in microseconds: a condition that
/// changes with each request must not fill the journal.
const REWRITE_AFTER: u64 = 60_000_000;

/// A kind and a subject.
type Place = (AlertKind, String);

/// Since when conditions hold that have no alert yet, and since when open alerts have no condition.
#[derive(Clone, Debug, Default)]
pub struct AlertWatch {
    begun: BTreeMap<Place, Time>,
    over: BTreeMap<Place, Time>,
}

impl AlertWatch {
    /// The changes that follow from what was observed now.
    pub fn decide(&mut self, observations: &[AlertObservation], known: &KnownAlerts, now: Time) -> Vec<AlertChange> {
        let mut holding: BTreeMap<Place, &AlertCondition> = BTreeMap::new();
        for condition in observations.iter().flat_map(|observation| &observation.conditions) {
            holding.entry((condition.kind, condition.subject.clone())).or_insert(condition);
        }
        // What is not observed any more, and what could not be observed, begins anew.
        self.begun.retain(|place, _| holding.contains_key(place));
        let mut changes: Vec<AlertChange> =
            holding.values().filter_map(|condition| self.holds(condition, known, now)).collect();
        let ended = known.unclosed().filter(|alert| !holding.contains_key(&place_of(alert)));
        let covered = |alert: &&Alert| observations.iter().any(|seen| seen.covers(alert.kind, &alert.subject));
        let ended: Vec<&Alert> = ended.filter(covered).collect();
        self.over.retain(|place, _| ended.iter().any(|alert| place_of(alert) == *place));
        changes.extend(ended.into_iter().filter_map(|alert| self.is_over(alert, now)));
        changes
    }

    /// A condition that holds.
    fn holds(&mut self, condition: &AlertCondition, known: &KnownAlerts, now: Time) -> Option<AlertChange> {
        let kind = condition.kind;
        let newest = known.newest(kind, &condition.subject);
        match newest {
            Some(alert) if !alert.is_closed() => {
                let is_due = now.0.saturating_sub(alert.changed_at.0) >= REWRITE_AFTER;
                (is_due && differs(alert, condition)).then(|| AlertChange::rewrite(alert, condition, now))
            }
            // It happened once, and a person has closed it.
            Some(_) if kind.ending() == AlertEnding::ByPerson => None,
            newest => {
                let place = (kind, condition.subject.clone());
                let begun = *self.begun.entry(place.clone()).or_insert(now);
                if now.0.saturating_sub(begun.0) < kind.opens_after() {
                    return None;
                }
                self.begun.remove(&place);
                Some(AlertChange::open(condition, newest, now))
            }
        }
    }

    /// An alert whose condition does not hold.
    fn is_over(&mut self, alert: &Alert, now: Time) -> Option<AlertChange> {
        if !alert.kind.closes_by_itself() {
            return None;
        }
        let since = *self.over.entry(place_of(alert)).or_insert(now);
        let is_due = now.0.saturating_sub(since.0) >= alert.kind.closes_after();
        is_due.then(|| AlertChange::close_by_itself(alert, now))
    }
}

fn place_of(alert: &Alert) -> Place {
    (alert.kind, alert.subject.clone())
}

fn differs(alert: &Alert, condition: &AlertCondition) -> bool {
    (alert.items, &alert.summary, &alert.details) != (condition.items, &condition.summary, &condition.details)
}
