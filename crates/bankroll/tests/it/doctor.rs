//! `bankroll doctor`: green when all is well; red with a fix when not.

use std::{
    fs,
    io::{Seek, SeekFrom, Write},
    path::Path,
};

use bankroll_roles::AuthKey;
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    people::act,
    program::{demo_folder, folder, hold, run, run_with},
};

/// The checks of a folder with books, and the exit code.
fn doctor(folder: &Path, more: &[&str]) -> (i32, Value) {
    let run = run(folder, &[&["doctor", "--json", "--dir", "bankroll-demo"], more].concat());
    (run.code, serde_json::from_str(&run.stdout).unwrap())
}

/// This check is the red one, and has a fix.
fn check_red(report: &Value, name: &str, found: &str) {
    assert_eq!(report["ok"], false);
    let reds: Vec<&Value> = report["checks"].as_array().unwrap().iter().filter(|check| check["ok"] == false).collect();
    assert_eq!(reds.len(), 1, "{report}");
    assert_eq!(reds[0]["name"], name, "{report}");
    assert!(reds[0]["found"].as_str().unwrap().contains(found), "{report}");
    assert!(!reds[0]["fix"].as_str().unwrap().is_empty(), "{report}");
}

/// The books of a demo after an edit of the file.
fn tampered(sql: &str) -> TempDir {
    let (folder, _) = demo_folder();
    let books = Connection::open(folder.path().join("bankroll-demo/books.db")).unwrap();
    books.execute_batch(sql).unwrap();
    folder
}

#[test]
fn sound_books_are_green() {
    let (folder, played) = demo_folder();
    let (code, report) = doctor(folder.path(), &["--full"]);
    assert_eq!((code, &report["ok"]), (0, &true.into()), "{report}");
    let names: Vec<&str> =
        report["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    let expected = [
        "configuration",
        "durability",
        "folder",
        "disk",
        "schema",
        "books",
        "newest head",
        "head key",
        "lock",
        "settings",
        "pages",
        "tail",
        "scrub",
        "audit log",
        "people",
        "people's keys",
        "alerts",
        "audit",
    ];
    assert_eq!(names, expected);
    let text = run(folder.path(), &["doctor", "--full", "--dir", "bankroll-demo"]).ok();
    assert!(text.contains("books balance to the wei") && !text.contains('✗'), "{text}");
    assert!(played["audit"]["ok"] == true);
}

#[test]
fn a_running_writer_is_named_and_needs_no_fix() {
    let (folder, _) = demo_folder();
    let ledger = hold(&folder.path().join("bankroll-demo"));
    let text = run(folder.path(), &["doctor", "--full", "--dir", "bankroll-demo"]).ok();
    assert!(text.contains(&format!("held by process {}", std::process::id())), "{text}");
    ledger.close();
}

#[test]
fn a_folder_without_books_gets_the_command_that_creates_them() {
    let folder = folder();
    let run = run(folder.path(), &["doctor"]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("✗ books") && run.stdout.contains("init --dir ."), "{}", run.stdout);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was created");
}

#[test]
fn a_configuration_that_cannot_be_used_is_red() {
    let (folder, _) = demo_folder();
    fs::write(folder.path().join("bankroll-demo/bankroll.toml"), "[books]\nfoldr = \".\"\n").unwrap();
    let (code, report) = doctor(folder.path(), &[]);
    assert_eq!(code, 1);
    check_red(&report, "configuration", "did you mean `books.folder`?");
}

#[test]
fn durability_that_loses_money_is_red() {
    let (folder, _) = demo_folder();
    let env = [("BANKROLL__BOOKS__DURABILITY", "may_lose_recent_commits")];
    let run = run_with(folder.path(), &env, &["doctor", "--json", "--dir", "bankroll-demo"]);
    assert_eq!(run.code, 1);
    check_red(&serde_json::from_str(&run.stdout).unwrap(), "durability", "BANKROLL__BOOKS__DURABILITY");
}

#[test]
fn a_file_in_another_journal_mode_is_red() {
    let folder = tampered("PRAGMA journal_mode = DELETE");
    let (code, report) = doctor(folder.path(), &[]);
    assert_eq!(code, 1);
    check_red(&report, "settings", "journal_mode is delete");
}

#[test]
fn books_of_a_newer_program_are_red() {
    let folder = tampered("INSERT INTO migrations (owner, number, hash, at) VALUES ('books', 99, x'00', 0)");
    let (code, report) = doctor(folder.path(), &[]);
    assert_eq!(code, 1);
    check_red(&report, "schema", "migration 99");
}

#[test]
fn a_file_that_is_no_database_is_red() {
    let folder = folder();
    fs::create_dir(folder.path().join("bankroll-demo")).unwrap();
    fs::write(folder.path().join("bankroll-demo/books.db"), "a letter to my bank, of some length. ".repeat(100))
        .unwrap();
    let (code, report) = doctor(folder.path(), &[]);
    assert_eq!(code, 4);
    check_red(&report, "books", "not a database");
}

/// As a failing disk leaves it, in a table that only the full audit reads.
/// Takes the check of the journal's end out of a report.
fn remove_tail(report: &mut serde_json::Value) -> serde_json::Value {
    let checks = report["checks"].as_array_mut().unwrap();
    let tail = checks.iter().position(|check| check["name"] == "tail").unwrap();
    checks.remove(tail)
}

#[test]
fn a_damaged_page_is_unsound() {
    let (folder, _) = demo_folder();
    let file = folder.path().join("bankroll-demo/books.db");
    let books = Connection::open(&file).unwrap();
    let sql = "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_master WHERE name = 'outbox'";
    let (page, size) = books.query_row(sql, [], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?))).unwrap();
    drop(books);
    let mut file = fs::OpenOptions::new().write(true).open(file).unwrap();
    file.seek(SeekFrom::Start(u64::from((page - 1) * size))).unwrap();
    file.write_all(&[0xff; 512]).unwrap();
    drop(file);
    let (code, mut report) = doctor(folder.path(), &[]);
    assert_eq!(code, 4, "{report}");
    // The announcements of the last records are on that page.
    assert_eq!(remove_tail(&mut report)["ok"], false);
    check_red(&report, "pages", "the database file is damaged");
    run(folder.path(), &["audit", "--dir", "bankroll-demo"]).fails(4, &["the database file is damaged"]);
}

#[test]
fn one_wei_too_much_is_found_by_the_quick_check_and_by_the_full_one() {
    let folder = tampered("UPDATE balances SET balance = x'00000000000000000000000000000001' WHERE id = 4");
    let (code, report) = doctor(folder.path(), &[]);
    assert_eq!(code, 4);
    check_red(&report, "tail", "table balances is damaged: row 4 is not what was written");
    let (code, mut report) = doctor(folder.path(), &["--full"]);
    assert_eq!(code, 4);
    assert_eq!(remove_tail(&mut report)["ok"], false);
    check_red(&report, "audit", "table balances is damaged: row 4 is not what was written");
}

#[test]
fn a_record_that_was_changed_is_found_by_the_quick_check() {
    let folder = tampered(
        "DROP TRIGGER journal_keeps_what_it_has;
         UPDATE journal SET record = x'01' WHERE seq = (SELECT max(seq) FROM journal)",
    );
    let (code, report) = doctor(folder.path(), &[]);
    assert_eq!(code, 4);
    check_red(&report, "tail", "table journal is damaged");
}

#[test]
fn a_demo_in_damaged_books_is_refused() {
    let folder = tampered("UPDATE balances SET balance = x'00000000000000000000000000000001' WHERE id = 4");
    run(folder.path(), &["demo", "--exit"]).fails(4, &["table balances is damaged"]);
}

/// The command that a red check names, without the program.
fn fix(folder: &Path, dir: &str) -> (i32, String) {
    let run = run(folder, &["doctor", "--json", "--dir", dir]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let reds: Vec<&Value> = report["checks"].as_array().unwrap().iter().filter(|check| check["ok"] == false).collect();
    assert_eq!(reds.len(), 1, "{report}");
    (run.code, reds[0]["fix"].as_str().unwrap().to_owned())
}

/// The files as a kill leaves them while books are made: only the lock, then a file under another name.
#[test]
fn an_interrupted_creation_needs_no_copy_but_the_same_command_again() {
    for left in [&["books.lock"][..], &["books.lock", "books.db.new"], &["books.db.new", "books.db.new-journal"]] {
        let folder = folder();
        fs::create_dir(folder.path().join("casino")).unwrap();
        for file in left {
            fs::write(folder.path().join("casino").join(file), if *file == "books.lock" { "" } else { "half" })
                .unwrap();
        }
        let (code, fix) = fix(folder.path(), "casino");
        assert!(code == 1 && fix.ends_with("init --dir casino"), "{left:?}: {fix}");
        run(folder.path(), &["init", "--dir", "casino"]).ok();
        run(folder.path(), &["doctor", "--dir", "casino"]).ok();
    }
}

/// A power cut may leave the name of a file without its contents. The advice is followed to the letter.
#[test]
fn an_empty_file_in_place_of_books_is_removed_and_created_again() {
    let folder = folder();
    let casino = folder.path().join("casino");
    fs::create_dir(&casino).unwrap();
    fs::write(casino.join("books.db"), "").unwrap();
    let (_, fix) = fix(folder.path(), "casino");
    assert!(fix.contains("remove it with its -wal and -journal and run") && fix.contains("init --dir casino"), "{fix}");
    fs::remove_file(casino.join("books.db")).unwrap();
    run(folder.path(), &["init", "--dir", "casino"]).ok();
}

/// The last step of a creation is a change of the file itself, with a rollback journal. A reader cannot undo it; the
/// writer does, without being asked.
#[test]
fn a_change_of_the_file_that_was_interrupted_is_undone_by_the_writer() {
    let folder = folder();
    run(folder.path(), &["init", "--dir", "made"]).ok();
    let (made, casino) = (folder.path().join("made"), folder.path().join("casino"));
    let books = Connection::open(made.join("books.db")).unwrap();
    books
        .execute_batch("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN; CREATE TABLE more (data)")
        .unwrap();
    for _ in 0..200 {
        books.execute("INSERT INTO more VALUES (zeroblob(2000))", []).unwrap();
    }
    fs::create_dir(&casino).unwrap();
    for file in ["books.db", "books.db-journal"] {
        fs::copy(made.join(file), casino.join(file)).unwrap();
    }
    let (code, fix) = fix(folder.path(), "casino");
    assert!(code == 1 && fix.contains("start the writer once") && fix.contains("serve --dir casino"), "{fix}");
    assert!(casino.join("books.db-journal").exists(), "nothing was changed");
    hold(&casino).close();
    run(folder.path(), &["doctor", "--dir", "casino", "--full"]).ok();
}

/// A check of a new deployment, by its name.
fn check_of(folder: &Path, name: &str) -> Value {
    let report = run(folder, &["doctor", "--json", "--dir", "studio"]).json();
    report["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).cloned().unwrap_or_default()
}

/// The first owner of a studio says that one person is enough.
fn set_quorum_of_one(folder: &Path) {
    let owner = AuthKey::read(&folder.join("studio/owner.key")).unwrap();
    let body = r#"{"content":{"kind":"set_quorum","quorum":1}}"#;
    act(&folder.join("studio"), &owner, ("POST", "/v1/proposals", body), "quorum");
}

#[test]
fn one_person_is_noticed_and_so_is_a_quorum_of_one() {
    let folder = folder();
    let init = run(folder.path(), &["init", "--dir", "studio"]).ok();
    assert!(init.contains("operators add NAME --role approver") && init.contains("operators quorum 1"), "{init}");
    let people = check_of(folder.path(), "people");
    let found = "1 person: 1 can propose, 1 can confirm; a proposal needs 2, and there never was a second";
    assert_eq!((&people["ok"], &people["found"]), (&true.into(), &found.into()));
    assert!(people["fix"].as_str().unwrap().contains("operators quorum 1"), "{people}");
    set_quorum_of_one(folder.path());
    let people = check_of(folder.path(), "people");
    let found = "1 person: 1 can propose, 1 can confirm; a proposal needs 1: one person is enough for every act";
    assert_eq!((&people["ok"], &people["found"]), (&true.into(), &found.into()));
    let log = check_of(folder.path(), "audit log");
    assert_eq!(log["found"], "2 entries: every hash and signature is good, and the journal has the same");

    let keys = check_of(folder.path(), "people's keys");
    assert!(keys["found"].as_str().unwrap().ends_with("who takes it over signs as owner"), "{keys}");
    fs::rename(folder.path().join("studio/owner.key"), folder.path().join("elsewhere.key")).unwrap();
    assert_eq!(check_of(folder.path(), "people's keys"), Value::Null);
}

/// Two owners, of whom one suspends the other: no proposal can be confirmed any more.
#[test]
fn a_quorum_that_cannot_be_met_any_more_is_red() {
    let folder = folder();
    run(folder.path(), &["init", "--dir", "studio"]).ok();
    let (studio, ann) = (folder.path().join("studio"), AuthKey::create(&folder.path().join("ann.key")).unwrap());
    let owner = AuthKey::read(&studio.join("owner.key")).unwrap();
    let ann = ann.address();
    let add = format!(r#"{{"content":{{"kind":"add_person","person":"ann","roles":["owner"],"address":"{ann}"}}}}"#);
    act(&studio, &owner, ("POST", "/v1/proposals", &add), "ann");
    assert_eq!(check_of(folder.path(), "people")["fix"], Value::Null);
    act(&studio, &owner, ("POST", "/v1/operators/ann/suspend", "{}"), "suspend");
    let people = check_of(folder.path(), "people");
    assert_eq!(people["ok"], false, "{people}");
    assert!(people["found"].as_str().unwrap().ends_with("no proposal can be confirmed"), "{people}");
}

#[test]
fn an_edited_log_of_people_is_unsound_and_the_entry_is_named() {
    let folder = folder();
    run(folder.path(), &["init", "--dir", "studio"]).ok();
    set_quorum_of_one(folder.path());
    let books = Connection::open(folder.path().join("studio/books.db")).unwrap();
    books
        .execute("UPDATE audit_log SET entry = replace(entry, 'set_quorum', 'set_roles') WHERE number = 2", [])
        .unwrap();
    drop(books);
    let log = check_of(folder.path(), "audit log");
    assert_eq!(
        (&log["ok"], &log["found"]),
        (&false.into(), &"entry 2 of the audit log is not what was written".into())
    );
    let audited = run(folder.path(), &["audit", "--dir", "studio"]);
    assert_eq!(audited.code, 4);
    assert!(audited.stderr.contains("audit_log"), "{}", audited.stderr);
}
