//! The audit compares tables, indexes, triggers and constraints with the migrations.

use bankroll_store::{Location, Migrations};
use bankroll_testkit::postgres;
use rusqlite::Connection;

use crate::world::World;

const NOTES: Migrations = Migrations {
    owner: "notes",
    steps: &["CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL CHECK (text <> '')) STRICT;
              CREATE INDEX notes_text ON notes (text)"],
    postgres: &["CREATE TABLE notes (id bigint PRIMARY KEY, text text NOT NULL CHECK (text <> ''));
                 CREATE INDEX notes_text ON notes (text)"],
};

fn world() -> World {
    World::with(|options| options.migrations = vec![NOTES])
}

fn differences(world: &World) -> Vec<String> {
    let report = world.reader().compare_schema(&[NOTES]).unwrap();
    assert!(report.objects > 20 && report.not_compared.is_none(), "{report:?}");
    report.differences
}

/// An edit of the schema on either engine, and the object that it concerns, as the report names it.
struct SchemaEdit {
    sqlite: &'static str,
    postgres: &'static str,
    says: &'static str,
}

const EDITS: &[SchemaEdit] = &[
    SchemaEdit {
        sqlite: "DROP TRIGGER journal_forgets_nothing",
        postgres: "DROP TRIGGER journal_keeps_what_it_has ON books.journal",
        says: "trigger journal_",
    },
    SchemaEdit {
        sqlite: "DROP TRIGGER batches_forget_nothing; CREATE TRIGGER batches_forget_nothing BEFORE DELETE ON batches BEGIN SELECT 1; END",
        postgres: "ALTER TABLE books.batches DISABLE TRIGGER batches_keep_what_they_have",
        says: "trigger batches_",
    },
    SchemaEdit { sqlite: "DROP INDEX holds_due", postgres: "DROP INDEX books.holds_due", says: "index holds_due" },
    SchemaEdit {
        sqlite: "CREATE INDEX mine ON balances (held)",
        postgres: "CREATE INDEX mine ON books.balances (held)",
        says: "index mine",
    },
    SchemaEdit {
        sqlite: "CREATE TRIGGER mine AFTER INSERT ON outbox BEGIN SELECT 1; END",
        postgres: "CREATE RULE mine AS ON INSERT TO books.outbox DO INSTEAD NOTHING",
        says: "mine",
    },
    SchemaEdit {
        sqlite: "ALTER TABLE accounts ADD COLUMN vip INTEGER",
        postgres: "ALTER TABLE books.accounts ADD COLUMN vip integer",
        says: "accounts",
    },
    SchemaEdit {
        sqlite: "CREATE TABLE mine (id INTEGER)",
        postgres: "CREATE TABLE books.mine (id bigint)",
        says: "table mine is not of the migrations",
    },
    SchemaEdit {
        sqlite: "DROP INDEX notes_text",
        postgres: "ALTER TABLE notes DROP CONSTRAINT notes_text_check",
        says: "notes_text",
    },
    SchemaEdit {
        sqlite: "PRAGMA writable_schema = ON;
                 UPDATE sqlite_master SET sql = replace(sql, 'held <= balance', 'true') WHERE name = 'balances'",
        postgres: "ALTER TABLE books.balances DROP CONSTRAINT balances_check",
        says: "balances",
    },
    SchemaEdit {
        sqlite: "DROP TRIGGER indexer_events_processed",
        postgres: "CREATE OR REPLACE FUNCTION inbox_note_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
        says: "trigger indexer_events_processed",
    },
    SchemaEdit {
        sqlite: "DROP TABLE reversals",
        postgres: "ALTER TABLE books.reversals SET UNLOGGED",
        says: "table reversals",
    },
];

#[test]
fn books_are_what_the_migrations_made() {
    assert_eq!(differences(&world()), Vec::<String>::new());
}

#[test]
fn what_was_removed_changed_or_added_is_named() {
    for SchemaEdit { sqlite, postgres, says } in EDITS {
        let world = world();
        match &world.options.location {
            Location::Folder(folder) => {
                Connection::open(folder.join("books.db")).unwrap().execute_batch(sqlite).unwrap();
            }
            Location::Postgres(url) => postgres::run(url.reveal(), postgres),
        }
        let found = differences(&world);
        assert!(found.iter().any(|difference| difference.contains(says)), "{sqlite}: {found:?}");
    }
}

/// Books of a program with other flows: their tables are neither known nor surplus.
#[test]
fn tables_of_unknown_owners_are_not_compared_and_the_report_says_so() {
    let report = world().reader().compare_schema(&[]).unwrap();
    assert_eq!(report.differences, Vec::<String>::new());
    assert!(report.not_compared.unwrap().starts_with("the tables of notes"));
}

/// Opening the books refuses such a change; the audit, which opens nothing for writing, must say it as well.
#[test]
fn an_edited_hash_of_a_migration_is_a_difference() {
    let world = world();
    let edit = "UPDATE migrations SET hash = (SELECT hash FROM migrations WHERE owner = 'notes') WHERE owner = 'books'";
    match &world.options.location {
        Location::Folder(folder) => Connection::open(folder.join("books.db")).unwrap().execute_batch(edit).unwrap(),
        Location::Postgres(url) => postgres::run(url.reveal(), edit),
    }
    assert_eq!(differences(&world), ["the hash of migration 1 of books was changed"]);
}
