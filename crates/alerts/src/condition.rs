//! What a caller observed: the conditions of one kind that hold now.

use crate::AlertKind;

/// The longest subject, summary and details, in characters: a request to the books has 16 KiB for its row and event.
const SUBJECT_MAX: usize = 120;
const SUMMARY_MAX: usize = 500;
const DETAILS_MAX: usize = 3_000;

/// A condition that holds now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertCondition {
    pub kind: AlertKind,
    /// What it is about: `eip155:1/0x...`, `node-1`, a payout.
    pub subject: String,
    /// One sentence for a person.
    pub summary: String,
    /// JSON for programs and for `alerts show`.
    pub details: String,
    /// How many deposits, payouts, ... are concerned.
    pub items: u64,
}

impl AlertCondition {
    /// A condition about one thing.
    #[must_use]
    pub fn new(kind: AlertKind, subject: &str, summary: &str) -> Self {
        Self {
            kind,
            subject: cut(subject, SUBJECT_MAX),
            summary: cut(summary, SUMMARY_MAX),
            details: "{}".into(),
            items: 1,
        }
    }

    #[must_use]
    pub fn about(self, items: u64) -> Self {
        Self { items, ..self }
    }

    /// With details; what is too long is left out.
    #[must_use]
    pub fn with(self, details: &serde_json::Value) -> Self {
        let details = details.to_string();
        if details.len() > DETAILS_MAX { self } else { Self { details, ..self } }
    }
}

/// In one line, without what Postgres cannot keep in a text.
fn cut(text: &str, most: usize) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(most).collect()
}

/// Which subjects of a kind the observation speaks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObservedScope {
    /// All of them: one without a condition is well.
    All,
    /// This one: a node knows its own disk, and not that of another node.
    Subject(String),
}

/// All conditions of one kind that hold now, in this scope. If a caller cannot find out, it has no observation: what is
/// not known closes no alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertObservation {
    pub kind: AlertKind,
    pub scope: ObservedScope,
    pub conditions: Vec<AlertCondition>,
}

impl AlertObservation {
    #[must_use]
    pub fn all(kind: AlertKind, conditions: Vec<AlertCondition>) -> Self {
        Self { kind, scope: ObservedScope::All, conditions }
    }

    #[must_use]
    pub fn of_subject(kind: AlertKind, subject: &str, condition: Option<AlertCondition>) -> Self {
        let scope = ObservedScope::Subject(cut(subject, SUBJECT_MAX));
        Self { kind, scope, conditions: condition.into_iter().collect() }
    }

    /// Whether it says something about this subject.
    pub(crate) fn covers(&self, kind: AlertKind, subject: &str) -> bool {
        let is_in_scope = match &self.scope {
            ObservedScope::All => true,
            ObservedScope::Subject(own) => own == subject,
        };
        self.kind == kind && is_in_scope
    }
}
