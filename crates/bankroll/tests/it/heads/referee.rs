//! A second implementation, in Python, against a running node: every signature of the log, consistency between any two
//! heads, forged proofs, and a receipt with its names. On both engines.

use std::{path::Path, process::Command};

use bankroll_heads::{HeadSigner, publish};
use bankroll_ledger::Principal;
use bankroll_roles::AuthKey;
use bankroll_store::{Clock, Ledger, LedgerOptions, Location, Rows};
use serde_json::Value;

use super::{FUNDS, casino, keep, script, text};
use crate::{
    program::{command, credit, run, run_with},
    running::{Running, deployment},
};

/// Numbers of batches at which a head is published: around the blocks of 256 leaves.
const SIZES: [u64; 7] = [12, 13, 128, 255, 256, 257, 300];

/// Grows the journal batch by batch, and publishes at each of the sizes.
fn grow(location: &Location, key: &AuthKey) {
    let migrations = bankroll_roles::flows::migrations();
    let ledger = Ledger::open(LedgerOptions { migrations, ..LedgerOptions::new(location.clone()) }).unwrap();
    let rows = Rows::open(&ledger).unwrap();
    let sign = |digest: &[u8; 32]| key.sign(digest);
    let chain = bankroll_orders::ChainId(31337);
    let (address, batches_max) = (key.address(), publish::BATCHES_MAX);
    let signer = HeadSigner { audience: "localhost:8640", chain, address, batches_max, sign: &sign };
    let mut number = 0;
    for size in SIZES {
        while rows.reader().head().unwrap().batch < size {
            number += 1;
            let name = format!("arena/funds/1/player-{number}").parse().unwrap();
            ledger.open_accounts(&Principal::System, vec![name]).unwrap();
        }
        publish::step(&signer, &rows, Clock::machine().now()).unwrap();
    }
    ledger.close();
}

fn referee(url: &str, address: &str, receipt: &Path) -> Value {
    let output = Command::new("python3").arg(script()).args([url, address, text(receipt)]).output().unwrap();
    let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}{said}");
    serde_json::from_str(&printed).unwrap()
}

fn expect_all(report: &Value) {
    let heads = report["heads"].as_u64().unwrap();
    assert!(heads >= SIZES.len() as u64, "{report}");
    assert_eq!(report["pairs"].as_u64(), Some(heads * (heads + 1) / 2));
    assert!(report["forgeries_refused"].as_u64() > Some(100), "{report}");
    assert_eq!(report["names"], serde_json::json!(["@house/custody/1/hot", FUNDS]));
}

#[test]
fn a_second_implementation_agrees_about_a_node_with_books_in_a_folder() {
    let casino = casino();
    let at = casino.path();
    credit(at, FUNDS, 100);
    let key = AuthKey::create(&at.join("head.key")).unwrap();
    grow(&at.into(), &key);
    let receipt = at.join("receipt.json");
    run(at, &["receipt", "credit-1", "--out", text(&receipt)]).ok();
    let mut serve = command(at);
    serve.args(["serve", "--json"]);
    let node = Running::spawn(serve, "node-1");
    let [api, _] = node.until_all(["api", "took"]);
    expect_all(&referee(api["url"].as_str().unwrap(), &key.address().to_string(), &receipt));
}

#[test]
fn a_second_implementation_agrees_about_a_front_that_relays_to_books_in_a_database() {
    let casino = casino();
    credit(casino.path(), FUNDS, 100);
    // The log moves with the books.
    super::publish(casino.path());
    let folder = deployment(&[("books-1", "books"), ("api-1", "api")]);
    let at = folder.path();
    std::fs::copy(casino.path().join("head.key"), at.join("head.key")).unwrap();
    let url = bankroll_testkit::postgres::needed_database();
    run(casino.path(), &["migrate-books", "--from", ".", "--to", url.reveal()]).ok();
    let key = AuthKey::read(&at.join("head.key")).unwrap();
    grow(&url.clone().into(), &key);
    let env = [("BANKROLL__BOOKS__DATABASE", url.reveal()), ("BANKROLL__CHAIN__ID", "31337")];
    let receipt = at.join("receipt.json");
    run_with(at, &env, &["receipt", "credit-1", "--out", text(&receipt)]).ok();
    let _books = Running::start(at, &url, "books-1", "books");
    let front = Running::start(at, &url, "api-1", "api");
    let [api, _] = front.until_all(["api", "books_found"]);
    expect_all(&referee(api["url"].as_str().unwrap(), &key.address().to_string(), &receipt));
    let published = run_with(at, &env, &["audit", "--json"]).json()["published_heads"].as_u64();
    assert!(published > Some(SIZES.len() as u64), "{published:?}");
}

#[test]
fn the_second_implementation_refuses_another_signer() {
    let casino = casino();
    let at = casino.path();
    credit(at, FUNDS, 100);
    let node = super::serve(at);
    super::stop(node);
    keep(at, "head.json");
    let receipt = at.join("receipt.json");
    run(at, &["receipt", "credit-1", "--out", text(&receipt)]).ok();
    let mut serve = command(at);
    serve.args(["serve", "--json"]);
    let node = Running::spawn(serve, "node-1");
    let [api, _] = node.until_all(["api", "took"]);
    let stranger = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    let arguments = [api["url"].as_str().unwrap(), stranger, text(&receipt)];
    let output = Command::new("python3").arg(script()).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("the expected signer"), "{said}");
}
