//! The tables, their rows, and the statements on them: one text for both engines.

use bankroll_ledger::{ColumnValue, Fact, Guard, GuardFailure, Row, RowKey, Seq, Time};

use crate::{
    Reader, Statement, StoreError,
    columns::{BadRow, number_of, text_of},
};

/// Events of payouts.
pub const PAYOUT_EVENTS: InboxTable = InboxTable { name: "payout_events", subject: "intent_id" };

/// The longest stored reason, in characters.
const REASON_MAX: usize = 500;

/// A table through which one role hands over to `books`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InboxTable {
    name: &'static str,
    /// The column that says what a row is about.
    subject: &'static str,
}

/// A row to hand over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewInboxRow {
    /// The same fact must have the same id, however often and from whichever node it is handed over.
    pub id: String,
    /// The kind of fact; decides which flow consumes it.
    pub kind: String,
    /// What it is about: a deposit, an intent.
    pub subject: String,
    /// The fact, as JSON.
    pub body: String,
    /// The node that hands it over.
    pub node: String,
    /// For operators, and for the order in which rows are consumed.
    pub created_at: Time,
}

/// A row that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxRow {
    pub id: String,
    pub kind: String,
    /// What it is about.
    pub subject: String,
    /// The fact, as JSON.
    pub body: String,
    /// How often it was deferred.
    pub tries: u32,
}

/// A row that the books refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedInboxRow {
    pub id: String,
    /// What it is about.
    pub subject: String,
    pub reason: String,
}

impl InboxTable {
    /// Inserts the row, or finds the same row there. If another fact has this id, the statement changes no row, which
    /// rolls its set back. For a flow that hands over in the write of its own rows.
    #[must_use]
    pub fn insert(self, row: &NewInboxRow) -> Statement {
        let Self { name, subject } = self;
        let sql = format!(
            "INSERT INTO {name} (id, type, {subject}, body, node, created_at) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (id) DO UPDATE SET id = excluded.id
             WHERE {name}.type = excluded.type AND {name}.{subject} = excluded.{subject} AND {name}.body = excluded.body"
        );
        let created_at = ColumnValue::Int(i64::try_from(row.created_at.0).unwrap_or(i64::MAX));
        let texts = [&row.id, &row.kind, &row.subject, &row.body, &row.node];
        let values = texts.into_iter().map(|text| ColumnValue::Text(text.clone())).chain([created_at]).collect();
        Statement { sql, values, must_change: Some(1) }
    }

    /// The rows of these kinds that are new and due, oldest first.
    pub(super) fn waiting(self, kinds: &[String], now: Time, most: usize) -> Statement {
        let Self { name, subject } = self;
        let places: Vec<String> = (2..kinds.len() + 2).map(|place| format!("${place}")).collect();
        let sql = format!(
            "SELECT id, type, {subject} AS subject, body, tries FROM {name}
             WHERE state = 'new' AND due_at <= $1 AND type IN ({}) ORDER BY created_at, id LIMIT {most}",
            places.join(", ")
        );
        let now = ColumnValue::Int(i64::try_from(now.0).unwrap_or(i64::MAX));
        let values = [now].into_iter().chain(kinds.iter().cloned().map(ColumnValue::Text)).collect();
        Statement { sql, values, must_change: None }
    }

    /// Rows that were refused, oldest first: what each is about, and why. A person must look at them.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn refused(self, reader: &Reader, most: usize) -> Result<Vec<RefusedInboxRow>, StoreError> {
        let Self { name, subject } = self;
        let sql = format!(
            "SELECT id, {subject} AS subject, reason FROM {name}
             WHERE state = 'refused' ORDER BY created_at, id LIMIT {most}"
        );
        let shown = |row: &Row, column| text_of(row, column).unwrap_or_default().to_owned();
        let refused = |row: &Row| RefusedInboxRow {
            id: shown(row, "id"),
            subject: shown(row, "subject"),
            reason: shown(row, "reason"),
        };
        Ok(reader.rows(&sql, Vec::new())?.iter().map(refused).collect())
    }

    /// Consumes the row with the money it causes. It contains nothing else, so that a retry is the same request.
    pub(super) fn consume(self, id: &str) -> Fact {
        let state = |text: &str| vec![("state".to_owned(), ColumnValue::Text(text.to_owned()))];
        let columns = vec![("id".to_owned(), ColumnValue::Text(id.to_owned()))];
        let row = RowKey { table: self.name.to_owned(), columns };
        Fact { row, guard: Guard::Is(state("new")), otherwise: GuardFailure::Conflict, set: state("applied") }
    }

    /// Consumes the row without money.
    pub(super) fn mark_applied(self, id: &str) -> Statement {
        let sql = format!("UPDATE {} SET state = 'applied' WHERE id = $1 AND state = 'new'", self.name);
        Statement { sql, values: vec![ColumnValue::Text(id.to_owned())], must_change: None }
    }

    /// Marks the row as refused, with the reason.
    pub(super) fn mark_refused(self, id: &str, reason: &str) -> Statement {
        let sql = format!("UPDATE {} SET state = 'refused', reason = $1 WHERE id = $2 AND state = 'new'", self.name);
        Statement { sql, values: vec![short(reason), ColumnValue::Text(id.to_owned())], must_change: None }
    }

    /// Defers the row.
    pub(super) fn mark_deferred(self, id: &str, reason: &str, until: Time) -> Statement {
        let sql = format!(
            "UPDATE {} SET tries = tries + 1, due_at = $1, reason = $2 WHERE id = $3 AND state = 'new'",
            self.name
        );
        let until = ColumnValue::Int(i64::try_from(until.0).unwrap_or(i64::MAX));
        Statement { sql, values: vec![until, short(reason), ColumnValue::Text(id.to_owned())], must_change: None }
    }
}

fn short(reason: &str) -> ColumnValue {
    // Postgres takes no zero bytes in texts.
    ColumnValue::Text(reason.chars().filter(|letter| *letter != '\0').take(REASON_MAX).collect())
}

impl InboxRow {
    /// A row with a value that no role writes was edited: an error, never a guess.
    pub(super) fn from_row(row: &Row) -> Result<Self, StoreError> {
        Self::read(row).map_err(|bad| StoreError::diverged(Seq(0), format!("the inbox: {bad}")))
    }

    fn read(row: &Row) -> Result<Self, BadRow> {
        let text = |column| text_of(row, column).map(str::to_owned);
        let tries = u32::try_from(number_of(row, "tries")?).map_err(|_| BadRow { column: "tries" })?;
        Ok(Self { id: text("id")?, kind: text("type")?, subject: text("subject")?, body: text("body")?, tries })
    }
}
