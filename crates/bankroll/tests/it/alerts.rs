//! Alerts of a running node: conditions in its rows open and close them, commands show them, crashes repeat none.

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::Path,
};

use bankroll_alerts::views::{self, AlertFilter};
use bankroll_store::Reader;
use bankroll_testkit::postgres;
use rusqlite::Connection;
use serde_json::Value;

use crate::{
    program::{command, folder, run},
    running::{PATIENCE, Running, books_database, deployment},
};

const WALLET: &str = "0x00000000000000000000000000000000000000aa";
const STOP: &str = "INSERT INTO operation_wallet_addresses (chain, address, stopped)
    VALUES ('eip155:1', '0x00000000000000000000000000000000000000aa', 'foreign_nonce')";
const RESUME: &str = "DELETE FROM operation_wallet_addresses";

fn serve(folder: &Path) -> Running {
    let mut serve = command(folder);
    serve.args(["serve", "--json", "--set", "api.metrics=127.0.0.1:0"]);
    Running::spawn(serve, "node-1")
}

fn edit(folder: &Path, sql: &str) {
    let books = Connection::open(folder.join("books.db")).unwrap();
    books.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
    assert_eq!(books.execute(sql, []).unwrap(), 1);
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn listed(folder: &Path, more: &str) -> Vec<Value> {
    let found = run(folder, &words(&format!("alerts list --json {more}"))).json();
    found["alerts"].as_array().unwrap().clone()
}

/// The lines about alerts of this kind.
fn metrics(address: &str, kind: &str) -> Vec<String> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    // Before the first round nothing is known.
    assert!(text.matches("# TYPE bankroll_alerts gauge").count() <= 1, "{text}");
    text.lines().filter(|line| line.contains(&format!("kind=\"{kind}\""))).map(str::to_owned).collect()
}

/// The counts are known after a round.
fn until_metrics(address: &str, kind: &str, expected: &[String]) {
    let deadline = std::time::Instant::now() + PATIENCE;
    while metrics(address, kind) != expected {
        assert!(std::time::Instant::now() < deadline, "{:?}", metrics(address, kind));
        std::thread::yield_now();
    }
}

fn gauge(state: &str, count: u8) -> String {
    format!("bankroll_alerts{{kind=\"wallet_stopped\",severity=\"critical\",state=\"{state}\"}} {count}")
}

#[test]
fn a_stopped_wallet_is_one_alert_until_it_pays_again() {
    let folder = folder();
    let at = folder.path();
    run(at, &["init"]).ok();
    assert_eq!(run(at, &["alerts", "list"]).ok(), "there are no such alerts\n");
    let node = serve(at);
    let [_, on] = node.until_all(["took", "metrics"]);
    edit(at, STOP);
    let opened = node.until("alert_opened");
    assert_eq!(
        (&opened["kind"], &opened["severity"], &opened["level"]),
        (&"wallet_stopped".into(), &"critical".into(), &"warning".into())
    );
    let id = opened["alert"].as_str().unwrap();
    assert!(opened["message"].as_str().unwrap().ends_with(&format!("see `bankroll alerts show {id}`")), "{opened}");

    let list = run(at, &["alerts", "list"]).ok();
    assert!(list.starts_with("critical  wallet_stopped, open for "), "{list}");
    assert!(list.contains("  next: find out who used the wallet's key\n"), "{list}");
    let shown = run(at, &["alerts", "show", id]).ok();
    assert!(shown.contains(&format!("subject       eip155:1/{WALLET}\n")), "{shown}");
    assert!(shown.ends_with("runbook       docs/runbooks/wallet_stopped.md\n"), "{shown}");
    let address = on["address"].as_str().unwrap();
    until_metrics(address, "wallet_stopped", &[gauge("open", 1), gauge("acknowledged", 0)]);
    let doctor = run(at, &["doctor"]);
    assert_eq!(doctor.code, 1, "{}", doctor.stdout);
    assert!(doctor.stdout.contains("1 is open; critical wallet_stopped: nothing new is paid"), "{}", doctor.stdout);

    // The same command twice, under one id.
    for _ in 0..2 {
        let acknowledged = run(at, &["alerts", "acknowledge", id, "--id", "seen"]).ok();
        assert!(acknowledged.starts_with("critical  wallet_stopped, open for "), "{acknowledged}");
        assert!(acknowledged.lines().next().unwrap().ends_with(", acknowledged by owner"), "{acknowledged}");
    }
    let doctor = run(at, &["doctor"]);
    assert_eq!(doctor.code, 0, "a person works on it: {}", doctor.stdout);

    // Killed, and started again: no second alert while the condition holds.
    node.signal("-KILL");
    node.ended();
    let node = serve(at);
    node.until("took");
    edit(at, RESUME);
    let closed = node.until("alert_closed");
    assert_eq!(closed["alert"], id);
    assert_eq!(listed(at, ""), [] as [Value; 0]);
    let past = listed(at, "--state closed");
    assert_eq!((past.len(), &past[0]["closed_by"], &past[0]["acknowledged_by"]), (1, &Value::Null, &"owner".into()));
    edit(at, STOP);
    let again = node.until("alert_opened");
    assert_ne!(again["alert"], id);
    let second = &listed(at, "")[0];
    assert_eq!((&second["opening"], &second["state"]), (&2.into(), &"open".into()));
    node.signal("-TERM");
    assert_eq!(node.ended().0, 0);
    run(at, &["audit"]).ok();

    // Without a node the commands ask the books themselves. It opens again with the next node.
    let closed = run(at, &["alerts", "close", again["alert"].as_str().unwrap()]).ok();
    assert!(closed.starts_with("critical  wallet_stopped, closed 0 seconds ago\n"), "{closed}");
    run(at, &["alerts", "acknowledge", again["alert"].as_str().unwrap()]).fails(1, &["the alert is closed"]);
    run(at, &["alerts", "show", &format!("alt_{}", "0".repeat(32))]).fails(3, &["not_found"]);
}

#[test]
fn an_alert_that_is_hidden_by_sql_is_named_by_the_audit() {
    let folder = folder();
    let at = folder.path();
    run(at, &["init"]).ok();
    let node = serve(at);
    node.until("took");
    edit(at, STOP);
    let opened = node.until("alert_opened");
    node.signal("-TERM");
    assert_eq!(node.ended().0, 0);
    edit(at, "UPDATE alerts SET state = 'closed'");
    let id = opened["alert"].as_str().unwrap();
    run(at, &["audit"]).fails(4, &["alerts", id]);
}

/// Books in a database: the holder is killed, and the node that takes over continues with the same alert.
#[test]
fn a_node_that_takes_over_knows_the_alerts_of_the_one_before() {
    let folder = deployment(&[("node-1", "books"), ("node-2", "books")]);
    let url = books_database();
    let first = {
        let mut serve = command(folder.path());
        serve.env("BANKROLL__BOOKS__DATABASE", url.reveal()).env("BANKROLL__NODE__NAME", "node-1");
        serve.env("BANKROLL__NODE__LISTEN", "127.0.0.1:0").env("BANKROLL__BOOKS__LEASE_MS", "4000");
        serve.env("BANKROLL__BOOKS__METRICS", "127.0.0.1:0").args(["serve", "--json", "--roles", "books"]);
        Running::spawn(serve, "node-1")
    };
    let [_, metrics_at] = first.until_all(["took", "metrics"]);
    let second = Running::start(folder.path(), &url, "node-2", "books");
    second.until("waiting");
    postgres::run(url.reveal(), STOP);
    let opened = first.until("alert_opened");
    // A node without the role `api` has metrics of its own.
    until_metrics(
        metrics_at["address"].as_str().unwrap(),
        "wallet_stopped",
        &[gauge("open", 1), gauge("acknowledged", 0)],
    );
    first.signal("-KILL");
    first.ended();
    second.until("took");
    postgres::run(url.reveal(), RESUME);
    let closed = second.until("alert_closed");
    assert_eq!(closed["alert"], opened["alert"]);
    second.signal("-TERM");
    assert_eq!(second.ended().0, 0);
    let reader = Reader::open(url).unwrap();
    let closed = AlertFilter { state: "closed".parse().ok(), ..AlertFilter::default() };
    assert_eq!(views::list(&reader, &closed, 10).unwrap().len(), 1);
    assert_eq!(views::list(&reader, &AlertFilter::default(), 10).unwrap(), []);
}
