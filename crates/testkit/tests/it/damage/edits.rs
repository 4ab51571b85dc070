//! Rows edited with SQL, past the triggers and checks of their tables: every table, every column.

use std::path::Path;

use bankroll_store::BOOKS_FILE;
use fastrand::Rng;
use rusqlite::{Connection, params_from_iter, types::Value};

/// A prime, larger than any plan is long: following it reaches every edit, and a few of them are far apart.
pub const STRIDE: usize = 7_919;
/// Rows that are tried until the table accepts the edit.
const TRIES: u32 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditKind {
    /// A number one higher or lower; another value as with `Changed`.
    Nudged,
    /// Another bit of a number or of bytes, another letter of a text.
    Changed,
    Null,
    Deleted,
    /// Inserted again under another key.
    Duplicated,
}

impl EditKind {
    pub const ALL: [Self; 5] = [Self::Nudged, Self::Changed, Self::Null, Self::Deleted, Self::Duplicated];

    pub fn name(self) -> &'static str {
        match self {
            Self::Nudged => "number one off",
            Self::Changed => "value changed",
            Self::Null => "value null",
            Self::Deleted => "row deleted",
            Self::Duplicated => "row duplicated",
        }
    }

    /// Whether it concerns one column of the row.
    pub fn is_of_a_column(self) -> bool {
        !matches!(self, Self::Deleted | Self::Duplicated)
    }
}

/// An edit of some row.
#[derive(Clone, Debug)]
pub struct Edit {
    pub how: EditKind,
    pub table: String,
    /// The edited column; for a whole row the first one of its key.
    pub column: String,
    /// The columns of the primary key.
    key: Vec<String>,
}

/// Whether the row or column is a flow's own, which no fact sets.
pub fn is_of_flow(how: EditKind, table: &str) -> bool {
    matches!(table, "notes" | "ballast") || (table == "deposits" && how == EditKind::Duplicated)
}

/// Every edit that can be made to these books: of all columns of all tables that have rows.
pub fn plan(folder: &Path) -> Vec<Edit> {
    let books = Connection::open(folder.join(BOOKS_FILE)).unwrap();
    let mut tables = books.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut plan = Vec::new();
    for table in tables.into_iter().filter(|table| count(&books, table) > 0) {
        let sql = "SELECT name, \"notnull\", pk FROM pragma_table_info(?1)";
        let mut columns = books.prepare(sql).unwrap();
        let columns = columns.query_map([&table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        let columns: Vec<(String, bool, u32)> = columns.unwrap().map(Result::unwrap).collect();
        let mut key: Vec<String> =
            columns.iter().filter(|column| column.2 > 0).map(|column| column.0.clone()).collect();
        if key.is_empty() {
            key.push("rowid".into());
        }
        let edit = |how, column: &str| Edit { how, table: table.clone(), column: column.into(), key: key.clone() };
        for how in EditKind::ALL {
            let may_be = |column: &&(String, bool, u32)| how != EditKind::Null || (!column.1 && column.2 == 0);
            if how.is_of_a_column() {
                plan.extend(columns.iter().filter(may_be).map(|column| edit(how, &column.0)));
            } else {
                plan.push(edit(how, &key[0]));
            }
        }
    }
    plan
}

fn count(books: &Connection, table: &str) -> i64 {
    books.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

impl Edit {
    pub fn is_of_flow(&self) -> bool {
        is_of_flow(self.how, &self.table)
    }

    /// Edits a row, and says which and how; an error if the table refuses it.
    pub fn inflict(&self, folder: &Path, rng: &mut Rng) -> Result<String, String> {
        let books = Connection::open(folder.join(BOOKS_FILE)).unwrap();
        // The triggers are there again afterwards: a schema that differs would be noticed by itself.
        let sql = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'";
        let mut triggers = books.prepare(sql).unwrap();
        let triggers = triggers.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let triggers: Vec<(String, String)> = triggers.map(Result::unwrap).collect();
        books.execute_batch("PRAGMA ignore_check_constraints = ON; BEGIN").unwrap();
        triggers.iter().for_each(|(name, _)| books.execute_batch(&format!("DROP TRIGGER {name}")).unwrap());
        let mut done = Err("not tried".into());
        for _ in 0..TRIES {
            done = self.edit_one(&books, rng).map_err(|error| error.to_string());
            if done.is_ok() {
                break;
            }
        }
        triggers.iter().for_each(|(_, sql)| books.execute_batch(sql).unwrap());
        books.execute_batch("COMMIT").unwrap();
        done
    }

    fn edit_one(&self, books: &Connection, rng: &mut Rng) -> rusqlite::Result<String> {
        let (table, column, key) = (&self.table, &self.column, self.key.join(", "));
        let rows = count(books, table);
        // The newest row, which is read first, or any.
        let offset = if rng.u32(0..4) == 0 { rows - 1 } else { rng.i64(0..rows) };
        let sql = format!("SELECT {column}, {key} FROM {table} ORDER BY {key} LIMIT 1 OFFSET {offset}");
        let row = |row: &rusqlite::Row<'_>| (0..=self.key.len()).map(|place| row.get(place)).collect();
        let mut values: Vec<Value> = books.query_row(&sql, [], row)?;
        let (old, id) = (values.remove(0), values);
        let is_row: Vec<String> = self.key.iter().zip(1..).map(|(name, place)| format!("{name} = ?{place}")).collect();
        let is_row = is_row.join(" AND ");
        let new = match self.how {
            EditKind::Nudged | EditKind::Changed => self.other(&old, rng),
            EditKind::Null => Value::Null,
            EditKind::Deleted => {
                books.execute(&format!("DELETE FROM {table} WHERE {is_row}"), params_from_iter(&id))?;
                return Ok(format!("row {id:?}"));
            }
            EditKind::Duplicated => {
                let value = self.free_key(books, &old)?;
                books.execute_batch(&format!("CREATE TEMP TABLE copied AS SELECT * FROM {table} LIMIT 0"))?;
                let copied = [
                    format!("INSERT INTO copied SELECT * FROM {table} WHERE {is_row}"),
                    format!("INSERT INTO {table} SELECT * FROM copied"),
                ];
                books.execute(&copied[0], params_from_iter(&id))?;
                let named = if column == "rowid" {
                    Ok(0)
                } else {
                    books.execute(&format!("UPDATE copied SET {column} = ?1"), [&value])
                };
                let done = named.and_then(|_| books.execute(&copied[1], []));
                books.execute_batch("DROP TABLE copied")?;
                return done.map(|_| format!("row {id:?} also as {value:?}"));
            }
        };
        let values = id.iter().chain([&new]);
        let update = format!("UPDATE {table} SET {column} = ?{} WHERE {is_row}", id.len() + 1);
        books.execute(&update, params_from_iter(values))?;
        Ok(format!("row {id:?} from {} to {}", short(&old), short(&new)))
    }

    fn other(&self, old: &Value, rng: &mut Rng) -> Value {
        match old {
            Value::Integer(number) if self.how == EditKind::Nudged => {
                Value::Integer(if rng.bool() { number + 1 } else { number - 1 })
            }
            Value::Integer(number) => Value::Integer(number ^ (1 << rng.u32(0..12))),
            Value::Blob(bytes) if bytes.is_empty() => Value::Blob(vec![rng.u8(..)]),
            Value::Blob(bytes) => {
                let mut bytes = bytes.clone();
                let place = rng.usize(..bytes.len());
                match rng.u32(0..4) {
                    0 => bytes.truncate(place),
                    // The last byte is where a small amount is.
                    1 => *bytes.last_mut().unwrap() ^= 1 << rng.u32(0..3),
                    _ => bytes[place] ^= 1 << rng.u32(0..8),
                }
                Value::Blob(bytes)
            }
            Value::Text(text) if text.is_empty() => Value::Text("x".into()),
            // Another letter, which keeps the form of a name.
            Value::Text(text) => {
                let mut letters: Vec<char> = text.chars().collect();
                let place = rng.usize(..letters.len());
                letters[place] = match letters[place] {
                    '0'..='8' => char::from_u32(letters[place] as u32 + 1).unwrap(),
                    'y' => 'x',
                    _ => 'y',
                };
                Value::Text(letters.into_iter().collect())
            }
            Value::Null | Value::Real(_) => Value::Integer(rng.i64(1..1_000)),
        }
    }

    /// A key that no row has.
    fn free_key(&self, books: &Connection, old: &Value) -> rusqlite::Result<Value> {
        let (table, column) = (&self.table, &self.column);
        match old {
            Value::Integer(_) => {
                books.query_row(&format!("SELECT max({column}) + 1 FROM {table}"), [], |row| row.get(0))
            }
            Value::Text(text) => Ok(Value::Text(format!("{text}0"))),
            other => Ok(other.clone()),
        }
    }
}

fn short(value: &Value) -> String {
    format!("{value:?}").chars().take(60).collect()
}
