//! `bankroll serve` re-reads its books: it says so, `doctor` shows it, and damage ends it.

use std::{fs, path::Path};

use bankroll_ledger::{Asset, Time, Unit};
use bankroll_roles::ScrubRecord;
use bankroll_store::{Clock, Ledger, LedgerOptions};
use rusqlite::Connection;
use serde_json::Value;

use crate::{
    program::{API_ANYWHERE, command, demo_folder, folder, hold, run, run_with},
    running::Running,
};

/// Without a pause in a pass, and this long between two.
fn serve(folder: &Path, pause_s: u64) -> Running {
    let mut serve = command(folder);
    serve.env("BANKROLL__BOOKS__SCRUB_PERCENT", "100").env("BANKROLL__BOOKS__SCRUB_PAUSE_S", pause_s.to_string());
    serve.envs(API_ANYWHERE).args(["serve", "--json", "--dir", "bankroll-demo"]);
    Running::spawn(serve, "node-1")
}

/// The check of `doctor` about it.
fn check(folder: &Path, dir: &str) -> (i32, Value) {
    let run = run(folder, &["doctor", "--json", "--dir", dir]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    (run.code, checks.iter().find(|check| check["name"] == "scrub").unwrap().clone())
}

#[test]
fn a_pass_over_sound_books_is_logged_and_shown_by_doctor_and_a_pause_does_not_delay_the_end() {
    let (folder, _) = demo_folder();
    let node = serve(folder.path(), 86_400);
    let line = node.until("scrubbed");
    let records = line["records"].as_u64().unwrap();
    assert!(records > 0, "{line}");
    // The file is written after the line; then it pauses for a day.
    let file = folder.path().join("bankroll-demo/scrub.json");
    let deadline = std::time::Instant::now() + crate::running::PATIENCE;
    while !file.exists() {
        assert!(std::time::Instant::now() < deadline, "no file");
        std::thread::yield_now();
    }
    node.signal("-TERM");
    assert_eq!(node.ended().0, 0);
    let last = ScrubRecord::read(&file).unwrap().unwrap();
    assert_eq!((last.records, last.unsound, last.repaired), (records, None, Vec::<String>::new()));
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions()) & 0o777, 0o600);
    let (code, shown) = check(folder.path(), "bankroll-demo");
    assert_eq!((code, &shown["ok"]), (0, &true.into()), "{shown}");
    assert!(shown["found"].as_str().unwrap().starts_with("the last complete pass ended 0 minutes ago"), "{shown}");
}

#[test]
fn a_balance_that_is_damaged_while_a_node_runs_ends_it_with_code_4() {
    let (folder, _) = demo_folder();
    let node = serve(folder.path(), 1);
    node.until("scrubbed");
    let books = Connection::open(folder.path().join("bankroll-demo/books.db")).unwrap();
    // The account with the largest number and money: no request has named it since the node runs.
    let sql = "SELECT id, balance FROM balances WHERE balance > x'00000000000000000000000000000fff' AND held < x'01'
               ORDER BY id DESC LIMIT 1";
    let (id, before): (i64, Vec<u8>) = books.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let damage = "UPDATE balances SET balance = x'000000000000000000000000000000ff' WHERE id = ?1";
    assert_eq!(books.execute(damage, [id]).unwrap(), 1);
    drop(books);
    let line = node.until("unsound");
    assert!(line["what"].as_str().unwrap().contains("balances"), "{line}");
    let (code, stderr) = node.ended();
    assert_eq!(code, 4, "{stderr}");
    assert!(stderr.contains("the books are not sound") && stderr.contains("balances"), "{stderr}");
    let (code, shown) = check(folder.path(), "bankroll-demo");
    assert_eq!((code, &shown["ok"]), (4, &false.into()), "{shown}");

    // Started again, by a supervisor for example, it decides nothing by them either.
    let again = serve(folder.path(), 86_400);
    again.until_all(["verifying", "unsound"]);
    assert!(!again.has_said("took"));
    assert_eq!(again.ended().0, 4);
    let books = Connection::open(folder.path().join("bankroll-demo/books.db")).unwrap();
    assert_eq!(books.execute("UPDATE balances SET balance = ?1 WHERE id = ?2", (before, id)).unwrap(), 1);
    drop(books);
    // While the books were unsound no alert could be written into them: the next node writes it.
    let restored = serve(folder.path(), 86_400);
    let [_, opened] = restored.until_all(["took", "alert_opened"]);
    assert_eq!((&opened["kind"], &opened["severity"]), (&"books_unsound".into(), &"critical".into()), "{opened}");
    let id = opened["alert"].as_str().unwrap();
    let shown = run(folder.path(), &["alerts", "show", id, "--json", "--dir", "bankroll-demo"]).json();
    assert!(shown["summary"].as_str().unwrap().contains("the books were not sound"), "{shown}");
    assert!(shown["details"]["found"].as_str().unwrap().contains("balances"), "{shown}");
    restored.signal("-TERM");
    assert_eq!(restored.ended().0, 0);
    let (code, shown) = check(folder.path(), "bankroll-demo");
    assert_eq!((code, &shown["ok"]), (1, &true.into()), "the books are sound, and a person must look");
    // What a person signs names the chain of the demo.
    let chain = [("BANKROLL__CHAIN__ID", "31337")];
    run_with(folder.path(), &chain, &["alerts", "close", id, "--dir", "bankroll-demo"]).ok();
    assert_eq!(check(folder.path(), "bankroll-demo").0, 0);

    // The file still has the finding, and a person has closed the alert: it does not open again.
    let again = serve(folder.path(), 1);
    again.until_all(["took", "scrubbed"]);
    again.until("scrubbed");
    again.signal("-TERM");
    assert_eq!(again.ended().0, 0);
    let open = run(folder.path(), &["alerts", "list", "--kind", "books_unsound", "--json", "--dir", "bankroll-demo"]);
    assert_eq!(open.json()["alerts"], serde_json::json!([]));
}

#[test]
fn a_damaged_key_index_is_rebuilt_while_the_node_goes_on() {
    let (folder, _) = demo_folder();
    let dir = folder.path().join("bankroll-demo");
    let records = || {
        let books = Connection::open(dir.join("books.db")).unwrap();
        books.query_row("SELECT count(*) FROM journal", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    // On a busy machine one demo may have too few keys for a run.
    while records() < 10_000 {
        run(folder.path(), &["demo", "--exit", "--json", "--players", "40", "--seconds", "1"]).ok();
    }
    // So that keys are written out as runs.
    let toml = "[books]\nkeys_in_memory_max = 1024\n";
    fs::write(dir.join("bankroll.toml"), toml).unwrap();
    let node = serve(folder.path(), 1);
    node.until("scrubbed");
    let books = Connection::open(dir.join("books.db")).unwrap();
    let chunks: i64 = books.query_row("SELECT count(*) FROM key_chunks", [], |row| row.get(0)).unwrap();
    assert!(chunks > 0, "the demos were too short for a run");
    books.execute("UPDATE key_chunks SET data = zeroblob(length(data))", []).unwrap();
    drop(books);
    let line = node.until("repaired");
    assert!(line["message"].as_str().unwrap().starts_with("the key index was damaged, and is rebuilt"), "{line}");
    node.until("scrubbed");
    node.signal("-TERM");
    assert_eq!(node.ended().0, 0);
    hold(&dir).close();
    run(folder.path(), &["audit", "--full", "--dir", "bankroll-demo"]).ok();
}

#[test]
fn books_of_more_than_a_week_that_were_not_re_read_for_a_week_are_red() {
    let folder = folder();
    let casino = folder.path().join("casino");
    let (clock, _) = Clock::manual(Time(1_000_000));
    let migrations = bankroll_roles::flows::migrations();
    let ledger = Ledger::create(LedgerOptions { clock, migrations, ..LedgerOptions::new(&casino) }).unwrap();
    let ether =
        Asset { chain: "eip155:1".parse().unwrap(), unit: Unit::Native, decimals: 18, symbol: "ETH".to_owned() };
    ledger.list_asset(ether).unwrap();
    ledger.close();
    let (code, shown) = check(folder.path(), "casino");
    assert_eq!(code, 1, "{shown}");
    assert!(shown["found"].as_str().unwrap().contains("never re-read"), "{shown}");
    assert!(shown["fix"].as_str().unwrap().contains("bankroll serve"), "{shown}");

    let now = Clock::machine().now().0;
    let day = 86_400 * 1_000_000;
    for (days, is_green) in [(6, true), (8, false)] {
        let record = ScrubRecord { ended: now - days * day, records: 1, ..ScrubRecord::default() };
        record.write(&casino.join("scrub.json")).unwrap();
        let (_, shown) = check(folder.path(), "casino");
        assert_eq!(shown["ok"], is_green, "{shown}");
        assert!(shown["found"].as_str().unwrap().contains(&format!("{days} days ago")), "{shown}");
    }
    fs::write(casino.join("scrub.json"), "half a fi").unwrap();
    assert!(check(folder.path(), "casino").1["found"].as_str().unwrap().contains("cannot be read"));
}

/// Every commit into it would succeed, and be lost with the process.
#[test]
fn a_file_of_the_books_that_is_moved_away_under_a_node_ends_it_with_code_4() {
    for file in ["books.db", "books.db-wal"] {
        let (folder, _) = demo_folder();
        let dir = folder.path().join("bankroll-demo");
        let node = serve(folder.path(), 86_400);
        node.until("took");
        fs::rename(dir.join(file), dir.join("away")).unwrap();
        let (code, stderr) = node.ended();
        assert_eq!(code, 4, "{stderr}");
        assert!(stderr.contains(file) && stderr.contains("removed or replaced"), "{stderr}");
    }
}

/// A file that cannot be read may have had a finding in it.
#[test]
fn books_whose_last_pass_is_not_known_are_verified_before_they_are_opened() {
    let (folder, _) = demo_folder();
    fs::write(folder.path().join("bankroll-demo/scrub.json"), "half a fi").unwrap();
    let node = serve(folder.path(), 86_400);
    let line = node.until("verifying");
    assert!(line["message"].as_str().unwrap().contains("scrub.json"), "{line}");
    node.until("took");
    node.signal("-TERM");
    assert_eq!(node.ended().0, 0);
}
