//! Read-only views of the table of alerts. No other crate queries it itself.

use bankroll_store::{
    Reader,
    columns::{text, time},
};

use crate::{ALERTS, Alert, AlertError, AlertId, AlertKind, AlertSeverity, AlertState, rows};

/// Which alerts to list.
#[derive(Clone, Debug, Default)]
pub struct AlertFilter {
    /// Without one: those that are not closed.
    pub state: Option<AlertState>,
    pub kind: Option<AlertKind>,
    pub severity: Option<AlertSeverity>,
    /// Continue after this one.
    pub after: Option<Alert>,
}

/// Alerts, the newest first. Without a state in the filter, those that are open or acknowledged.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn list(reader: &Reader, filter: &AlertFilter, most: usize) -> Result<Vec<Alert>, AlertError> {
    let (mut conditions, mut values) = (Vec::new(), Vec::new());
    match filter.state {
        Some(state) => {
            values.push(text(state.as_str()));
            conditions.push(format!("state = ${}", values.len()));
        }
        None => conditions.push("state <> 'closed'".to_owned()),
    }
    if let Some(kind) = filter.kind {
        values.push(text(kind.as_str()));
        conditions.push(format!("kind = ${}", values.len()));
    }
    if let Some(severity) = filter.severity {
        values.push(text(severity.as_str()));
        conditions.push(format!("severity = ${}", values.len()));
    }
    if let Some(after) = &filter.after {
        values.push(time(after.opened_at));
        let at = values.len();
        values.push(text(after.id.as_str()));
        conditions.push(format!("(opened_at < ${at} OR (opened_at = ${at} AND id > ${}))", values.len()));
    }
    let condition = format!("WHERE {} ORDER BY opened_at DESC, id LIMIT {most}", conditions.join(" AND "));
    rows::alerts(reader, &condition, values)
}

/// One alert by its id.
///
/// # Errors
/// If the books cannot be read, or the row is not as this program writes it.
pub fn find(reader: &Reader, id: &AlertId) -> Result<Option<Alert>, AlertError> {
    rows::find(reader, id)
}

/// Whether these books have the table of alerts: books that never were a node's have none.
///
/// # Errors
/// If the books cannot be read.
pub fn has_tables(reader: &Reader) -> Result<bool, AlertError> {
    let sql = "SELECT owner FROM migrations WHERE owner = $1";
    Ok(!reader.rows(sql, vec![text(ALERTS.owner)])?.is_empty())
}
