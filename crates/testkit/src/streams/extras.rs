//! What accompanies the money: facts with guards, events, references, and rows without money.

use bankroll_ledger::{Amount, BlockRef, Column, ColumnValue, Event, Fact, Guard, GuardFailure, References, RowKey};
use bankroll_store::{RowsOutcome, RowsRejection, Statement};

use super::{Stream, name};
use crate::model::ModelRows;

/// How many rows each statement changed, or which one was refused and why.
pub type ModelRowsOutcome = Result<Vec<u64>, (usize, &'static str)>;

/// The store's answer in the same form.
pub fn rows_outcome(changed: RowsOutcome) -> ModelRowsOutcome {
    changed.map_err(|rejected| match rejected {
        RowsRejection::Constraint { index } => (index, "constraint"),
        RowsRejection::Changed { index, .. } => (index, "changed"),
        RowsRejection::Malformed { index, .. } => (index, "malformed"),
    })
}

pub(super) fn event(resource: &str) -> Event {
    Event { kind: name("ticket.sold"), resource: resource.into(), body: "{}".into() }
}

/// A fact that only checks whether a ticket is open.
pub(super) fn checking(server: &str, number: i64) -> Fact {
    let columns = vec![column("server", text(server)), column("number", ColumnValue::Int(number))];
    Fact {
        row: RowKey { table: "tickets".into(), columns },
        guard: Guard::Is(vec![column("state", text("open"))]),
        otherwise: GuardFailure::Conflict,
        set: Vec::new(),
    }
}

/// A fact that makes the row of this intent.
pub(super) fn making(intent: &str) -> Fact {
    let set = vec![column("state", text("open")), column("remark", ColumnValue::Null)];
    Fact { guard: Guard::Absent, set, ..checking(intent, 1) }
}

fn column(name: &str, value: ColumnValue) -> Column {
    (name.to_owned(), value)
}

fn text(text: &str) -> ColumnValue {
    ColumnValue::Text(text.into())
}

impl Stream {
    pub(super) fn facts(&mut self) -> Vec<Fact> {
        if self.chance(85) {
            return Vec::new();
        }
        (0..self.rng.usize(1..=2)).map(|_| self.fact()).collect()
    }

    fn fact(&mut self) -> Fact {
        let server = self.one_of(&self.servers.clone());
        // Often the ticket that the last fact was about, so that one batch sees the same row change twice.
        self.ticket = if self.chance(40) { self.ticket } else { self.rng.i64(1..=80) };
        let fact = checking(server.as_str(), self.ticket);
        let price = ColumnValue::Amount(Amount::new(self.rng.u128(..)));
        let serial = ColumnValue::Int(self.rng.i64(1..=20));
        let is = |name: &str, value: ColumnValue| Guard::Is(vec![column(name, value)]);
        let set = |name: &str, value: ColumnValue| vec![column(name, value)];
        match self.rng.u32(0..20) {
            // A guard may check columns that a fact has set; defaults of the table are visible only in the next batch.
            0..6 => {
                let made = vec![column("state", text("open")), column("remark", ColumnValue::Null)];
                Fact { guard: Guard::Absent, set: made, ..fact }
            }
            6..8 => {
                let made = vec![
                    column("serial", serial),
                    column("remark", ColumnValue::Null),
                    column("state", text("open")),
                    column("price", price),
                ];
                Fact { guard: Guard::Absent, set: made, ..fact }
            }
            8..10 => Fact { set: set("state", text("sold")), ..fact },
            10 => Fact { set: set("serial", serial), ..fact },
            11 => Fact { set: set("state", text("forbidden")), ..fact },
            12 => Fact { guard: Guard::Absent, set: set("state", ColumnValue::Null), ..fact },
            13 => Fact { guard: is("remark", ColumnValue::Null), set: set("remark", text("seen")), ..fact },
            15 => Fact { guard: is("no_such_column", ColumnValue::Null), ..fact },
            16 => Fact { guard: is("state", text("sold")), otherwise: GuardFailure::Paused, ..fact },
            _ => {
                Fact { otherwise: if self.chance(50) { GuardFailure::Paused } else { GuardFailure::Conflict }, ..fact }
            }
        }
    }

    pub(super) fn events(&mut self) -> Vec<Event> {
        let count = if self.chance(94) { 0 } else { self.rng.usize(1..=3) };
        (0..count).map(|number| event(&format!("t{number}"))).collect()
    }

    pub(super) fn references(&mut self) -> References {
        if self.chance(92) {
            return References::default();
        }
        let block = BlockRef { number: self.rng.u64(..), hash: "0xb10c".into() };
        References { deposit: Some("dep-1".into()), block: Some(block), ..References::default() }
    }

    /// A set of statements on `notes` and its expected outcome: all of it, or nothing.
    pub(super) fn rows(&mut self) -> (Vec<Statement>, ModelRowsOutcome) {
        let mut after = self.model.rows.clone();
        let mut statements = Vec::new();
        let mut outcome = Ok(Vec::new());
        for index in 0..self.rng.usize(1..=3) {
            let (statement, result) = self.row_statement(&mut after);
            statements.push(statement);
            match (result, &mut outcome) {
                (Ok(count), Ok(changed)) => changed.push(count),
                (Err(why), Ok(_)) => outcome = Err((index, why)),
                (_, Err(_)) => {}
            }
        }
        if outcome.is_ok() {
            self.model.rows = after;
        }
        (statements, outcome)
    }

    fn row_statement(&mut self, rows: &mut ModelRows) -> (Statement, Result<u64, &'static str>) {
        let id = self.rng.i64(1..=30);
        let there = rows.notes.contains_key(&id);
        let statement = |sql: &str, values: Vec<ColumnValue>| Statement { sql: sql.into(), values, must_change: None };
        let insert = "INSERT INTO notes (id, text) VALUES ($1, $2)";
        match self.rng.u32(0..10) {
            0 => (statement("INSERT INTO nowhere VALUES ($1)", vec![ColumnValue::Int(id)]), Err("malformed")),
            1 => (statement(insert, vec![ColumnValue::Int(id), text(&"long".repeat(12))]), Err("constraint")),
            2..6 => {
                let result = if there { Err("constraint") } else { Ok(1) };
                rows.notes.entry(id).or_insert_with(|| "new".into());
                (statement(insert, vec![ColumnValue::Int(id), text("new")]), result)
            }
            6..8 => {
                let must_change = if self.chance(50) { Some(1) } else { None };
                let result = if must_change == Some(1) && !there { Err("changed") } else { Ok(u64::from(there)) };
                rows.notes.entry(id).and_modify(|text| *text = "old".into());
                let update =
                    statement("UPDATE notes SET text = $2 WHERE id = $1", vec![ColumnValue::Int(id), text("old")]);
                (Statement { must_change, ..update }, result)
            }
            _ => {
                let gone = rows.notes.remove(&id);
                let delete = statement("DELETE FROM notes WHERE id = $1", vec![ColumnValue::Int(id)]);
                (delete, Ok(u64::from(gone.is_some())))
            }
        }
    }
}
