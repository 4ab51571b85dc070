//! A file of the books that is removed or replaced under a running writer: the next commit is not acknowledged.

use std::{fs, path::Path};

use bankroll_ledger::{AccountId, AccountKind, Namespace};
use bankroll_store::{Ledger, StoreError, SubmitError, SubmitFailure};

use crate::world::{World, game_server, moving, request};

/// The writer stopped because of this file.
fn stopped_by(world: &World, file: &str) {
    let why = world.ledger().stopped_by().expect("the writer has stopped");
    assert!(why.is_unsound());
    assert!(matches!(why.as_ref(), StoreError::FileReplaced { path } if path.ends_with(file)), "{why:?}");
}

fn alice_plays(world: &World, alice: AccountId, arena: AccountId) -> Result<(), SubmitError> {
    let key = world.fresh_key(Namespace::Client);
    world.ledger().apply(request(key, game_server(), vec![moving(alice, arena, 10)])).map(drop)
}

/// Moves a file away, and puts a copy of it in its place: the same bytes in another file.
fn replace(file: &Path) {
    let away = file.with_extension("away");
    fs::rename(file, &away).unwrap();
    fs::copy(&away, file).unwrap();
}

#[test]
fn a_commit_into_a_file_that_was_removed_or_replaced_is_not_acknowledged() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 4] = [
        ("books.db", |file| fs::remove_file(file).unwrap()),
        ("books.db", replace),
        ("books.db-wal", |file| fs::remove_file(file).unwrap()),
        ("books.db-wal", replace),
    ];
    for (file, damage) in damages {
        let world = World::in_folder(|_| {});
        let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
        alice_plays(&world, alice, arena).unwrap();
        damage(&world.folder.path().join(file));
        let answer = alice_plays(&world, alice, arena);
        assert_eq!(answer, Err(SubmitError::Failed(SubmitFailure::Unknown)), "{file}");
        stopped_by(&world, file);
    }
}

/// Without calls there is no commit that would notice it.
#[test]
fn an_idle_writer_stops_when_it_is_asked_to_compare_its_files() {
    let world = World::in_folder(|_| {});
    world.ledger().check_files();
    assert!(world.ledger().stopped_by().is_none());
    fs::rename(world.folder.path().join("books.db"), world.folder.path().join("books.away")).unwrap();
    world.ledger().check_files();
    stopped_by(&world, "books.db");
}

/// SQLite does not empty the log of a file that has lost its name: put back, it has everything.
#[test]
fn the_file_put_back_with_its_log_has_everything_that_was_acknowledged() {
    let mut world = World::in_folder(|_| {});
    let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
    alice_plays(&world, alice, arena).unwrap();
    let (file, away) = (world.folder.path().join("books.db"), world.folder.path().join("books.away"));
    fs::rename(&file, &away).unwrap();
    alice_plays(&world, alice, arena).unwrap_err();
    world.ledger.take().unwrap().close();
    fs::rename(&away, &file).unwrap();
    world.ledger = Some(Ledger::open(world.options.clone()).unwrap());
    // The second transfer had an unknown outcome: here it did happen.
    assert_eq!(world.balances(alice), (980, 0));
}
