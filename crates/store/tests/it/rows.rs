//! The second lane: rows of flows without money, all or none, never blocking others.

use bankroll_ledger::{Amount, ColumnValue, Row};
use bankroll_store::{Migrations, Rows, RowsError, RowsRejection, Statement};

use crate::world::World;

const CURSOR: Migrations = Migrations {
    owner: "indexer",
    steps: &["CREATE TABLE chain_cursor (chain INTEGER PRIMARY KEY, block INTEGER NOT NULL UNIQUE)"],
    postgres: &["CREATE TABLE chain_cursor (chain bigint PRIMARY KEY, block bigint NOT NULL UNIQUE)"],
};

fn put(chain: i64, block: i64) -> Statement {
    statement(
        "INSERT INTO chain_cursor (block, chain) VALUES ($2, $1)",
        vec![ColumnValue::Int(chain), ColumnValue::Int(block)],
    )
}

fn statement(sql: &str, values: Vec<ColumnValue>) -> Statement {
    Statement { sql: sql.into(), values, must_change: None }
}

fn cursors(world: &World) -> Vec<(i64, i64)> {
    let rows = world.pairs("SELECT CAST(chain AS TEXT), CAST(block AS TEXT) FROM chain_cursor ORDER BY 1");
    rows.into_iter().map(|(chain, block)| (chain.parse().unwrap(), block.parse().unwrap())).collect()
}

#[test]
fn statements_are_applied_all_or_none() {
    let world = World::with(|options| options.migrations = vec![CURSOR]);
    let run = |statements: Vec<Statement>| world.ledger().write_rows(statements).unwrap().wait().unwrap();
    assert_eq!(run(vec![put(1, 100), put(2, 200)]), Ok(vec![1, 1]));
    assert_eq!(run(vec![put(3, 300), put(4, 100)]), Err(RowsRejection::Constraint { index: 1 }));
    let advance = |from: i64, to: i64| Statement {
        must_change: Some(1),
        ..statement(
            "UPDATE chain_cursor SET block = $1 WHERE chain = 1 AND block = $2",
            vec![ColumnValue::Int(to), ColumnValue::Int(from)],
        )
    };
    assert_eq!(run(vec![advance(100, 101)]), Ok(vec![1]));
    assert_eq!(run(vec![put(5, 500), advance(100, 102)]), Err(RowsRejection::Changed { index: 1, changed: 0 }));
    assert_eq!(cursors(&world), [(1, 101), (2, 200)]);
}

#[test]
fn a_flow_cannot_touch_the_books_nor_the_schema_nor_the_settings() {
    let world = World::with(|options| options.migrations = vec![CURSOR]);
    let alice = world.player("alice", 100);
    let forbidden = [
        "UPDATE balances SET balance = zeroblob(16)",
        "UPDATE balances SET balance = ?2, held = ?3 WHERE id = ?1",
        "DELETE FROM journal",
        "INSERT INTO key_chunks (id, data) VALUES (99, x'00')",
        "DROP TABLE journal",
        "CREATE TABLE mine (id INTEGER)",
        "PRAGMA synchronous = OFF",
        "COMMIT",
        "ATTACH 'other.db' AS other",
        "no statement at all",
        "SELECT $1",
    ];
    for sql in forbidden {
        let outcome = world.ledger().write_rows(vec![put(1, 1), statement(sql, vec![])]).unwrap().wait().unwrap();
        assert!(matches!(outcome, Err(RowsRejection::Malformed { index: 1, .. })), "{sql}: {outcome:?}");
    }
    assert_eq!(cursors(&world), []);
    assert_eq!(world.balances(alice), (100, 0));
    world.audit();
}

const DEBTS: Migrations = Migrations {
    owner: "debts",
    steps: &["CREATE TABLE debts (name TEXT PRIMARY KEY, owed AMOUNT, note BLOB)"],
    postgres: &["CREATE TABLE debts (name text PRIMARY KEY, owed numeric(39,0), note bytea)"],
};

#[test]
fn a_role_reads_back_what_it_wrote_with_its_types() {
    let world = World::with(|options| options.migrations = vec![DEBTS]);
    let rows = Rows::open(world.ledger()).unwrap();
    let put = |name: &str, owed: ColumnValue, note: ColumnValue| {
        let sql = "INSERT INTO debts (name, owed, note) VALUES ($1, $2, $3)";
        rows.write(vec![statement(sql, vec![ColumnValue::Text(name.into()), owed, note])])
    };
    put("alice", ColumnValue::Amount(Amount::MAX), ColumnValue::Bytes(vec![7; 16])).unwrap();
    put("bob", ColumnValue::Null, ColumnValue::Null).unwrap();
    let rejected = put("bob", ColumnValue::Null, ColumnValue::Null);
    assert!(matches!(rejected, Err(RowsError::Rejected(RowsRejection::Constraint { index: 0 }))), "{rejected:?}");
    let sql = "SELECT owed, note, name FROM debts WHERE name > $2 AND name < $1 ORDER BY name";
    let found = rows.read(sql, vec![ColumnValue::Text("b".into()), ColumnValue::Text("a".into())]).unwrap();
    let row = |owed: ColumnValue, note: ColumnValue, name: &str| {
        Row::from([("owed".into(), owed), ("note".into(), note), ("name".into(), ColumnValue::Text(name.into()))])
    };
    assert_eq!(found, [row(ColumnValue::Amount(Amount::MAX), ColumnValue::Bytes(vec![7; 16]), "alice")]);
    let found = rows.read("SELECT owed, note, name FROM debts WHERE owed IS NULL", vec![]).unwrap();
    assert_eq!(found, [row(ColumnValue::Null, ColumnValue::Null, "bob")]);
    assert!(rows.read("SELECT nothing FROM nowhere", vec![]).is_err());
}

#[test]
fn a_role_in_another_process_writes_its_rows_into_the_database() {
    let world = World::with(|options| options.migrations = vec![CURSOR]);
    let bankroll_store::Location::Postgres(url) = &world.options.location else { return };
    let rows = Rows::open(url.clone()).unwrap();
    assert_eq!(rows.write(vec![put(1, 100), put(2, 200)]).unwrap(), [1, 1]);
    let rejected = rows.write(vec![put(3, 300), put(4, 100)]);
    assert!(matches!(rejected, Err(RowsError::Rejected(RowsRejection::Constraint { index: 1 }))), "{rejected:?}");
    assert_eq!(cursors(&world), [(1, 100), (2, 200)]);
    let found = rows.read("SELECT block FROM chain_cursor WHERE chain = $1", vec![ColumnValue::Int(2)]).unwrap();
    assert_eq!(found, [Row::from([("block".into(), ColumnValue::Int(200))])]);
}
