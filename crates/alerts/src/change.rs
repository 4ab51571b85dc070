//! A change of an alert, and the request that writes it: the row, guarded by the row before it, and the event. Pure.

use bankroll_ledger::{
    Action, Column, ColumnValue, Event, Fact, Guard, GuardFailure, IdempotencyKey, Namespace, Principal, References,
    Request, RowKey, Scope, Time,
};
use bankroll_store::columns::{int, text, time};
use serde_json::json;

use crate::{Alert, AlertCondition, AlertId, AlertState};

/// An alert as it is after the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertChange {
    after: Alert,
    step: AlertStep,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum AlertStep {
    /// After the alert of the same kind and subject that was closed before, if there was one.
    Open {
        earlier: Option<AlertId>,
    },
    /// Its condition has other items now.
    Rewrite,
    Acknowledge,
    Close,
}

/// What a person does with an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertAct {
    /// "I have seen it, and work on it."
    Acknowledge,
    Close,
}

/// Why a person's act changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AlertRefusal {
    #[error("the alert is closed: it cannot be acknowledged")]
    Closed,
}

impl AlertAct {
    /// The change that a person asks for; `None` if the alert is so already.
    ///
    /// # Errors
    /// If the alert is closed, and this person has not acknowledged it before.
    pub fn decide(self, alert: &Alert, by: &str, now: Time) -> Result<Option<AlertChange>, AlertRefusal> {
        let is_own = alert.acknowledged.as_ref().is_some_and(|(_, person)| person == by);
        match (self, alert.state) {
            (Self::Acknowledge, AlertState::Open) => Ok(Some(AlertChange::acknowledge(alert, by, now))),
            (Self::Acknowledge, AlertState::Acknowledged) => Ok(None),
            // A retry whose first answer was lost; the alert has closed since.
            (Self::Acknowledge, AlertState::Closed) if is_own => Ok(None),
            (Self::Acknowledge, AlertState::Closed) => Err(AlertRefusal::Closed),
            (Self::Close, AlertState::Closed) => Ok(None),
            (Self::Close, _) => Ok(Some(AlertChange::close(alert, Some(by), now))),
        }
    }
}

impl AlertChange {
    /// The alert afterwards.
    #[must_use]
    pub fn alert(&self) -> &Alert {
        &self.after
    }

    /// `opened`, `changed`, `acknowledged` or `closed`.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match self.step {
            AlertStep::Open { .. } => "opened",
            AlertStep::Rewrite => "changed",
            AlertStep::Acknowledge => "acknowledged",
            AlertStep::Close => "closed",
        }
    }

    pub(crate) fn open(condition: &AlertCondition, earlier: Option<&Alert>, now: Time) -> Self {
        let opening = earlier.map_or(1, |alert| alert.opening.saturating_add(1));
        let AlertCondition { kind, subject, summary, details, items } = condition.clone();
        let after = Alert {
            id: AlertId::new(kind, &subject, opening),
            kind,
            subject,
            opening,
            state: AlertState::Open,
            summary,
            details,
            items,
            opened_at: now,
            changed_at: now,
            acknowledged: None,
            closed: None,
            revision: 1,
        };
        Self { after, step: AlertStep::Open { earlier: earlier.map(|alert| alert.id.clone()) } }
    }

    pub(crate) fn rewrite(before: &Alert, condition: &AlertCondition, now: Time) -> Self {
        let AlertCondition { summary, details, items, .. } = condition.clone();
        Self { after: Alert { summary, details, items, ..next(before, now) }, step: AlertStep::Rewrite }
    }

    pub(crate) fn close_by_itself(before: &Alert, now: Time) -> Self {
        Self::close(before, None, now)
    }

    fn acknowledge(before: &Alert, by: &str, now: Time) -> Self {
        let acknowledged = Some((now, by.to_owned()));
        let after = Alert { state: AlertState::Acknowledged, acknowledged, ..next(before, now) };
        Self { after, step: AlertStep::Acknowledge }
    }

    fn close(before: &Alert, by: Option<&str>, now: Time) -> Self {
        let closed = Some((now, by.map(str::to_owned)));
        Self { after: Alert { state: AlertState::Closed, closed, ..next(before, now) }, step: AlertStep::Close }
    }

    /// The request of the loop that watches conditions. A person's change goes into the request of that person, with
    /// the same facts and events.
    #[must_use]
    pub fn request(&self) -> Request {
        let (id, revision) = (&self.after.id, self.after.revision);
        Request {
            key: IdempotencyKey {
                namespace: Namespace::System,
                scope: Scope::House,
                // Each revision is written once.
                text: format!("alert/{id}/{revision}"),
            },
            principal: Principal::System,
            confirmation: None,
            action: Action::Legs(Vec::new()),
            references: References::default(),
            facts: self.facts(),
            events: self.events(),
        }
    }

    /// The rows that it writes, and what must hold before.
    #[must_use]
    pub fn facts(&self) -> Vec<Fact> {
        let after = &self.after;
        let own = row_of(&after.id);
        match &self.step {
            AlertStep::Open { earlier } => {
                let set = identity(after).into_iter().chain(columns(after)).collect();
                let opened = Fact { row: own, guard: Guard::Absent, otherwise: GuardFailure::Conflict, set };
                // Of a kind and a subject at most one is not closed.
                let is_closed = earlier.as_ref().map(|id| Fact {
                    row: row_of(id),
                    guard: Guard::Is(vec![column("state", text(AlertState::Closed.as_str()))]),
                    otherwise: GuardFailure::Conflict,
                    set: Vec::new(),
                });
                [opened].into_iter().chain(is_closed).collect()
            }
            AlertStep::Rewrite | AlertStep::Acknowledge | AlertStep::Close => {
                let guard = Guard::Is(vec![column("revision", int(after.revision.saturating_sub(1)))]);
                vec![Fact { row: own, guard, otherwise: GuardFailure::Conflict, set: columns(after) }]
            }
        }
    }

    /// `alert.opened`, `alert.acknowledged` or `alert.closed`. Other items are no event.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        if self.step == AlertStep::Rewrite {
            return Vec::new();
        }
        let kind = format!("alert.{}", self.verb()).parse().expect("a legal name");
        let body = self.after.json(|at| json!(at.0)).to_string();
        vec![Event { kind, resource: self.after.id.to_string(), body }]
    }
}

fn next(before: &Alert, now: Time) -> Alert {
    Alert { changed_at: now, revision: before.revision.saturating_add(1), ..before.clone() }
}

fn row_of(id: &AlertId) -> RowKey {
    RowKey { table: "alerts".into(), columns: vec![column("id", text(id.as_str()))] }
}

/// What never changes.
fn identity(alert: &Alert) -> Vec<Column> {
    vec![
        column("kind", text(alert.kind.as_str())),
        column("subject", text(&alert.subject)),
        column("opening", int(alert.opening)),
        column("severity", text(alert.kind.severity().as_str())),
        column("opened_at", time(alert.opened_at)),
    ]
}

fn columns(alert: &Alert) -> Vec<Column> {
    let or_null = |value: Option<ColumnValue>| value.unwrap_or(ColumnValue::Null);
    let (acknowledged, closed) = (alert.acknowledged.as_ref(), alert.closed.as_ref());
    vec![
        column("state", text(alert.state.as_str())),
        column("summary", text(&alert.summary)),
        column("details", text(&alert.details)),
        column("items", int(alert.items)),
        column("changed_at", time(alert.changed_at)),
        column("acknowledged_at", or_null(acknowledged.map(|(at, _)| time(*at)))),
        column("acknowledged_by", or_null(acknowledged.map(|(_, by)| text(by)))),
        column("closed_at", or_null(closed.map(|(at, _)| time(*at)))),
        column("closed_by", or_null(closed.and_then(|(_, by)| by.as_deref()).map(text))),
        column("revision", int(alert.revision)),
    ]
}

fn column(name: &str, value: ColumnValue) -> Column {
    (name.to_owned(), value)
}
