//! Damage of the two indexes: repaired while the writer goes on.

use std::time::{Duration, Instant};

use bankroll_ledger::{AccountKind, Namespace};
use bankroll_store::{Location, STATEMENTS_FILE};
use bankroll_testkit::postgres;

use super::{PassEnd, edit, pass_with, sound_pass};
use crate::world::{World, game_server, moving, request};

#[test]
fn a_damaged_key_index_is_rebuilt_and_no_key_is_decided_twice() {
    for damage in [
        "UPDATE key_chunks SET data = (SELECT data FROM key_chunks ORDER BY id DESC LIMIT 1)
         WHERE id = (SELECT min(id) FROM key_chunks)",
        "DELETE FROM key_chunks WHERE id = (SELECT min(id) FROM key_chunks)",
        "DELETE FROM key_runs WHERE id = (SELECT min(id) FROM key_runs)",
        "UPDATE key_runs SET last_seq = last_seq + 1 WHERE id = (SELECT min(id) FROM key_runs)",
    ] {
        let world = World::with(|options| options.keys_in_memory_max = 8);
        let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
        let requests: Vec<_> = (0..40)
            .map(|_| request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 1)]))
            .collect();
        for request in &requests {
            world.ledger().apply(request.clone()).unwrap().effects().unwrap();
        }
        until_still(&world);
        sound_pass(&world);
        edit(&world, damage);
        let (end, repaired) = pass_with(&world, |_| {});
        assert!(matches!(&end, PassEnd::Sound(report) if report.unconfirmed.is_none()), "{damage}: {end:?}");
        assert!(matches!(repaired.as_slice(), [one] if one.starts_with("keys: ")), "{damage}: {repaired:?}");
        for request in &requests {
            assert!(world.ledger().apply(request.clone()).unwrap().replayed, "{damage}");
        }
        sound_pass(&world);
        world.reader().check_indexes(|_| {}).unwrap();
        assert_eq!(world.balances(arena), (40, 0), "{damage}");
    }
}

/// Waits until the writer has written and merged all runs.
fn until_still(world: &World) {
    let runs = || world.pairs("SELECT CAST(id AS TEXT), CAST(last_seq AS TEXT) FROM key_runs ORDER BY id");
    let (mut before, mut same) = (Vec::new(), 0);
    let deadline = Instant::now() + Duration::from_secs(60);
    while same < 20 {
        assert!(Instant::now() < deadline, "runs are merged for ever");
        world.ledger().tick().unwrap();
        let now = runs();
        same = if now == before && !now.is_empty() { same + 1 } else { 0 };
        before = now;
    }
}

#[test]
fn a_damaged_statement_index_is_rebuilt_by_its_thread() {
    let world = World::with(|_| {});
    let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
    for _ in 0..50 {
        world.play(vec![moving(alice, arena, 1)]);
    }
    until_indexed(&world);
    sound_pass(&world);
    match &world.options.location {
        Location::Folder(folder) => {
            let index = rusqlite::Connection::open(folder.join(STATEMENTS_FILE)).unwrap();
            assert!(index.execute("UPDATE term_chunks SET data = x'00'", []).unwrap() > 0);
        }
        Location::Postgres(url) => postgres::run(url.reveal(), "UPDATE books.term_chunks SET data = '\\x00'"),
    }
    let (end, repaired) = pass_with(&world, |_| {});
    assert!(matches!(&end, PassEnd::Sound(report) if report.unconfirmed.is_none()), "{end:?}");
    assert!(matches!(repaired.as_slice(), [one] if one.starts_with("statements: ")), "{repaired:?}");
    let deadline = Instant::now() + Duration::from_secs(60);
    while world.reader().check_indexes(|_| {}).is_err() {
        assert!(Instant::now() < deadline, "it is not rebuilt");
        std::thread::yield_now();
    }
    until_indexed(&world);
    assert!(sound_pass(&world).entries > 0);
    assert!(world.ledger().stopped_by().is_none());
}

fn until_indexed(world: &World) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let state = world.reader().index_state().unwrap();
        if state.covered == state.last {
            return;
        }
        assert!(Instant::now() < deadline, "the index does not catch up");
        std::thread::yield_now();
    }
}
