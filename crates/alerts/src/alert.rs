//! One alert, as its row states it.

use std::{fmt, str::FromStr};

use bankroll_ledger::Time;
use serde_json::{Value, json};

use crate::{AlertId, AlertKind};

/// An alert begins open. Closed is its end: the same condition later is another alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertState {
    Open,
    /// A person has seen it and works on it.
    Acknowledged,
    Closed,
}

impl AlertState {
    pub const ALL: [Self; 3] = [Self::Open, Self::Acknowledged, Self::Closed];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Acknowledged => "acknowledged",
            Self::Closed => "closed",
        }
    }
}

impl FromStr for AlertState {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|state| state.as_str() == text);
        found.ok_or("the state of an alert is open, acknowledged or closed")
    }
}

impl fmt::Display for AlertState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub id: AlertId,
    pub kind: AlertKind,
    pub subject: String,
    /// Which alert of its kind and subject it is, from 1.
    pub opening: u64,
    pub state: AlertState,
    pub summary: String,
    /// JSON.
    pub details: String,
    /// How many deposits, payouts, ... its condition has or had last.
    pub items: u64,
    pub opened_at: Time,
    /// When its row was last written.
    pub changed_at: Time,
    /// When a person acknowledged it, and who.
    pub acknowledged: Option<(Time, String)>,
    /// When it closed, and who closed it; no person if it closed by itself.
    pub closed: Option<(Time, Option<String>)>,
    pub revision: u64,
}

impl Alert {
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state == AlertState::Closed
    }

    /// As events and the Funds API show it. The caller shows times.
    #[must_use]
    pub fn json(&self, show_time: impl Fn(Time) -> Value) -> Value {
        let details = serde_json::from_str(&self.details).unwrap_or(Value::Null);
        let acknowledged = self.acknowledged.as_ref();
        let closed = self.closed.as_ref();
        json!({
            "id": self.id.as_str(), "kind": self.kind.as_str(), "subject": self.subject,
            "severity": self.kind.severity().as_str(), "state": self.state.as_str(), "summary": self.summary,
            "details": details, "items": self.items, "opening": self.opening, "opened_at": show_time(self.opened_at),
            "changed_at": show_time(self.changed_at),
            "acknowledged_at": acknowledged.map(|(at, _)| show_time(*at)),
            "acknowledged_by": acknowledged.map(|(_, by)| by),
            "closed_at": closed.map(|(at, _)| show_time(*at)), "closed_by": closed.and_then(|(_, by)| by.as_ref()),
            "closes_by_itself": self.kind.closes_by_itself(), "runbook": self.kind.runbook(),
            "next_step": self.kind.next_step(),
        })
    }
}
