//! `bankroll serve`: which node holds the books, which stands by, and what happens when one of them ends, hangs or is killed.

use std::{fs, time::Instant};

use bankroll_store::{LeaseWatch, Ledger, LedgerOptions, Reader, StoreError};
use bankroll_testkit::postgres::needed_database;

use crate::{
    program::{API_ANYWHERE, command, folder, run, run_with},
    running::{PATIENCE, Running, books_database, deployment},
};

const BOOKS: [(&str, &str); 3] = [("books-1", "books"), ("books-2", "books"), ("books-3", "books,api")];

#[test]
fn one_node_holds_the_books_and_the_next_takes_over_at_once_when_it_is_stopped() {
    let (folder, url) = (deployment(&BOOKS), books_database());
    let first = Running::start(folder.path(), &url, "books-1", "books");
    let took = first.until("took");
    let second = Running::start(folder.path(), &url, "books-2", "books");
    let waits = second.until("waiting");
    assert!(waits["message"].as_str().unwrap().contains("stands by: the ledger is held by process"), "{waits}");
    let holder = LeaseWatch::new(url).holder().unwrap().unwrap();
    assert!(holder.address.starts_with("127.0.0.1:"), "{holder:?}");

    first.signal("-TERM");
    let stopped = Instant::now();
    first.until("gave_up");
    first.until("stopped");
    let after = second.until("took");
    // The lease was released, so no node waited for it to expire; a machine under load is slow all the same.
    println!("took over {:?} after the signal", stopped.elapsed());
    assert!(after["epoch"].as_u64() > took["epoch"].as_u64(), "{took} {after}");
    assert_eq!(first.ended(), (0, String::new()));
}

#[test]
fn of_two_that_stand_by_one_takes_over_from_a_node_that_was_killed() {
    let (folder, url) = (deployment(&BOOKS), books_database());
    let first = Running::start(folder.path(), &url, "books-1", "books");
    first.until("took");
    let others = [("books-2", "books"), ("books-3", "books")].map(|(name, roles)| {
        let other = Running::start(folder.path(), &url, name, roles);
        other.until("waiting");
        other
    });
    first.signal("-KILL");
    let deadline = Instant::now() + PATIENCE;
    let holder = loop {
        assert!(Instant::now() < deadline, "no node took over");
        if let Some(holder) = others.iter().position(|other| other.has_said("took")) {
            break holder;
        }
        std::thread::yield_now();
    };
    let [second, third] = others;
    let (holder, waiting) = if holder == 0 { (second, third) } else { (third, second) };
    assert!(!waiting.has_said("took"), "both nodes hold the books");
    holder.signal("-INT");
    waiting.until("took");
}

#[test]
fn a_node_that_hung_for_longer_than_its_lease_goes_back_to_waiting() {
    let (folder, url) = (deployment(&BOOKS), books_database());
    let first = Running::start(folder.path(), &url, "books-1", "books");
    first.until("took");
    let second = Running::start(folder.path(), &url, "books-2", "books");
    second.until("waiting");
    first.signal("-STOP");
    second.until("took");
    first.signal("-CONT");
    let lost = first.until("lost");
    assert_eq!(lost["why"], "another writer has taken over the books", "{lost}");
    first.until("waiting");
    // And it is a good standby from then on.
    second.signal("-TERM");
    first.until("took");
}

#[test]
fn books_that_another_program_holds_are_waited_for() {
    let (folder, url) = (deployment(&BOOKS), books_database());
    let migrations = bankroll_roles::flows::migrations();
    let ledger = Ledger::open(LedgerOptions { migrations, ..LedgerOptions::new(url.clone()) }).unwrap();
    let node = Running::start(folder.path(), &url, "books-1", "books");
    node.until("waiting");
    ledger.close();
    node.until("took");
}

#[test]
fn a_node_without_books_says_whether_they_can_be_asked() {
    let (folder, url) = (deployment(&[("books-1", "books"), ("api-1", "api,notify")]), books_database());
    let api = Running::start(folder.path(), &url, "api-1", "api");
    // On a slow machine it may first report that it is still looking for them.
    while !api.until("no_books")["message"].as_str().unwrap().contains("no node holds the books") {}
    let books = Running::start(folder.path(), &url, "books-1", "books");
    api.until("books_found");
    books.signal("-KILL");
    api.until("no_books");
    api.signal("-TERM");
    assert_eq!(api.ended(), (0, String::new()));
}

#[test]
fn a_server_that_is_away_is_waited_for() {
    let folder = deployment(&BOOKS);
    let no_server = bankroll_store::DatabaseUrl::new("postgres://bank:s3cret@127.0.0.1:1/books");
    let mut node = Running::start(folder.path(), &no_server, "books-1", "books");
    let unreachable = node.until("unreachable");
    assert!(!unreachable.to_string().contains("s3cret"), "{unreachable}");
    assert!(node.is_running());
    node.signal("-TERM");
    assert_eq!(node.ended(), (0, String::new()));
}

#[test]
fn books_in_a_folder_are_one_process_with_all_roles() {
    let folder = folder();
    run(folder.path(), &["init"]).ok();
    let mut serve = command(folder.path());
    serve.envs(API_ANYWHERE).args(["serve", "--json"]);
    let node = Running::spawn(serve, "node-1");
    node.until("took");
    run(folder.path(), &["serve"]).fails(1, &["in use by another process"]);
    node.signal("-TERM");
    node.until("gave_up");
    assert_eq!(node.ended(), (0, String::new()));
    let refused = run(folder.path(), &["serve", "--roles", "books"]);
    refused.fails(2, &["--set node.roles: \"books\": books in a folder are one process with all roles"]);
}

#[test]
fn a_database_without_books_is_refused_and_stays_empty() {
    let (folder, url) = (deployment(&BOOKS), needed_database());
    let node = Running::start(folder.path(), &url, "books-1", "books");
    let (code, message) = node.ended();
    assert!(
        code == 3 && message.contains("there are no books in this database") && message.contains("bankroll init"),
        "{message}"
    );
    assert!(matches!(Reader::open(url), Err(StoreError::NoBooks)));
}

/// A mistyped folder, or a disk that is not mounted, would be a second ledger on the real wallet.
#[test]
fn books_are_never_created_by_serving() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    run(folder.path(), &["serve", "--dir", "typo"])
        .fails(3, &["there is no ledger in typo", "`bankroll init --dir typo`"]);
    assert!(!at("typo").exists(), "nothing was created");

    fs::create_dir(at("unmounted")).unwrap();
    run(folder.path(), &["serve", "--dir", "unmounted"]).fails(3, &["no ledger in unmounted"]);
    assert_eq!(fs::read_dir(at("unmounted")).unwrap().count(), 0, "nothing was created");

    fs::create_dir(at("cut")).unwrap();
    fs::write(at("cut/books.db"), "").unwrap();
    let cut = ["cut/books.db has no books in it", "`bankroll init --dir cut`"];
    run(folder.path(), &["serve", "--dir", "cut"]).fails(3, &cut);
    run(folder.path(), &["audit", "--dir", "cut"]).fails(3, &cut);
    assert_eq!((fs::read_dir(at("cut")).unwrap().count(), at("cut/books.db").metadata().unwrap().len()), (1, 0));
}

#[test]
fn lines_for_people_are_sentences() {
    let folder = folder();
    run(folder.path(), &["init"]).ok();
    let mut serve = command(folder.path());
    serve.envs(API_ANYWHERE).args(["serve"]).stdout(std::process::Stdio::piped());
    let mut child = serve.spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    // The first lines say where the node answers.
    let line = lines.find_map(|line| line.ok().filter(|line| line.contains("acquired"))).unwrap();
    assert!(line.ends_with("Z node-1 acquired the ledger: 1 record"), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_a_node_cannot_start_with_is_reported() {
    let folder = deployment(&BOOKS);
    let url = books_database();
    let serve = |name: &str, roles: &str, more: &[(&str, &str)]| {
        let env = [("BANKROLL__BOOKS__DATABASE", url.reveal()), ("BANKROLL__NODE__NAME", name)];
        run_with(folder.path(), &[&env[..], more].concat(), &["serve", "--roles", roles])
    };
    serve("api-1", "api", &[]).fails(1, &["api-1.pem", "`bankroll nodes add`"]);
    serve("books-1", "books,payouts", &[]).fails(2, &["books-1 is for the roles books, not for books,payouts"]);
    serve("books-1", "boks", &[]).fails(2, &["there is no role \"boks\""]);
    serve("Books", "books", &[]).fails(2, &["node.name", "is not a node name"]);
    let listen = [("BANKROLL__NODE__LISTEN", "nowhere")];
    serve("books-1", "books", &listen).fails(2, &["node.listen: \"nowhere\" is not of the form host:port"]);
    let listen = [("BANKROLL__NODE__LISTEN", "0.0.0.0:7450")];
    serve("books-1", "books", &listen).fails(2, &["node.address: set the address at which other nodes reach this one"]);
    // An address of another machine.
    let listen = [("BANKROLL__NODE__LISTEN", "192.0.2.1:7450")];
    serve("books-1", "books", &listen).fails(1, &["cannot listen on 192.0.2.1:7450"]);
    let lease = [("BANKROLL__BOOKS__LEASE_MS", "10")];
    serve("books-1", "books", &lease).fails(2, &["books.lease_ms: 10 is not a whole number from 500 to 300000"]);
    let old = bankroll_ledger::Time(1_600_000_000_000_000);
    let authority = bankroll_nodes::Authority::open(&folder.path().join("nodes"), old).unwrap();
    let roles = "books".parse().unwrap();
    authority.add(&folder.path().join("nodes"), &"late".parse().unwrap(), roles, 1, old).unwrap();
    serve("late", "books", &[]).fails(1, &["late.pem cannot be used", "xpired"]);
}
