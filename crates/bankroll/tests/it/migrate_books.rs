//! Books that move from a folder to a Postgres database.

use bankroll_testkit::postgres::{self, needed_database};

use crate::program::{demo_folder, folder, hold, run, run_with};

const DATABASE: &str = "BANKROLL__BOOKS__DATABASE";

#[test]
fn the_demos_books_are_the_same_in_a_database() {
    let (folder, report) = demo_folder();
    let url = needed_database();
    let in_database = [(DATABASE, url.reveal())];
    let moved =
        run(folder.path(), &["migrate-books", "--from", "bankroll-demo", "--to", url.reveal(), "--json"]).json();
    assert_eq!((&moved["moved"], &moved["records"]), (&true.into(), &report["audit"]["rows"]));

    let list = ["accounts", "list", "--json"];
    let of_folder = run(folder.path(), &[&list[..], &["--dir", "bankroll-demo"]].concat()).json();
    assert_eq!(run_with(folder.path(), &in_database, &list).json(), of_folder);
    let checks = run_with(folder.path(), &in_database, &["doctor", "--full", "--json"]).json();
    assert!(checks.to_string().contains("books balance to the wei"), "{checks}");

    let again = run_with(folder.path(), &in_database, &["migrate-books", "--from", "bankroll-demo"]);
    again.fails(1, &["nothing was changed", "were moved to", &url.shown()]);
    // Two ledgers on one wallet would pay twice: the old one is read, and never written again.
    run(folder.path(), &["serve", "--dir", "bankroll-demo"]).fails(1, &["were moved to", "set books.database"]);
    let audited = run(folder.path(), &["audit", "--dir", "bankroll-demo"]);
    assert!(audited.code == 0 && audited.stderr.contains("note: these books were moved to"), "{}", audited.stderr);
    let audited = run(folder.path(), &["audit", "--json", "--dir", "bankroll-demo"]).json();
    assert_eq!(audited["moved"]["to"], url.shown());
    let doctor = run(folder.path(), &["doctor", "--dir", "bankroll-demo"]);
    assert!(doctor.code == 1 && doctor.stdout.contains("✗ moved"), "{}", doctor.stdout);

    let undo = ["migrate-books", "--undo", "--from", "bankroll-demo"];
    run_with(folder.path(), &in_database, &undo).fails(1, &["drop that database first", "nothing was changed"]);
    // Without the database that the mark names, nothing can be checked.
    run(folder.path(), &undo).fails(2, &["these books were moved to", "--database-is-lost"]);
    postgres::run(url.reveal(), "DROP SCHEMA books CASCADE");
    let undone = run_with(folder.path(), &in_database, &undo).ok();
    assert!(undone.contains("are the ledger again"), "{undone}");
    run(folder.path(), &undo).fails(1, &["never been moved"]);
    hold(&folder.path().join("bankroll-demo")).close();
}

#[test]
fn what_cannot_be_moved_is_reported_without_a_password() {
    let folder = folder();
    run(folder.path(), &["migrate-books", "--from", "."]).fails(2, &["give a destination"]);
    let args = ["migrate-books", "--from", ".", "--to", "postgres://bank:s3cret@127.0.0.1:1/books"];
    run(folder.path(), &args).fails(3, &["there is no ledger in ."]);
    run(folder.path(), &["init"]).ok();
    let refused = run(folder.path(), &args);
    assert!(refused.code == 1 && !refused.stderr.contains("s3cret"), "{}", refused.stderr);
}

#[test]
fn a_password_is_not_shown_with_the_configuration() {
    let folder = folder();
    let env = [(DATABASE, "postgres://bank:s3cret@db/books")];
    for args in [&["config", "show"][..], &["config", "show", "--json"], &["config", "show", "--origin"]] {
        let shown = run_with(folder.path(), &env, args).ok();
        assert!(shown.contains("bank:***@db") && !shown.contains("s3cret"), "{shown}");
    }
    run_with(folder.path(), &[(DATABASE, "mysql://db")], &["config", "check"]).fails(2, &["books.database: write it"]);
    let unknown = [(DATABASE, "postgres://bank:s3cret@db/books?sslkey=s3cret")];
    let message = ["has a parameter `sslkey` that is not known"];
    run_with(folder.path(), &unknown, &["config", "check"]).fails(2, &message);
}

/// The check needs no server, and there is none.
#[test]
fn the_doctor_says_who_could_listen_on_the_way_to_the_server() {
    let folder = folder();
    let found = |parameters: &str| {
        let url = format!("postgres://bank@db.invalid/books?{parameters}");
        let run = run_with(folder.path(), &[(DATABASE, &url)], &["doctor", "--json"]);
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let check = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == "connection").unwrap();
        (check["ok"].as_bool().unwrap(), check["found"].as_str().unwrap().split(':').next().unwrap().to_owned())
    };
    assert_eq!(found(""), (true, "TLS, and the server's certificate is verified".into()));
    assert_eq!(found("sslmode=require"), (false, "TLS without verification".into()));
    assert_eq!(found("sslmode=prefer"), (false, "TLS only if the server offers it".into()));
    assert_eq!(found("sslmode=disable"), (false, "plain text".into()));
}
