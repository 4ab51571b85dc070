//! The rows of alerts: reading them whole.

use bankroll_ledger::{ColumnValue, Row, Time};
use bankroll_store::{
    Migrations, Reader,
    columns::{BadRow, maybe, number_of, parsed, text, text_of},
};

use crate::{Alert, AlertError, AlertId, AlertKind};

/// The table of this flow.
pub const ALERTS: Migrations = Migrations {
    owner: "alerts",
    steps: &[include_str!("../migrations/0001_alerts.sql")],
    postgres: &[include_str!("../migrations/0001_alerts_postgres.sql")],
};

/// Reads alerts; `condition` follows the table.
pub(crate) fn alerts(reader: &Reader, condition: &str, values: Vec<ColumnValue>) -> Result<Vec<Alert>, AlertError> {
    let rows = reader.rows(&format!("SELECT * FROM alerts {condition}"), values)?;
    Ok(rows.iter().map(alert_of).collect::<Result<_, _>>()?)
}

pub(crate) fn find(reader: &Reader, id: &AlertId) -> Result<Option<Alert>, AlertError> {
    Ok(alerts(reader, "WHERE id = $1", vec![text(id.as_str())])?.pop())
}

pub(crate) fn unclosed(reader: &Reader) -> Result<Vec<Alert>, AlertError> {
    alerts(reader, "WHERE state <> 'closed' ORDER BY kind, subject", Vec::new())
}

/// The last alert of a kind and a subject.
pub(crate) fn newest(reader: &Reader, kind: AlertKind, subject: &str) -> Result<Option<Alert>, AlertError> {
    let condition = "WHERE kind = $1 AND subject = $2 ORDER BY opening DESC LIMIT 1";
    Ok(alerts(reader, condition, vec![text(kind.as_str()), text(subject)])?.pop())
}

fn alert_of(row: &Row) -> Result<Alert, BadRow> {
    let at = |column| maybe(row, column, number_of).map(|at| at.map(Time));
    let person = |column| maybe(row, column, text_of).map(|person| person.map(str::to_owned));
    Ok(Alert {
        id: AlertId::parse(text_of(row, "id")?).ok_or(BadRow { column: "id" })?,
        kind: parsed(row, "kind")?,
        subject: text_of(row, "subject")?.to_owned(),
        opening: number_of(row, "opening")?,
        state: parsed(row, "state")?,
        summary: text_of(row, "summary")?.to_owned(),
        details: text_of(row, "details")?.to_owned(),
        items: number_of(row, "items")?,
        opened_at: Time(number_of(row, "opened_at")?),
        changed_at: Time(number_of(row, "changed_at")?),
        acknowledged: at("acknowledged_at")?.zip(person("acknowledged_by")?),
        closed: match at("closed_at")? {
            Some(at) => Some((at, person("closed_by")?)),
            None => None,
        },
        revision: number_of(row, "revision")?,
    })
}
