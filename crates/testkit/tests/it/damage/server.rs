//! The same edits on a Postgres server, past its triggers as the owner of the database can.

use std::collections::HashMap;

use bankroll_store::{DatabaseUrl, Reader};
use bankroll_testkit::postgres::{Session, pairs};
use fastrand::Rng;

use super::{
    Counts,
    edits::{EditKind, STRIDE, is_of_flow},
    numbers, rng_of,
    set::{BooksSet, MakerProcess, State},
    verdict::{Examination, Outcome, Truth, examine},
};
use crate::{postgres::cluster::Cluster, run::seed};

/// The damages of a usual run.
const EDITS: u64 = 32;
const INTERVIEWS: u64 = 4;
/// Rows that are tried until the table accepts the edit.
const TRIES: u32 = 8;

/// An edit of some row.
struct ServerEdit {
    how: EditKind,
    /// With its schema.
    table: String,
    column: String,
    form: String,
}

/// Every edit that can be made to these books: of all columns of all tables that have rows.
fn plan(url: &str) -> Vec<ServerEdit> {
    let url = DatabaseUrl::new(url);
    let session = Session::open(url.reveal());
    let tables = "SELECT table_schema || '.' || table_name, '' FROM information_schema.tables
                  WHERE table_schema IN ('books', 'public') ORDER BY 1";
    let mut plan = Vec::new();
    for (table, _) in pairs(&url, tables) {
        if session.count(&format!("SELECT count(*) FROM {table}")) == 0 {
            continue;
        }
        let of_table = format!("FROM information_schema.columns WHERE table_schema || '.' || table_name = '{table}'");
        let columns = pairs(&url, &format!("SELECT column_name, data_type {of_table} ORDER BY ordinal_position"));
        let nullable = pairs(&url, &format!("SELECT column_name, is_nullable {of_table} AND is_nullable = 'YES'"));
        let key = format!(
            "SELECT a.attname, format_type(a.atttypid, NULL) FROM pg_index i JOIN pg_attribute a
             ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
             WHERE i.indrelid = '{table}'::regclass AND i.indisprimary"
        );
        let key = pairs(&url, &key).pop();
        for how in EditKind::ALL {
            let may_be = |name: &String| how != EditKind::Null || nullable.iter().any(|column| column.0 == *name);
            let edited: Vec<(String, String)> = match how.is_of_a_column() {
                true => columns.iter().filter(|(name, _)| may_be(name)).cloned().collect(),
                false => key.iter().cloned().collect(),
            };
            let edit = |(column, form)| ServerEdit { how, table: table.clone(), column, form };
            plan.extend(edited.into_iter().map(edit));
        }
    }
    plan
}

impl ServerEdit {
    /// Edits a row, and says which and how; an error if the table refuses it.
    fn inflict(&self, url: &str, rng: &mut Rng) -> Result<String, String> {
        let session = Session::open(url);
        session.run("SET session_replication_role = replica");
        let mut done = Err("not tried".into());
        for _ in 0..TRIES {
            let rows = session.count(&format!("SELECT count(*) FROM {}", self.table));
            let offset = if rng.u32(0..4) == 0 { rows - 1 } else { rng.i64(0..rows) };
            let place = format!("SELECT ctid::text, '' FROM {} OFFSET {offset} LIMIT 1", self.table);
            let place = pairs(&DatabaseUrl::new(url), &place).remove(0).0;
            let sql = self.sql(&format!("ctid = '{place}'::tid"), rng);
            done = session.try_run(&sql).map(|()| sql);
            if done.is_ok() {
                break;
            }
        }
        done
    }

    fn sql(&self, is_row: &str, rng: &mut Rng) -> String {
        let Self { how, table, column, form } = self;
        let value = match (how, form.as_str()) {
            (EditKind::Deleted, _) => return format!("DELETE FROM {table} WHERE {is_row}"),
            (EditKind::Duplicated, _) => {
                let free = match form.as_str() {
                    "text" => format!("{column} || '0'"),
                    "boolean" => format!("NOT {column}"),
                    _ => format!("(SELECT max({column}) + 1 FROM {table})"),
                };
                return format!(
                    "CREATE TEMP TABLE copied AS SELECT * FROM {table} WHERE {is_row};
                     UPDATE copied SET {column} = {free}; INSERT INTO {table} SELECT * FROM copied; DROP TABLE copied"
                );
            }
            (EditKind::Null, _) => "NULL".into(),
            (_, "text" | "character varying") => format!("overlay({column} placing 'y' from {})", rng.u32(1..12)),
            (_, "boolean") => format!("NOT {column}"),
            (_, "bytea") => {
                let bit = format!("({} % (8 * length({column})))", rng.u32(0..100_000));
                format!("set_bit({column}, {bit}, 1 - get_bit({column}, {bit}))")
            }
            (_, "timestamp with time zone") => format!("{column} + interval '1 hour'"),
            (EditKind::Changed, "bigint" | "integer" | "smallint") => {
                format!("coalesce({column}, 0) # {}", 1 << rng.u32(0..7))
            }
            _ => format!("coalesce({column}, 7) {} 1", if rng.bool() { "+" } else { "-" }),
        };
        format!("UPDATE {table} SET {column} = {value} WHERE {is_row}")
    }
}

/// Books on a server, to be copied and edited.
struct ServerBooks {
    cluster: Cluster,
    /// The same books in a folder, from which the questions are read.
    set: BooksSet,
    truths: HashMap<u64, Truth>,
    copies: u64,
}

impl ServerBooks {
    fn make() -> Self {
        let cluster = Cluster::start();
        Session::open(&cluster.url("postgres")).run("CREATE DATABASE template");
        let mut maker = MakerProcess::start(&cluster.url("template"));
        for step in ["closed", "open"] {
            maker.expect(step);
            maker.go_on();
        }
        maker.expect("ready");
        maker.finish();
        let set = BooksSet::make();
        let head = |reader: Reader| reader.head().unwrap();
        let in_folder = head(Reader::open(set.path(State::Closed)).unwrap());
        let books = Self { cluster, set, truths: HashMap::new(), copies: 0 };
        let undamaged = books.copy_to("undamaged");
        assert_eq!(head(Reader::open(DatabaseUrl::new(undamaged)).unwrap()), in_folder);
        books
    }

    fn copy_to(&self, name: &str) -> String {
        let session = Session::open(&self.cluster.url("postgres"));
        session.run(&format!("CREATE DATABASE {name} TEMPLATE template"));
        self.cluster.url(name)
    }

    fn copy(&mut self) -> String {
        self.copies += 1;
        self.copy_to(&format!("copy_{}", self.copies))
    }

    fn drop_copy(&self) {
        let session = Session::open(&self.cluster.url("postgres"));
        session.run(&format!("DROP DATABASE copy_{} WITH (FORCE)", self.copies));
    }

    fn examine(&mut self, damaged: &str, number: u64) -> Examination {
        let (undamaged, seed) = (self.set.path(State::Closed), number % INTERVIEWS);
        let undamaged = undamaged.to_str().unwrap();
        if !self.truths.contains_key(&seed) {
            let copy = self.copy_to(&format!("truth_{seed}"));
            self.truths.insert(seed, Truth::of(&copy, undamaged, seed));
        }
        examine(damaged, undamaged, seed, &self.truths[&seed])
    }
}

#[test]
fn postgres_damage_by_edits_of_every_table_and_column_is_never_believed() {
    let mut books = ServerBooks::make();
    let mut counts = Counts::new("edits on Postgres");
    let plan = plan(&books.cluster.url("undamaged"));
    let first = Rng::with_seed(seed()).usize(..plan.len());
    for number in numbers(EDITS) {
        let mut rng = rng_of(number);
        let edit = &plan[(first + usize::try_from(number).unwrap() * STRIDE) % plan.len()];
        let copy = books.copy();
        let mut examination = match edit.inflict(&copy, &mut rng) {
            Ok(sql) => {
                let mut found = books.examine(&copy, number);
                if found.advises_rebuild() {
                    let spare = books.copy_to("spare");
                    // The same random choices on the same rows.
                    assert_eq!(edit.inflict(&spare, &mut rng_of(number)).as_ref(), Ok(&sql));
                    found = found.follow_advice(&spare, || books.examine(&spare, number));
                    Session::open(&books.cluster.url("postgres")).run("DROP DATABASE spare WITH (FORCE)");
                }
                Examination { why: format!("{sql}: {}", found.why), ..found }
            }
            Err(refused) => Examination::of(Outcome::NotApplicable, &refused),
        };
        books.drop_copy();
        let table = edit.table.trim_start_matches("public.");
        if is_of_flow(edit.how, table) && matches!(examination.outcome, Outcome::Believed) {
            examination.outcome = Outcome::NotOurs;
        }
        counts.add(number, edit.how.name(), &format!("{}.{}", edit.table, edit.column), &examination);
    }
    counts.end();
}
