//! SQL for flows' rows, the same for both engines: names are plain identifiers, values are `$n`.

use bankroll_ledger::{Column, ColumnValue, Fact, Guard, RowKey};

/// Reads the row.
pub(super) fn reading(key: &RowKey) -> (String, Vec<&ColumnValue>) {
    let sql = format!("SELECT * FROM {} WHERE {}", key.table, matching(key, 1));
    (sql, key.columns.iter().map(|(_, value)| value).collect())
}

/// Writes one fact: inserts the row if it must be absent, otherwise updates the set columns; `None` for a fact that
/// only checks. It changes one row or none: the guard is repeated here, because on Postgres another role may have
/// changed the row between the decision and this statement, and a decision by the old row must not be written. The
/// guard is left out if the same request has changed the row already: all its facts were decided by the row as it was
/// before them.
pub(super) fn writing(fact: &Fact, changed_before: bool) -> Option<(String, Vec<&ColumnValue>)> {
    if fact.set.is_empty() {
        return None;
    }
    let (table, key) = (&fact.row.table, &fact.row.columns);
    let (sql, guarded): (String, &[Column]) = match &fact.guard {
        Guard::Absent => {
            let names: Vec<&str> = fact.set.iter().chain(key).map(|(name, _)| name.as_str()).collect();
            let places: Vec<String> = (1..=names.len()).map(|place| format!("${place}")).collect();
            (format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), places.join(", ")), &[])
        }
        Guard::Is(columns) => {
            let columns: &[Column] = if changed_before { &[] } else { columns };
            let set: Vec<String> =
                fact.set.iter().zip(1..).map(|((name, _), place)| format!("{name} = ${place}")).collect();
            let guarded = columns.iter().zip(set.len() + key.len() + 1..);
            let guarded = guarded.map(|((name, _), place)| format!(" AND {name} IS NOT DISTINCT FROM ${place}"));
            let row = matching(&fact.row, set.len() + 1);
            (format!("UPDATE {table} SET {} WHERE {row}{}", set.join(", "), guarded.collect::<String>()), columns)
        }
    };
    Some((sql, fact.set.iter().chain(key).chain(guarded).map(|(_, value)| value).collect()))
}

/// The facts of a batch, each with the request it belongs to and whether that request has changed the row already.
pub(super) fn in_order<'a>(facts: &'a [(usize, &'a Fact)]) -> impl Iterator<Item = (usize, &'a Fact, bool)> {
    facts.iter().enumerate().map(|(at, (place, fact))| {
        let of_request = facts[..at].iter().rev().take_while(|(other, _)| other == place);
        let changed_before = of_request.into_iter().any(|(_, other)| other.row == fact.row && !other.set.is_empty());
        (*place, *fact, changed_before)
    })
}

/// A key's columns are never null, and Postgres finds rows through an index by `=` alone.
fn matching(key: &RowKey, first_place: usize) -> String {
    let columns = key.columns.iter().zip(first_place..);
    columns.map(|((name, _), place)| format!("{name} = ${place}")).collect::<Vec<_>>().join(" AND ")
}
