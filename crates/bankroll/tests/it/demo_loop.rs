//! The demo's loop, from the chain to the books and back: killed, with its signer killed, and with a wei missing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::OpenOptions,
    io::{BufRead, BufReader, Lines, Write},
    path::Path,
    process::{Child, ChildStderr, Command, Stdio},
    time::Duration,
};

use bankroll_ledger::{AccountId, AccountKind, Amount, Record, Seq, Time, Verdict};
use bankroll_orders::{Address, ChainId, Gas, IntentId, Meaning, Order, OrderId, Price, Slot};
use bankroll_signer_client::{SignOutcome, SignerClient};
use bankroll_store::{AccountFilter, Reader};
use serde_json::{Value, json};

use crate::program::{Run, command, folder, run, run_with};

/// Reads the demo's output up to a line that matches.
fn until(lines: &mut Lines<BufReader<ChildStderr>>, wanted: impl Fn(&str) -> bool) -> String {
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
fn start(folder: &Path) -> (Child, Lines<BufReader<ChildStderr>>) {
    let mut demo = command(folder);
    demo.args(["demo", "--exit", "--players", "40", "--seed", "7", "--ticks", "100000"]);
    let mut child = demo.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    (child, lines)
}

fn pays(line: &str) -> bool {
    line.contains("in flight") && !line.ends_with(" 0 in flight")
}

/// The next game in the same folder, so short that no player leaves.
fn next(folder: &Path) -> Value {
    run(folder, &["demo", "--exit", "--json", "--players", "4", "--ticks", "2"]).json()
}

#[test]
fn the_same_game_has_the_same_payments_to_the_wei() {
    let folder = folder();
    let args = ["demo", "--exit", "--json", "--players", "40", "--seed", "7", "--ticks", "50"];
    let report = run(folder.path(), &args).json();
    assert_eq!((&report["deposits_credited"], &report["withdrawals_paid"]), (&51.into(), &5.into()));
    assert_eq!(report["onchain_paid_wei"], "49379222335783051");
    let chain = &report["chain"];
    assert_eq!((&chain["deposits"], &chain["deposited"]), (&52.into(), &"1519917778585965872".into()));
    // Five transfers at 21,000 gas and two gwei each, which the house has paid.
    assert_eq!(chain["fees"], "210000000000000");
    let reconciliation = &report["reconciliation"];
    assert_eq!((&reconciliation["ok"], &reconciliation["difference"]), (&true.into(), &"0".into()), "{reconciliation}");
    assert_eq!(reconciliation["chain"], "1470328556250182821");
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

/// What the journal says about the world of the last game.
#[derive(Default)]
struct WorldInJournal {
    /// What each player has put into it since they last left it.
    stakes: BTreeMap<AccountId, u128>,
    balance: u128,
    /// The moves by which the next demo emptied it, by the first word of their keys.
    returned: BTreeMap<AccountId, u128>,
    swept: u128,
}

fn world_in_journal(folder: &Path) -> WorldInJournal {
    let reader = Reader::open(folder.join("bankroll-demo")).unwrap();
    let all = reader.accounts(&AccountFilter::default(), usize::MAX).unwrap();
    let of = |kind: AccountKind| all.iter().filter(move |account| account.name.kind == kind);
    let world = of(AccountKind::World).next().unwrap();
    let players: BTreeSet<AccountId> = of(AccountKind::Funds).map(|account| account.id).collect();
    let mut found = WorldInJournal { balance: world.balance.units(), ..WorldInJournal::default() };
    let mut run = 0_u64;
    for entry in reader.journal_after(Seq(0), usize::MAX).unwrap() {
        let Record::Decided { request, verdict: Verdict::Applied(effects) } = entry.record else { continue };
        let word = request.key.text.split(['-', '/']).next().unwrap().to_owned();
        for posting in effects.postings {
            let amount = posting.amount.units();
            if posting.to == world.id && players.contains(&posting.from) {
                // A new run has players of its own; what the last one left was settled before.
                let this: u64 = word.parse().unwrap();
                if this != run {
                    (run, found.stakes) = (this, BTreeMap::new());
                }
                *found.stakes.entry(posting.from).or_default() += amount;
            } else if posting.from == world.id && word == "sweep" {
                found.swept += amount;
            } else if posting.from == world.id && word == "return" {
                *found.returned.entry(posting.to).or_default() += amount;
            }
            if posting.from == world.id {
                found.stakes.remove(&posting.to);
            }
        }
    }
    found
}

#[test]
fn stakes_in_the_world_of_a_killed_demo_go_back_to_their_players() {
    let moments: [fn(&str) -> bool; 3] = [|line| line.contains(" playing "), pays, |line| line.starts_with("  4 s")];
    for moment in moments {
        let folder = folder();
        let (mut child, mut lines) = start(folder.path());
        until(&mut lines, moment);
        child.kill().unwrap();
        child.wait().unwrap();
        let killed = world_in_journal(folder.path());
        let staked: u128 = killed.stakes.values().sum();
        assert!(staked > 0 && killed.balance > 0, "players were in the world");

        let report = next(folder.path());
        assert_eq!((&report["audit"]["ok"], &report["reconciliation"]["difference"]), (&true.into(), &"0".into()));
        let settled = world_in_journal(folder.path());
        let returned: u128 = settled.returned.values().sum();
        // All of it is somewhere, and the game's budget gets nothing before every player has their stakes.
        assert_eq!(returned + settled.swept, killed.balance);
        assert_eq!(returned, staked.min(killed.balance));
        let share = |(player, stake): (&AccountId, &u128)| {
            let given = settled.returned.get(player).copied().unwrap_or(0);
            // In proportion: rounded down, and one wei more for some players.
            let rounded = stake * returned / staked;
            given <= *stake && (rounded..=rounded + 1).contains(&given)
        };
        assert!(killed.stakes.iter().all(share), "{:?} of {:?}", settled.returned, killed.stakes);
        assert!(settled.returned.keys().all(|player| killed.stakes.contains_key(player)));
        let leftovers = &report["leftovers"];
        let figures = ["swept", "stakes", "returned", "to_ecosystem"].map(|name| leftovers[name].as_str().unwrap());
        let expected = [killed.balance, staked, returned, settled.swept].map(|amount| amount.to_string());
        assert_eq!(figures, expected, "{leftovers}");
        assert_eq!(leftovers["players"], killed.stakes.len());
    }
}

#[test]
fn a_demo_after_a_killed_one_says_where_the_stakes_went_and_its_counts_agree() {
    let folder = folder();
    let (mut child, mut lines) = start(folder.path());
    until(&mut lines, pays);
    child.kill().unwrap();
    child.wait().unwrap();
    let next = run(folder.path(), &["demo", "--exit", "--players", "4", "--ticks", "2"]);
    assert_eq!(next.code, 0, "{}{}", next.stdout, next.stderr);
    for part in ["the last demo was interrupted; this one finishes what it left:", " in its world"] {
        assert!(next.stderr.contains(part), "{part:?} is not in: {}", next.stderr);
    }
    assert!(next.stdout.starts_with("4 players, "), "{}", next.stdout);
    let left = next.stdout.lines().find(|line| line.starts_with("  left "));
    assert_eq!(left, Some("  left      0 exits, 0 payouts on chain"), "{}", next.stdout);
    assert!(next.stdout.contains("\n  earlier   of the interrupted demo: "), "{}", next.stdout);
}

/// Runs a demo in which the disk is full for some files from the given call on.
fn on_full_disk(folder: &Path, call: &str, files: &[&str], when: &str) -> Run {
    let found = Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(found.is_ok_and(|status| status.success()), "strace is missing: install it with `apt-get install strace`");
    let mut strace = Command::new("strace");
    strace.args(["--quiet=all", "--seccomp-bpf", "-f", "-o", "/dev/null", "-e"]).arg(format!("trace={call}"));
    strace.arg("-e").arg(format!("inject={call}:error=ENOSPC:when={when}"));
    for file in files {
        strace.arg("-P").arg(folder.join("bankroll-demo").join(file));
    }
    let program = command(folder);
    strace.arg(program.get_program()).args(["demo", "--exit", "--players", "5", "--seconds", "1"]);
    let output = strace.current_dir(folder).output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_disk_that_is_full_before_the_first_payment_ends_the_demo_with_its_reason() {
    let reason = "error: the disk is full: nothing was lost; free some space and start the demo again";
    let folder = folder();
    // The chain cannot store its second block: nobody can pay.
    on_full_disk(folder.path(), "write", &["chain.jsonl"], "3+").fails(1, &[reason, "cannot write to"]);
    // The books cannot store anything, and there is no space for another file either.
    on_full_disk(folder.path(), "pwrite64,write", &["books.db-wal", ".space-check"], "1+").fails(1, &[reason]);
    // With space again, the demo continues.
    assert_eq!(next(folder.path())["reconciliation"]["ok"], true);
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

#[test]
fn a_wei_that_is_missing_on_the_chain_is_seen() {
    let folder = folder();
    assert_eq!(next(folder.path())["withdrawals_paid"], 0, "the wallet's first transaction is still to come");
    let block = json!({ "time": 1, "transactions": [format!("0x{}", hex::encode(stolen(folder.path())))] });
    let mut chain = OpenOptions::new().append(true).open(folder.path().join("bankroll-demo/chain.jsonl")).unwrap();
    writeln!(chain, "{block}").unwrap();

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
    std::fs::write(&chain, format!("{whole}{{\"time\":17")).unwrap();
    assert_eq!(next(folder.path())["reconciliation"]["ok"], true);

    std::fs::remove_file(&chain).unwrap();
    let args = ["demo", "--exit", "--ticks", "2"];
    run_with(folder.path(), &[], &args).fails(1, &["of another chain than the one in the demo's folder", "--fresh"]);
    std::fs::write(&chain, format!("{}\n{{\"time\":1,\"transactions\":[\"0x02\"]}}\n", whole.lines().next().unwrap()))
        .unwrap();
    run(folder.path(), &args).fails(1, &["chain.jsonl cannot be replayed", "line 2"]);
}
