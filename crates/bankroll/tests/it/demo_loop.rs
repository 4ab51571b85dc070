//! The demo's loop, from the chain to the books and back: killed, with its signer killed, and with a wei missing.

use std::{
    io::{BufRead, BufReader, Lines},
    path::Path,
    process::{Child, ChildStderr, Command, Stdio},
    time::Duration,
};

use bankroll_chains_server::BlockFile;
use bankroll_chains_simulated::{SimulatedChain, SimulatedConfig, SimulatedKey, U256};
use bankroll_ledger::{Amount, Time};
use bankroll_orders::{Address, ChainId, Gas, IntentId, Meaning, Order, OrderId, Price, Slot};
use bankroll_signer_client::{SignOutcome, SignerClient};
use serde_json::{Value, json};

use crate::program::{command, demo_command, folder, run, run_with};

/// Reads the demo's output up to a line that matches.
pub fn until(lines: &mut Lines<BufReader<ChildStderr>>, wanted: impl Fn(&str) -> bool) -> String {
    let mut heard = Vec::new();
    for line in lines.map_while(Result::ok) {
        if wanted(&line) {
            return line;
        }
        heard.push(line);
    }
    panic!("it never said so: {heard:#?}");
}

/// A game of turns, in which players leave all the time; far longer than any test waits.
pub fn start(folder: &Path) -> (Child, Lines<BufReader<ChildStderr>>) {
    let mut demo = demo_command(folder);
    demo.args(["--exit", "--players", "40", "--seed", "7", "--ticks", "100000"]);
    let mut child = demo.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    (child, lines)
}

pub fn pays(line: &str) -> bool {
    line.contains("in flight") && !line.ends_with(" 0 in flight")
}

/// The next game in the same folder, so short that no player leaves.
pub fn next(folder: &Path) -> Value {
    run(folder, &["demo", "--exit", "--json", "--players", "4", "--ticks", "2"]).json()
}

#[test]
fn the_same_game_has_the_same_payments_to_the_wei() {
    let folder = folder();
    let args = ["demo", "--exit", "--json", "--players", "40", "--seed", "7", "--ticks", "50"];
    let report = run(folder.path(), &args).json();
    assert_eq!((&report["deposits_credited"], &report["withdrawals_paid"]), (&48.into(), &5.into()));
    assert_eq!(report["onchain_paid_wei"], "50362453254092409");
    let chain = &report["chain"];
    assert_eq!((&chain["deposits"], &chain["deposited"]), (&49.into(), &"1510254895542479400".into()));
    // Five transfers at 21,000 gas and two gwei each, which the house has paid.
    assert_eq!(chain["fees"], "210000000000000");
    let reconciliation = &report["reconciliation"];
    assert_eq!((&reconciliation["ok"], &reconciliation["difference"]), (&true.into(), &"0".into()), "{reconciliation}");
    assert_eq!(reconciliation["chain"], "1459682442288386991");
    assert_eq!(reconciliation["books"], reconciliation["chain"]);
}

#[test]
fn a_demo_that_is_killed_again_and_again_pays_every_player_once() {
    let folder = folder();
    for _ in 0..3 {
        let (mut child, mut lines) = start(folder.path());
        until(&mut lines, pays);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let report = next(folder.path());
    let left = report["leftovers"]["payouts"].as_u64().unwrap();
    let reconciliation = &report["reconciliation"];
    assert_eq!((&reconciliation["ok"], &reconciliation["difference"]), (&true.into(), &"0".into()), "{reconciliation}");
    assert_eq!(reconciliation["open"], json!({ "deposits": 0, "payouts": 0 }));
    assert!(report["withdrawals_paid"].as_u64().unwrap() >= left, "{left} were left unpaid: {report}");
    let nothing = json!({
        "payouts": 0, "paid_out": "0", "swept": "0", "players": 0, "stakes": "0", "returned": "0", "to_ecosystem": "0",
    });
    assert_eq!(next(folder.path())["leftovers"], nothing);
}

#[test]
fn a_signer_that_is_killed_is_started_again_and_signs_nothing_twice() {
    let folder = folder();
    let (child, mut lines) = start(folder.path());
    let started = until(&mut lines, |line| line.starts_with("signer: process "));
    let process = started.split([' ', ';']).nth(2).unwrap();
    until(&mut lines, pays);
    assert!(Command::new("kill").args(["-KILL", process]).status().unwrap().success());
    until(&mut lines, |line| line.starts_with("signer: ended with signal: 9"));
    until(&mut lines, |line| line.starts_with("signer: process "));
    until(&mut lines, pays);
    std::thread::spawn(move || lines.for_each(drop));
    // The game ends on a signal only: it cannot be over before its signer is killed.
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert!(report.contains("✓ the wallet and the books agree"), "{report}");
    assert_eq!(next(folder.path())["reconciliation"]["difference"], "0");
}

/// A holder of the payouts role can have small amounts signed; here, one wei for themselves.
fn stolen(folder: &Path) -> Vec<u8> {
    let signer = folder.join("bankroll-demo/signer");
    let wallet: Address =
        run(folder, &["signer", "show", "--json", "--dir", signer.to_str().unwrap()]).json()["wallets"][0]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
    let mut process = command(folder);
    process.env("BANKROLL_SIGNER_PASSWORD", "play money");
    process.args(["signer", "run", "--until-input-ends", "--dir"]).arg(&signer);
    let mut process = process.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    BufReader::new(process.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    let mut client = SignerClient::new(&signer.join("signer.sock"), Duration::from_secs(20));
    let head = client.status(wallet, None).unwrap().head;
    let order = Order {
        id: OrderId("theft-1".parse().unwrap()),
        intent: IntentId("theft".parse().unwrap()),
        slot: Slot { chain: ChainId(31_337), wallet, nonce: 0 },
        meaning: Meaning::NativePayout { to: Address([0xee; 20]), amount: Amount::new(1) },
        gas: Gas { limit: 21_000, price: Price::Dynamic { max: 2_000_000_000, priority: 1 } },
        expires: Time(u64::MAX),
    };
    let SignOutcome::Signed(signed) = client.sign(&order, head).unwrap() else { panic!("refused") };
    drop(process.stdin.take());
    process.wait().unwrap();
    signed.raw
}

/// The demo's chain gets a block with a transaction that the demo does not know.
fn mine(file: &Path, raw: &[u8]) {
    let coins = U256::from(1_000_000_000_000_000_000_000_000_000_u128);
    let mut chain = SimulatedChain::new(SimulatedConfig {
        chain_id: 31_337,
        gas_limit: 3_000_000_000,
        pool_limit: 1_000_000,
        base_fee: 1_000_000_000,
        funded: [0, 1].map(|number| (SimulatedKey::derived(31_337, number).address(), coins)).into(),
        ..SimulatedConfig::new(31_337)
    });
    let mut blocks = BlockFile::open(file, &mut chain).unwrap();
    chain.send(raw).unwrap();
    chain.set_base_fee(1_000_000_000);
    assert_eq!(chain.mine(1).transactions.len(), 1);
    blocks.save(&chain).unwrap();
}

#[test]
fn a_wei_that_is_missing_on_the_chain_is_seen() {
    let folder = folder();
    assert_eq!(next(folder.path())["withdrawals_paid"], 0, "the wallet's first transaction is still to come");
    mine(&folder.path().join("bankroll-demo/chain.jsonl"), &stolen(folder.path()));

    let args = ["demo", "--exit", "--json", "--players", "4", "--ticks", "2"];
    let again = run(folder.path(), &args);
    assert_eq!(again.code, 4, "{}", again.stderr);
    let report: Value = serde_json::from_str(&again.stdout).unwrap();
    let reconciliation = &report["reconciliation"];
    // One wei, and 21,000 gas at one gwei and a wei.
    assert_eq!(
        (&reconciliation["ok"], &reconciliation["difference"]),
        (&false.into(), &"-21000000021001".into()),
        "{reconciliation}"
    );
    assert!(
        reconciliation["foreign"][0].as_str().unwrap().starts_with("1 wei and 21000000021000 for gas left with 0x"),
        "{reconciliation}"
    );
    assert_eq!(report["audit"]["ok"], false);

    let in_words = run(folder.path(), &["demo", "--exit", "--players", "4", "--ticks", "2"]);
    assert_eq!(in_words.code, 4);
    let headline = "✗ the wallet and the books differ by 0.000021000000021001";
    assert!(in_words.stdout.contains(headline), "{}", in_words.stdout);
    assert!(in_words.stdout.contains("difference  -21000000021001 wei"), "{}", in_words.stdout);
}

/// The row of a deposit says that the chain took it back, and the books follow it; the payment is still on the chain.
#[test]
fn a_deposit_that_is_reversed_in_the_books_and_still_on_the_chain_is_seen() {
    let folder = folder();
    next(folder.path());
    let books = rusqlite::Connection::open(folder.path().join("bankroll-demo/books.db")).unwrap();
    let credited = "SELECT min(id) FROM deposits WHERE purpose = 'player' AND ledger_state = 'credited'";
    let edit = format!("UPDATE deposits SET chain_state = 'orphaned' WHERE id = ({credited})");
    assert_eq!(books.execute(&edit, []).unwrap(), 1);
    let orphaned = "SELECT amount_raw FROM deposits WHERE chain_state = 'orphaned'";
    let amount: String = books.query_row(orphaned, [], |row| row.get(0)).unwrap();
    books.close().unwrap();

    let again = run(folder.path(), &["demo", "--exit", "--json", "--players", "4", "--ticks", "2"]);
    assert_eq!(again.code, 4, "{}", again.stderr);
    let report: Value = serde_json::from_str(&again.stdout).unwrap();
    let reconciliation = &report["reconciliation"];
    assert_eq!(
        (&reconciliation["ok"], &reconciliation["difference"]),
        (&false.into(), &amount.as_str().into()),
        "{reconciliation}"
    );
    assert_eq!(
        (&reconciliation["uncredited"], &reconciliation["open"]),
        (&"0".into(), &json!({ "deposits": 0, "payouts": 0 })),
        "{reconciliation}"
    );
    assert!(
        reconciliation["contradicted"][0].as_str().unwrap().starts_with(&format!("{amount} wei came with 0x")),
        "{reconciliation}"
    );
    assert_eq!(report["audit"]["custody_is_what_the_chain_holds"], false);

    let in_words = run(folder.path(), &["demo", "--exit", "--players", "4", "--ticks", "2"]);
    assert_eq!(in_words.code, 4);
    assert!(in_words.stdout.contains("✗ the wallet and the books differ by "), "{}", in_words.stdout);
    assert!(in_words.stdout.contains(&format!("difference  {amount} wei")), "{}", in_words.stdout);
    assert!(in_words.stdout.contains("contradicted by the chain: "), "{}", in_words.stdout);
}

#[test]
fn a_chain_that_is_not_the_books_own_is_refused() {
    let folder = folder();
    next(folder.path());
    let chain = folder.path().join("bankroll-demo/chain.jsonl");
    let whole = std::fs::read_to_string(&chain).unwrap();
    // A block that was being written when the machine stopped: no reader has seen it.
    std::fs::write(&chain, format!("{whole}{{\"after\":17")).unwrap();
    assert_eq!(next(folder.path())["reconciliation"]["ok"], true);

    std::fs::remove_file(&chain).unwrap();
    let args = ["demo", "--exit", "--ticks", "2"];
    run_with(folder.path(), &[], &args).fails(1, &["of another chain than the one in the demo's folder", "--fresh"]);
    // A file that was edited: a block's hash says so.
    let edited = whole.replacen("\"time\":1", "\"time\":2", 1);
    std::fs::write(&chain, edited).unwrap();
    run(folder.path(), &args).fails(1, &["--fresh", "chain.jsonl cannot be replayed", "line 2 is damaged"]);
}
