//! A writer that was replaced and does not know it yet: nothing that it sends, in any form, is written.
//!
//! Its lease is long, so that it does not renew first; only the fencing row keeps it out: no other writer has written
//! anything that its own records could collide with.

use bankroll_ledger::{AccountKind, ColumnValue, Fact, Guard, GuardFailure, Request, RowKey};
use bankroll_store::{DatabaseUrl, Statement, StoreError, SubmitError, SubmitFailure, SubmitRefusal};
use bankroll_testkit::postgres;

use super::cluster::Cluster;
use crate::{
    run::PATIENCE,
    world::{World, moving},
};

/// What another writer does when it takes over; its lease ends at once, so that the test can continue.
const TAKEN_OVER: &str =
    "UPDATE books.ledger_head SET epoch = epoch + 1, holder = 'another', lease_until = clock_timestamp()";
const SIGHTINGS: &str = "CREATE TABLE sightings (id text PRIMARY KEY, seen bigint)";

fn sighting() -> Fact {
    Fact {
        row: RowKey { table: "sightings".into(), columns: vec![("id".into(), ColumnValue::Text("one".into()))] },
        guard: Guard::Absent,
        otherwise: GuardFailure::Conflict,
        set: vec![("seen".into(), ColumnValue::Int(1))],
    }
}

#[test]
fn postgres_writes_nothing_of_a_writer_that_was_replaced() {
    let cluster = Cluster::start();
    let url = cluster.url("books");
    postgres::run(&url, SIGHTINGS);
    let mut world = World::on_with(DatabaseUrl::new(&url).into(), |options| options.lease = PATIENCE);
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    for what in ["plain money", "money with a fact", "rows alone"] {
        let before = world.reader().head().unwrap();
        postgres::run(&url, TAKEN_OVER);
        let money = world.play(vec![moving(alice, arena, 1)]);
        let outcome = match what {
            "rows alone" => {
                let sql = "INSERT INTO sightings (id) VALUES ('one')".into();
                let row = Statement { sql, values: Vec::new(), must_change: Some(1) };
                world.ledger().write_rows(vec![row]).unwrap().wait().map(drop)
            }
            "plain money" => world.ledger().submit(vec![money]).unwrap().wait().map(drop),
            _ => world.ledger().submit(vec![Request { facts: vec![sighting()], ..money }]).unwrap().wait().map(drop),
        };
        assert_eq!(outcome, Err(SubmitFailure::Unknown), "{what}");
        let why = world.ledger().stopped_by();
        assert!(matches!(why.as_deref(), Some(StoreError::Fenced)), "{what}: {why:?}");
        let later = world.ledger().apply(world.play(vec![moving(alice, arena, 1)]));
        // Refused, or lost while the writer stops.
        let unanswered = [SubmitError::Refused(SubmitRefusal::Stopped), SubmitError::Failed(SubmitFailure::Unknown)];
        assert!(later.as_ref().is_err_and(|error| unanswered.contains(error)), "{what}: {later:?}");
        assert_eq!(world.reader().head().unwrap(), before, "{what}");
        let rows = world.count("SELECT count(*) FROM journal") + world.count("SELECT count(*) FROM sightings");
        assert_eq!(rows, i64::try_from(before.seq.0).unwrap(), "{what}: something was written");
        world.reopen();
        world.audit();
    }
    assert_eq!(world.balance_and_held(alice), (100, 0));
}
