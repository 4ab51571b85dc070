//! One key, one effect, forever: in memory, in runs on disk, over merges and restarts.

use std::time::{Duration, Instant};

use bankroll_ledger::{AccountKind, Namespace, Rejection, Request};

use crate::world::{World, game_server, moving, request};

/// A world whose keys leave memory at once: every 64 keys are a run, every eight runs are merged.
fn world_of_runs() -> World {
    World::with(|options| options.keys_in_memory_max = 64)
}

fn spends(world: &World, count: usize) -> Vec<Request> {
    let (alice, arena) = (world.player("alice", 1_000_000), world.account(AccountKind::World, None));
    (0..count)
        .map(|_| request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 1)]))
        .collect()
}

fn send(world: &World, requests: &[Request]) -> Vec<bankroll_store::Answer> {
    let calls = requests.chunks(37).map(|call| world.ledger().submit(call.to_vec()).unwrap().wait().unwrap());
    calls.flatten().collect()
}

#[test]
fn the_same_request_again_gets_the_same_answer_from_memory_runs_and_after_a_restart() {
    let mut world = world_of_runs();
    let requests = spends(&world, 3_000);
    let first = send(&world, &requests);
    assert!(first.iter().all(|answer| !answer.replayed && answer.effects().is_ok()));
    for _ in 0..2 {
        let again = send(&world, &requests);
        for (first, again) in first.iter().zip(&again) {
            assert!(again.replayed);
            assert_eq!((first.seq, &first.verdict), (again.seq, &again.verdict));
        }
        world.reopen();
    }
    world.audit();
}

#[test]
fn a_key_with_another_body_is_refused_and_keeps_its_answer() {
    let world = world_of_runs();
    let requests = spends(&world, 500);
    send(&world, &requests);
    let mut other = requests[3].clone();
    other.references.hand = Some("hand-1".into());
    let answer = world.ledger().apply(other).unwrap();
    assert_eq!((answer.seq, answer.effects()), (None, Err(Rejection::KeyReused)));
    assert!(world.ledger().apply(requests[3].clone()).unwrap().replayed);
}

#[test]
fn a_rejection_about_money_is_remembered() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 10), world.account(AccountKind::World, None));
    let spend = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 11)]);
    let refused = world.ledger().apply(spend.clone()).unwrap();
    assert_eq!(refused.effects(), Err(Rejection::InsufficientFunds));
    world.player("alice", 100);
    let again = world.ledger().apply(spend).unwrap();
    assert!(again.replayed, "a retry must not succeed by surprise");
    assert_eq!((again.seq, again.effects()), (refused.seq, Err(Rejection::InsufficientFunds)));
}

#[test]
fn the_same_key_twice_in_one_call_has_one_effect() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 10), world.account(AccountKind::World, None));
    let spend = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 4)]);
    let mut other = spend.clone();
    other.references.intent = Some("another".into());
    let answers = world.ledger().submit(vec![spend.clone(), spend, other]).unwrap().wait().unwrap();
    assert_eq!(answers.iter().map(|answer| answer.replayed).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(answers[0].verdict, answers[1].verdict);
    assert_eq!(answers[2].effects(), Err(Rejection::KeyReused));
    assert_eq!(world.balances(alice), (6, 0));
}

#[test]
fn runs_cover_the_journal_and_are_merged() {
    let mut world = world_of_runs();
    let requests = spends(&world, 5_000);
    send(&world, &requests);
    // Maintenance continues in the background; each later commit writes one slice.
    world.reopen();
    let waited = Instant::now();
    while world.pairs("SELECT CAST(level AS TEXT), '' FROM key_runs WHERE level > 0").is_empty() {
        assert!(waited.elapsed() < Duration::from_secs(60), "none were merged");
        send(&world, &requests[..500]);
    }
    world.ledger.take().unwrap().close();
    let runs = world.pairs("SELECT CAST(level AS TEXT), first_seq || ' ' || last_seq FROM key_runs ORDER BY first_seq");
    let stretch =
        |text: &str| text.split_once(' ').map(|(first, last)| (first.parse().unwrap(), last.parse().unwrap()));
    let runs: Vec<(u8, i64, i64)> = runs
        .iter()
        .map(|(level, text)| (level.parse().unwrap(), stretch(text).unwrap()))
        .map(|(level, (first, last))| (level, first, last))
        .collect();
    assert!(runs.iter().any(|(level, _, _)| *level > 0), "some were merged: {runs:?}");
    assert_eq!(runs[0].1, 1);
    assert!(runs.windows(2).all(|pair| pair[0].2 + 1 == pair[1].1), "no gap: {runs:?}");
}

#[test]
fn runs_that_point_to_other_chunks_are_detected_and_no_key_is_forgotten() {
    for moved in ["first_chunk = first_chunk + 1", "first_chunk = first_chunk - 1", "first_chunk = 1"] {
        let mut world = World::in_folder(|options| options.keys_in_memory_max = 64);
        let requests = spends(&world, 3_000);
        let first = send(&world, &requests);
        world.ledger.take().unwrap().close();
        let database = rusqlite::Connection::open(world.folder.path().join("books.db")).unwrap();
        let newest = "(SELECT max(first_seq) FROM key_runs)";
        let edit = format!("UPDATE key_runs SET {moved} WHERE first_seq = {newest}");
        assert_eq!(database.execute(&edit, []), Ok(1));
        drop(database);
        world.ledger = Some(bankroll_store::Ledger::open(world.options.clone()).unwrap());
        for (first, again) in first.iter().zip(send(&world, &requests)) {
            assert!(again.replayed && first.seq == again.seq, "{moved}: {again:?}");
        }
        world.audit();
    }
}

#[test]
fn decayed_chunks_are_detected_when_read_and_the_index_is_rebuilt_while_the_books_are_open() {
    let mut world = World::in_folder(|options| options.keys_in_memory_max = 64);
    let requests = spends(&world, 2_000);
    let first = send(&world, &requests);
    world.ledger.take().unwrap().close();
    let database = rusqlite::Connection::open(world.folder.path().join("books.db")).unwrap();
    let rotted = database.execute("UPDATE key_chunks SET data = zeroblob(length(data)) WHERE id % 3 = 0", []).unwrap();
    assert!(rotted > 0);
    drop(database);
    world.ledger = Some(bankroll_store::Ledger::open(world.options.clone()).unwrap());
    let fresh = spends(&world, 2_000);
    for ((old, first), new) in requests.chunks(50).zip(first.chunks(50)).zip(fresh.chunks(50)) {
        let mixed = old.iter().chain(new).cloned().collect();
        let answers = world.ledger().submit(mixed).unwrap().wait().unwrap();
        for (first, again) in first.iter().zip(&answers) {
            assert!(again.replayed);
            assert_eq!((first.seq, &first.verdict), (again.seq, &again.verdict));
        }
        assert!(answers[50..].iter().all(|answer| !answer.replayed && answer.effects().is_ok()));
    }
    world.audit();
}
