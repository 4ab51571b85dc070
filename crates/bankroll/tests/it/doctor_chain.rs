//! `bankroll doctor` with a chain: RPC nodes, the indexer, the wallet, the signer and its keys. And `serve`, which warns.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, Stdio},
    time::Instant,
};

use serde_json::{Value, json};

use crate::{
    chain::post,
    program::{API_ANYWHERE, command, folder, run, run_with},
    running::{PATIENCE, Running},
};

const PASSWORD: (&str, &str) = ("BANKROLL_SIGNER_PASSWORD", "correct horse");
const OTHER_WALLET: &str = "0x00000000000000000000000000000000000000aa";

/// A process that prints one line of JSON when it is ready.
struct Started {
    process: Child,
    line: Value,
}

impl Started {
    fn new(folder: &Path, args: &[&str]) -> Self {
        let mut program = command(folder);
        program.env(PASSWORD.0, PASSWORD.1).args(args).stdout(Stdio::piped());
        let mut process = program.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { process, line: serde_json::from_str(&line).unwrap() }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn chain(folder: &Path) -> Started {
    Started::new(folder, &["chain", "--json", "--block-time", "0", "--port", "0"])
}

/// Books with a signer; returns the signer's wallet.
fn casino(folder: &Path) -> String {
    run(folder, &["init"]).ok();
    let made = run_with(folder, &[PASSWORD], &["signer", "init", "--light", "--json"]).json();
    made["wallet"].as_str().unwrap().to_owned()
}

fn settings(chain: &Started, wallet: &str) -> Vec<String> {
    let of_chain = |key: &str| chain.line[key].as_str().unwrap().to_owned();
    let set = [
        "chain.id=31337".to_owned(),
        format!("chain.rpc={}", of_chain("url")),
        format!("chain.genesis={}", of_chain("genesis")),
        format!("chain.wallet={wallet}"),
    ];
    set.into_iter().flat_map(|set| ["--set".to_owned(), set]).collect()
}

/// The exit code, and the checks of the chain: name, whether it is green, what was found, the fix.
fn doctor(folder: &Path, settings: &[String], more: &[&str]) -> (i32, Vec<(String, bool, String, String)>) {
    let args = ["doctor", "--json"].into_iter().chain(settings.iter().map(String::as_str)).chain(more.iter().copied());
    let run = run(folder, &args.collect::<Vec<_>>());
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let names = ["chain", "wallet", "indexer", "payouts", "signer", "keys"];
    let checks =
        report["checks"].as_array().unwrap().iter().filter(|check| names.contains(&check["name"].as_str().unwrap()));
    let checks =
        checks.map(|check| (text(check, "name"), check["ok"] == true, text(check, "found"), text(check, "fix")));
    (run.code, checks.collect())
}

/// This check is red, with these words about what was found and what to do; all others are green.
fn check_red(found: (i32, Vec<(String, bool, String, String)>), name: &str, says: &str, fix: &str) {
    let (code, checks) = found;
    let reds: Vec<_> = checks.iter().filter(|(_, ok, ..)| !ok).collect();
    assert!(code == 1 && reds.len() == 1 && reds[0].0 == name, "{checks:?}");
    assert!(reds[0].2.contains(says) && reds[0].3.contains(fix), "{reds:?}");
}

#[test]
fn a_chain_and_a_signer_that_work_are_green() {
    let folder = folder();
    let wallet = casino(folder.path());
    let chain = chain(folder.path());
    let _signer = Started::new(folder.path(), &["signer", "run", "--json"]);
    let (code, checks) = doctor(folder.path(), &settings(&chain, &wallet), &[]);
    let names: Vec<&str> = checks.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!((code, names), (0, vec!["chain", "wallet", "indexer", "signer", "keys"]), "{checks:?}");
    let found: Vec<&str> = checks.iter().map(|(_, _, found, _)| found.as_str()).collect();
    assert!(found[0].starts_with("eip155:31337 at http://127.0.0.1:") && found[0].ends_with("block 0"), "{found:?}");
    assert_eq!(found[1], format!("{wallet} holds 0 ETH, and cannot pay for gas yet"));
    assert_eq!(found[2], "has read no block yet");
    assert_eq!(found[3], format!("answers at ./signer/signer.sock, and has the key of {wallet}"));
}

#[test]
fn what_does_not_work_is_red_with_what_to_do() {
    let folder = folder();
    let wallet = casino(folder.path());
    let chain = chain(folder.path());
    let right = settings(&chain, &wallet);
    let absent = doctor(folder.path(), &right, &[]);
    check_red(absent, "signer", "no signer answers at ./signer/signer.sock", "signer run --dir ./signer");

    let _signer = Started::new(folder.path(), &["signer", "run", "--json"]);
    let with = |set: &str| doctor(folder.path(), &right, &["--set", set]);
    check_red(with("chain.rpc=http://127.0.0.1:1"), "chain", "no connection", "chain.rpc");
    check_red(with("chain.id=5"), "chain", "the node reports id 31337, expected 5", "chain.genesis");
    let genesis = format!("chain.genesis=0x{}", "11".repeat(32));
    check_red(with(&genesis), "chain", "wrong chain: the node reports genesis block", "chain.genesis");
    check_red(with(&format!("chain.wallet={OTHER_WALLET}")), "signer", "does not have the key", "signer show --dir");

    let books = rusqlite::Connection::open(folder.path().join("books.db")).unwrap();
    let stop =
        "INSERT INTO operation_wallet_addresses (chain, address, stopped) VALUES ('eip155:31337', ?1, 'foreign_nonce')";
    books.execute(stop, [&wallet]).unwrap();
    check_red(doctor(folder.path(), &right, &[]), "payouts", "nothing new is paid from", "another program");
    books.execute("DELETE FROM operation_wallet_addresses", []).unwrap();
    drop(books);

    let key = folder.path().join("signer/wallet.json");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    check_red(doctor(folder.path(), &right, &[]), "keys", "readable by other users", "chmod 600 ./signer/wallet.json");
}

/// The checks of providers: whether each is red, what was found, the fix.
fn providers(folder: &Path, chains: &[(&str, u64, &str)]) -> Vec<(bool, String, String)> {
    let of_chain = |(section, id, rpc): &(&str, u64, &str)| {
        let genesis = format!("{section}.genesis=0x{}", "11".repeat(32));
        [
            format!("{section}.id={id}"),
            format!("{section}.rpc={rpc}"),
            format!("{section}.wallet={OTHER_WALLET}"),
            genesis,
        ]
    };
    let set = chains.iter().flat_map(of_chain).flat_map(|set| ["--set".to_owned(), set]);
    let args: Vec<String> = ["doctor".to_owned(), "--json".to_owned()].into_iter().chain(set).collect();
    let report = run(folder, &args.iter().map(String::as_str).collect::<Vec<_>>());
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let checks = report["checks"].as_array().unwrap().iter().filter(|check| check["name"] == "providers");
    checks.map(|check| (check["ok"] == false, text(check, "found"), text(check, "fix"))).collect()
}

#[test]
fn a_real_chain_needs_two_providers_and_encryption_and_each_chain_has_a_line() {
    let folder = folder();
    run(folder.path(), &["init"]).ok();
    let found = providers(
        folder.path(),
        &[
            ("chain", 1, "http://127.0.0.1:1"),
            ("chains.alone", 10, "https://a.invalid/s3cret1,https://a.invalid/s3cret2"),
            ("chains.bsc", 56, "http://localhost:1,https://b.invalid/s3cret"),
            ("chains.plain", 137, "https://a.invalid,http://b.invalid:8545/s3cret"),
            ("chains.test", 31_337, "http://127.0.0.1:1"),
        ],
    );
    let one = |chain: &str| format!("{chain} has one provider: nothing else says whether its blocks are the chain's");
    let add = |section: &str| format!("add the URL of another provider to {section}.rpc");
    let plain = "eip155:137 is read from b.invalid:8545 without encryption: anyone on the way can make up blocks";
    let https = "use https:// and wss:// in chains.plain.rpc and chains.plain.ws, or a tunnel to this machine";
    let expected = [
        (true, one("eip155:1"), add("chain")),
        (true, one("eip155:10"), add("chains.alone")),
        (false, "eip155:56 has 2 providers".to_owned(), String::new()),
        (true, plain.to_owned(), https.to_owned()),
        (false, one("eip155:31337"), add("chains.test")),
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_indexers_place_is_compared_with_the_chain() {
    let folder = folder();
    let wallet = casino(folder.path());
    let chain = chain(folder.path());
    let _signer = Started::new(folder.path(), &["signer", "run", "--json"]);
    let settings = settings(&chain, &wallet);
    let mine = |blocks: u32| {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "sim_mine", "params": [blocks] }).to_string();
        post(chain.line["url"].as_str().unwrap(), &request);
    };
    let place = || {
        let (code, checks) = doctor(folder.path(), &settings, &[]);
        assert_eq!(code, 0, "{checks:?}");
        checks.into_iter().find(|(name, ..)| name == "indexer").unwrap().2
    };
    mine(3);
    let mut serve = command(folder.path());
    serve.envs(API_ANYWHERE).args(["serve", "--json", "--set", "chain.poll_ms=10"]).args(&settings);
    let node = Running::spawn(serve, "node-1");
    node.until("follows");
    let deadline = Instant::now() + PATIENCE;
    while !place().starts_with("at block 3, 0 blocks behind, moved ") {
        assert!(Instant::now() < deadline, "{}", place());
    }
    node.signal("-TERM");
    assert_eq!(node.ended().0, 0);
    mine(2);
    assert!(place().starts_with("at block 3, 2 blocks behind, moved "), "{}", place());
}

#[test]
fn a_node_warns_when_it_starts_that_nothing_can_be_paid() {
    let folder = folder();
    casino(folder.path());
    let chain = chain(folder.path());
    let warning = |settings: &[String]| {
        let mut serve = command(folder.path());
        serve.envs(API_ANYWHERE).args(["serve", "--json"]).args(settings);
        let node = Running::spawn(serve, "node-1");
        let warning = node.until("signer_trouble")["message"].as_str().unwrap().to_owned();
        node.signal("-TERM");
        assert_eq!(node.ended().0, 0);
        warning
    };
    let settings = settings(&chain, OTHER_WALLET);
    let absent = warning(&settings);
    assert!(absent.contains("nothing can be paid: no signer answers") && absent.contains("signer run"), "{absent}");
    let _signer = Started::new(folder.path(), &["signer", "run", "--json"]);
    let other = warning(&settings);
    assert!(other.contains("does not have the key of chain.wallet") && other.contains("signer show"), "{other}");
}
