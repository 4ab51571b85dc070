//! The database login of the role `notify`: enough to deliver, and nothing else.

use bankroll_ledger::Time;
use bankroll_notify::{DeliveryWorker, Jitter, NOTIFY, NOTIFY_GRANTS};
use bankroll_store::{BOOKS_GRANTS, DatabaseUrl, DatabaseUser, INBOX_GRANTS, Location, write_users};
use bankroll_testkit::postgres::Session;

use crate::world::{World, ok};

/// The login of a role, with the rights that are declared for it.
fn login(owner: &DatabaseUrl, role: &'static str) -> DatabaseUrl {
    let (server, database) = owner.reveal().rsplit_once('/').unwrap();
    let user = DatabaseUser { role, name: format!("{database}_{role}"), password: "let-me-in".into() };
    let name = user.name.clone();
    let grants = [BOOKS_GRANTS, INBOX_GRANTS, NOTIFY_GRANTS].concat();
    write_users(owner, &[NOTIFY], &grants, &[user], Time(1)).unwrap();
    let host = server.rsplit_once('@').map_or_else(|| server.trim_start_matches("postgres://"), |(_, host)| host);
    DatabaseUrl::new(format!("postgres://{name}:let-me-in@{host}/{database}"))
}

#[test]
fn the_login_of_notify_delivers_and_can_write_no_endpoint_secret_or_book() {
    let mut world = World::in_database();
    let Location::Postgres(owner) = world.location() else { panic!("a database") };
    let id = world.endpoint("all").id;
    let event = world.announce("deposit.credited", "dep_1");
    let url = login(&owner, "notify");
    let mut worker = DeliveryWorker::open(url.clone(), World::settings("node-2")).unwrap();
    loop {
        let round = worker.round(world.now()).unwrap();
        if round.attempts.is_empty() && !round.is_busy {
            break;
        }
        let done = round.attempts.into_iter().map(|attempt| {
            let outcome = world.send(&attempt, &mut |_| ok());
            (attempt, outcome, Jitter::default())
        });
        let done = done.collect();
        worker.record(done, world.now()).unwrap();
    }
    worker.release();
    assert_eq!(world.events_of(&id), [event.as_str()]);
    for sql in [
        "UPDATE webhook_endpoints SET url = 'https://evil.example.com/'",
        "INSERT INTO webhook_secrets (id, endpoint, secret, created_at) VALUES ('a', 'b', 'c', 0)",
        "DELETE FROM webhook_secrets",
        "INSERT INTO webhook_requests SELECT * FROM webhook_requests",
        "INSERT INTO books.outbox SELECT * FROM books.outbox",
        "SELECT * FROM books.journal",
        "SELECT * FROM books.balances",
    ] {
        let error = Session::open(url.reveal()).try_run(sql).expect_err(sql);
        assert!(error.contains("permission denied"), "{sql}: {error}");
    }
    // No other role but `books` reads the secrets.
    for role in ["api", "indexer", "payouts"] {
        let error = Session::open(login(&owner, role).reveal()).try_run("SELECT * FROM webhook_secrets").unwrap_err();
        assert!(error.contains("permission denied"), "{role}: {error}");
    }
    Session::open(login(&owner, "books").reveal()).try_run("SELECT * FROM webhook_secrets").unwrap();
}
