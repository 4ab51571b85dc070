use crate::check::ownership::findings;
use crate::check::tree::TextFile;

/// Two flows with a table each, and one file more.
fn check(path: &str, text: &str, expected: &[&str]) {
    let file = |path: &str, text: &str| TextFile { path: path.into(), text: text.into() };
    let files = [
        file("crates/deposits/migrations/0001_deposits.sql", "CREATE TABLE deposits (\n id TEXT);"),
        file("crates/withdrawals/migrations/0001_withdrawals.sql", "CREATE TABLE payout_nonces (nonce INTEGER);"),
        file("crates/store/migrations/0001_books.sql", "CREATE TABLE journal (seq INTEGER);"),
        file(path, text),
    ];
    assert_eq!(findings(&files), expected);
}

#[test]
fn a_flow_may_name_its_own_tables_and_everybody_the_stores() {
    check("crates/deposits/src/rows.rs", r#"let sql = "SELECT id FROM deposits";"#, &[]);
    check("crates/roles/src/node.rs", r#"let sql = "SELECT seq FROM journal";"#, &[]);
}

#[test]
fn another_crate_that_reads_or_writes_a_flows_table_is_named() {
    let found = ["crates/demo/src/view.rs:1: table `deposits` is crates/deposits's: ask it"];
    check("crates/demo/src/view.rs", r#"let sql = "SELECT count(*) FROM deposits WHERE id = $1";"#, &found);
    check("crates/demo/src/view.rs", r#"let sql = "UPDATE deposits SET id = $1";"#, &found);
    check("crates/demo/src/view.rs", r#"let sql = "INSERT INTO deposits(id) VALUES ($1)";"#, &found);
    let found = ["crates/deposits/src/a.rs:2: table `payout_nonces` is crates/withdrawals's: ask it"];
    check("crates/deposits/src/a.rs", "let sql = \"SELECT 1 FROM\n    payout_nonces\";", &found);
}

#[test]
fn prose_and_tests_may_speak_of_any_table() {
    check("crates/demo/src/view.rs", "/// Money that came from deposits is final.", &[]);
    check("crates/demo/tests/it/edits.rs", r#"let sql = "UPDATE deposits SET id = $1";"#, &[]);
    check("crates/testkit/src/sim/world.rs", r#"let sql = "UPDATE deposits SET id = $1";"#, &[]);
    check("docs/page.md", "SELECT id FROM deposits", &[]);
}
