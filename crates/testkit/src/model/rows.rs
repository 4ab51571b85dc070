//! The tables of an invented flow as maps: guards, and the constraints of the real tables.

use std::collections::BTreeMap;

use bankroll_ledger::{Column, ColumnValue, Fact, Guard, GuardFailure};
use bankroll_store::Migrations;

use super::RejectionCode;

/// The same tables in SQL. Facts write `tickets`, statements without money write `notes`.
pub const TABLES: Migrations = Migrations {
    owner: "tickets",
    steps: &["CREATE TABLE tickets (
            server TEXT NOT NULL, number INTEGER NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('open', 'sold')),
            serial INTEGER UNIQUE, price AMOUNT, remark TEXT, rank INTEGER NOT NULL DEFAULT 7,
            PRIMARY KEY (server, number)
          ) WITHOUT ROWID;
          CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL CHECK (length(text) < 40));"],
    postgres: &["CREATE TABLE tickets (
            server text NOT NULL, number bigint NOT NULL,
            state text NOT NULL CHECK (state IN ('open', 'sold')),
            serial bigint UNIQUE, price numeric(39, 0), remark text, rank bigint NOT NULL DEFAULT 7,
            PRIMARY KEY (server, number)
          );
          CREATE TABLE notes (id bigint PRIMARY KEY, text text NOT NULL CHECK (length(text) < 40));"],
};

/// Server and number.
pub type Ticket = (String, i64);

/// All tickets, each with all its columns, and all notes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelRows {
    pub tickets: BTreeMap<Ticket, BTreeMap<String, ColumnValue>>,
    pub notes: BTreeMap<i64, String>,
}

impl ModelRows {
    pub(super) fn check_guards(
        &self,
        facts: &[Fact],
        meaning: GuardFailure,
        code: RejectionCode,
    ) -> Result<(), RejectionCode> {
        let mut with_meaning = facts.iter().filter(|fact| fact.otherwise == meaning);
        if with_meaning.all(|fact| self.guard_holds(fact)) { Ok(()) } else { Err(code) }
    }

    fn guard_holds(&self, fact: &Fact) -> bool {
        match (&fact.guard, ticket(fact).and_then(|ticket| self.tickets.get(&ticket))) {
            (Guard::Absent, row) => row.is_none(),
            (Guard::Is(_), None) => false,
            (Guard::Is(columns), Some(row)) => columns.iter().all(|(name, value)| row.get(name) == Some(value)),
        }
    }

    /// The rows after these facts.
    pub(super) fn with_facts(&self, facts: &[Fact]) -> Result<Self, RejectionCode> {
        let mut after = self.clone();
        for fact in facts.iter().filter(|fact| !fact.set.is_empty()) {
            let ticket = ticket(fact).ok_or("fact_refused")?;
            let mut row = match (&fact.guard, after.tickets.get(&ticket)) {
                (Guard::Absent, Some(_)) => return Err("fact_refused"),
                (Guard::Absent, None) => new_row(&fact.row.columns),
                (Guard::Is(_), row) => row.cloned().ok_or("fact_refused")?,
            };
            row.extend(fact.set.iter().cloned());
            after.tickets.insert(ticket, row);
            if !after.constraints_hold() {
                return Err("fact_refused");
            }
        }
        Ok(after)
    }

    fn constraints_hold(&self) -> bool {
        let known = |row: &BTreeMap<String, ColumnValue>| {
            [ColumnValue::Text("open".into()), ColumnValue::Text("sold".into())].contains(&row["state"])
        };
        let mut serials: Vec<i64> = self
            .tickets
            .values()
            .filter_map(|row| if let ColumnValue::Int(serial) = row["serial"] { Some(serial) } else { None })
            .collect();
        let all = serials.len();
        serials.sort_unstable();
        serials.dedup();
        self.tickets.values().all(known) && serials.len() == all
    }
}

fn new_row(key: &[Column]) -> BTreeMap<String, ColumnValue> {
    let mut row: BTreeMap<String, ColumnValue> =
        ["state", "serial", "price", "remark"].into_iter().map(|name| (name.to_owned(), ColumnValue::Null)).collect();
    row.insert("rank".to_owned(), ColumnValue::Int(7));
    row.extend(key.iter().cloned());
    row
}

fn ticket(fact: &Fact) -> Option<Ticket> {
    match fact.row.columns.as_slice() {
        [(_, ColumnValue::Text(server)), (_, ColumnValue::Int(number))] if fact.row.table == "tickets" => {
            Some((server.clone(), *number))
        }
        _ => None,
    }
}
