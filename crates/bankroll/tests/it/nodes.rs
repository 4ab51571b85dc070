//! `bankroll nodes`: an authority and the certificates of nodes, in files.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use bankroll_ledger::Time;
use bankroll_nodes::{Authority, NodeIdentity, NodeName};
use bankroll_store::Clock;
use serde_json::Value;

use crate::program::{folder, run, run_with};

#[test]
fn an_authority_and_its_nodes_are_made_once() {
    let folder = folder();
    let add = ["nodes", "add", "books-1", "--roles", "books,api", "--json"];
    run(folder.path(), &add).fails(1, &["no certificate authority", "nodes init --dir ."]);
    let typo = ["there is no folder typo", "`bankroll init --dir typo`"];
    run(folder.path(), &["nodes", "init", "--dir", "typo"]).fails(3, &typo);
    assert!(!folder.path().join("typo").exists(), "nothing was created");
    let text = run(folder.path(), &["nodes", "init"]).ok();
    assert!(text.contains("nodes/ca.pem") && text.contains("nodes/ca.key (secret"), "{text}");
    let made = run(folder.path(), &add).json();
    for (file, mode) in [(&made["certificate"], 0o644), (&made["key"], 0o600), (&"nodes/ca.key".into(), 0o600)] {
        let path = folder.path().join(file.as_str().unwrap());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
    }
    run(folder.path(), &add).fails(1, &["books-1.pem exists already; nothing was changed"]);
    run(folder.path(), &["nodes", "init"]).fails(1, &["ca.pem exists already; nothing was changed"]);
    run(folder.path(), &["nodes", "add", "B", "--roles", "books"]).fails(2, &["is not a node name"]);
    run(folder.path(), &["nodes", "add", "b", "--roles", "bookz"]).fails(2, &["there is no role"]);
}

const DAY: u64 = 86_400_000_000;

fn books_1() -> NodeName {
    "books-1".parse().unwrap()
}

/// How many days the certificate of `books-1` is still valid.
fn days_left(nodes: &Path) -> u64 {
    let now = Clock::machine().now();
    let expires = NodeIdentity::load(nodes, &books_1(), now).unwrap().expires();
    (expires.0 - now.0).div_ceil(DAY)
}

#[test]
fn a_certificate_is_renewed_and_revoked() {
    let folder = folder();
    let nodes = folder.path().join("nodes");
    run(folder.path(), &["nodes", "init"]).ok();
    run(folder.path(), &["nodes", "add", "books-1", "--roles", "books", "--days", "20"]).ok();
    assert_eq!(days_left(&nodes), 20);
    let key = fs::read(nodes.join("books-1.key")).unwrap();
    let text = run(folder.path(), &["nodes", "renew", "books-1", "--days", "90"]).ok();
    assert!(text.contains("renewed: ./nodes/books-1.pem") && text.contains("without a restart"), "{text}");
    assert_eq!((days_left(&nodes), fs::read(nodes.join("books-1.key")).unwrap()), (90, key));
    run(folder.path(), &["nodes", "renew", "books-2"]).fails(3, &["there is no certificate ./nodes/books-2.pem"]);
    run(folder.path(), &["nodes", "revoke", "books-2"]).fails(3, &["there is no certificate ./nodes/books-2.pem"]);

    let revoked = run(folder.path(), &["nodes", "revoke", "books-1", "--json"]).json();
    assert_eq!(revoked["list"], "./nodes/revoked.pem");
    assert!(NodeIdentity::load(&nodes, &books_1(), Clock::machine().now()).unwrap_err().is_revoked());
    run(folder.path(), &["nodes", "renew", "books-1"]).fails(1, &["books-1 is revoked", "nodes add books-1"]);
}

/// One check of the doctor for books in a database. Certificates are checked also when the database cannot be reached.
fn check(folder: &Path, name: &str) -> Option<Value> {
    let database =
        [("BANKROLL__BOOKS__DATABASE", "postgres://casino@127.0.0.1:1/books"), ("BANKROLL__NODE__NAME", "books-1")];
    let report = run_with(folder, &database, &["doctor", "--json"]);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    report["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).cloned()
}

fn check_says(check: &Value, is_ok: bool, found: &str, fix: &str) {
    assert_eq!(check["ok"], is_ok, "{check}");
    assert!(check["found"].as_str().unwrap().contains(found), "{check}");
    assert!(check["fix"].as_str().unwrap_or_default().contains(fix), "{check}");
}

#[test]
fn the_doctor_warns_of_certificates_that_expire_and_is_red_when_they_have() {
    let folder = folder();
    let nodes = folder.path().join("nodes");
    run(folder.path(), &["nodes", "init"]).ok();
    run(folder.path(), &["nodes", "add", "books-1", "--roles", "books"]).ok();
    check_says(&check(folder.path(), "node").unwrap(), true, "for the roles books: 364 days left", "");
    run(folder.path(), &["nodes", "renew", "books-1", "--days", "20"]).ok();
    let warned = check(folder.path(), "node").unwrap();
    check_says(&warned, true, "19 days left", "nodes renew books-1` where ca.key is, and copy books-1.pem to");

    let past = Time(Clock::machine().now().0 - 40 * DAY);
    Authority::open(&nodes, past).unwrap().renew(&nodes, &books_1(), 30, past).unwrap();
    check_says(&check(folder.path(), "node").unwrap(), false, "xpired", "nodes renew books-1");
    run(folder.path(), &["nodes", "renew", "books-1"]).ok();
    check_says(&check(folder.path(), "node").unwrap(), true, "364 days left", "");
    run(folder.path(), &["nodes", "revoke", "books-1"]).ok();
    check_says(&check(folder.path(), "node").unwrap(), false, "evoked", "give it a new key with `");
}

#[test]
fn the_doctor_is_red_while_the_key_of_the_authority_lies_where_a_node_runs() {
    let folder = folder();
    run(folder.path(), &["nodes", "init"]).ok();
    assert_eq!(check(folder.path(), "authority"), None, "no node runs here");
    run(folder.path(), &["nodes", "add", "books-1", "--roles", "books"]).ok();
    let red = check(folder.path(), "authority").unwrap();
    check_says(&red, false, "ca.key lies with books-1.key", "nodes/ca.key to a machine that runs no node");
    fs::rename(folder.path().join("nodes/ca.key"), folder.path().join("elsewhere.key")).unwrap();
    assert_eq!(check(folder.path(), "authority"), None);
}
