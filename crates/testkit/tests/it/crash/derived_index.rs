//! Data derived from the journal, lost or damaged while the books are closed: it is rebuilt, and old keys still
//! answer.
//!
//! The tests use folders here, and databases in `postgres/derived.rs`.

use std::time::{Duration, Instant};

use bankroll_ledger::{AccountId, AccountKind, Action, HoldId, Leg, Principal, Request};
use bankroll_store::{AccountFilter, Answer, Audit, Durability};
use fastrand::Rng;

use crate::{
    races::ticket,
    run::seed,
    world::{World, code_of, holding, moving},
};

/// Books with many keys in several runs, and all requests with their answers.
pub struct Old {
    pub world: World,
    answered: Vec<(Request, Answer)>,
    alice: AccountId,
    arena: AccountId,
}

impl Old {
    fn new() -> Self {
        Self::of(World::in_folder(|options| options.keys_in_memory_max = 32))
    }

    /// From books that keep few keys in memory.
    pub fn of(world: World) -> Self {
        let (alice, arena) = (world.player("alice", 1_000_000), world.account(AccountKind::World, None));
        let mut old = Self { world, answered: Vec::new(), alice, arena };
        let waited = Instant::now();
        // A thread of its own makes runs in the background, until the books are closed.
        while old.answered.len() < 480 || old.count("key_runs") < 2 || old.count("key_chunks") < 2 {
            assert!(waited.elapsed() < Duration::from_secs(60), "the keys are not in runs");
            let requests: Vec<Request> = (0..12).map(|_| old.world.play(vec![moving(alice, arena, 1)])).collect();
            old.answered.extend(requests.clone().into_iter().zip(old.world.submit_all(requests)));
        }
        old.world.close();
        old
    }

    fn count(&self, table: &str) -> i64 {
        self.world.count(&format!("SELECT count(*) FROM {table}"))
    }

    /// Changes one bit of a column, in a row and at a position that the seed chooses.
    fn flip(&self, table: &str, column: &str, rng: &mut Rng) {
        let offset = rng.i64(0..self.count(table));
        let id = self.world.count(&format!("SELECT id FROM {table} ORDER BY id LIMIT 1 OFFSET {offset}"));
        let length = self.world.count(&format!("SELECT CAST(length({column}) AS bigint) FROM {table} WHERE id = {id}"));
        let (place, bit) = (rng.usize(..usize::try_from(length).unwrap()), rng.u32(0..8));
        self.world.flip(table, column, id, place, bit);
    }

    /// Opens the books and repeats all requests: every answer is the old one, and nothing is applied twice.
    fn all_keys_answer_as_before(&mut self, damage: &str) {
        self.world.try_open().unwrap_or_else(|error| panic!("after {damage}: {error:?}"));
        let before = self.world.balance_and_held(self.alice);
        for some in self.answered.chunks(50) {
            let reply = self.world.ledger().submit(some.iter().map(|(request, _)| request.clone()).collect()).unwrap();
            let again = reply.wait();
            let again = again.unwrap_or_else(|_| panic!("after {damage}: {:?}", self.world.ledger().stopped_by()));
            for ((_, outcome), again) in some.iter().zip(again) {
                assert!(again.replayed, "after {damage}, a key was used a second time");
                assert_eq!((again.seq, again.verdict), (outcome.seq, outcome.verdict.clone()), "after {damage}");
            }
        }
        assert_eq!(self.world.balance_and_held(self.alice), before, "after {damage}");
        let fresh = self.world.play(vec![moving(self.alice, self.arena, 1)]);
        assert_eq!(code_of(&self.world.submit(fresh)), "applied", "after {damage}");
        self.world.audit();
        self.world.close();
    }
}

#[test]
fn crash_of_the_key_index_whole_rows_lost() {
    whole_rows_of_the_key_index_lost(Old::new());
}

pub fn whole_rows_of_the_key_index_lost(mut old: Old) {
    for damage in [
        "DELETE FROM key_runs WHERE id = (SELECT min(id) FROM key_runs)",
        "DELETE FROM key_runs WHERE first_seq = (SELECT max(first_seq) FROM key_runs)",
        "DELETE FROM key_chunks WHERE id = (SELECT min(id) FROM key_chunks)",
        "DELETE FROM key_chunks WHERE id = (SELECT max(id) FROM key_chunks)",
        "DELETE FROM key_runs",
        "DELETE FROM key_chunks",
        "DELETE FROM key_runs; DELETE FROM key_chunks",
    ] {
        old.world.edit(damage);
        old.all_keys_answer_as_before(damage);
    }
}

#[test]
fn crash_of_the_key_index_contents_damaged() {
    contents_of_the_key_index_damaged(Old::new());
}

pub fn contents_of_the_key_index_damaged(mut old: Old) {
    for damage in [
        "UPDATE key_chunks SET data = x''",
        "UPDATE key_chunks SET data = substr(data, 1, length(data) - 24)",
        "UPDATE key_runs SET summary = x''",
        "UPDATE key_runs SET summary = substr(summary, 17)",
        "UPDATE key_runs SET first_seq = first_seq + 1 WHERE id = (SELECT max(id) FROM key_runs)",
        "UPDATE key_runs SET last_seq = last_seq + 1000000 WHERE id = (SELECT max(id) FROM key_runs)",
        "UPDATE key_runs SET last_seq = last_seq + 5 WHERE first_seq = (SELECT max(first_seq) FROM key_runs)",
        "UPDATE key_runs SET checksum = checksum + 1 WHERE id = (SELECT min(id) FROM key_runs)",
        // Sound chunks and summaries of other places.
        "UPDATE key_chunks SET data = (SELECT data FROM key_chunks WHERE id = (SELECT max(id) FROM key_chunks))",
        "UPDATE key_runs SET summary = (SELECT summary FROM key_runs WHERE id = (SELECT max(id) FROM key_runs))",
    ] {
        old.world.edit(damage);
        old.all_keys_answer_as_before(damage);
    }
    let mut rng = Rng::with_seed(seed());
    for (table, column) in [("key_chunks", "data"), ("key_runs", "summary")] {
        for number in 0..6 {
            old.flip(table, column, &mut rng);
            old.all_keys_answer_as_before(&format!("a bit flipped in {table} (seed {}, number {number})", seed()));
        }
    }
}

/// A lookup finds the damage just when the writer is about to store a finished run.
#[test]
fn crash_of_the_key_index_detected_while_a_run_is_stored() {
    damage_detected_while_a_run_is_stored(Old::new());
}

pub fn damage_detected_while_a_run_is_stored(mut old: Old) {
    for _ in 0..5 {
        old.world.edit("UPDATE key_chunks SET data = x''");
        old.world.try_open().unwrap();
        let fresh = |count: u32| -> Vec<Request> {
            (0..count).map(|_| old.world.play(vec![moving(old.alice, old.arena, 1)])).collect()
        };
        // Enough keys for a run, one more commit to start it, and then an old key while it is being finished.
        old.world.submit_all(fresh(40));
        old.world.submit_all(fresh(1));
        let known = old.answered[0].0.clone();
        let reply = old.world.ledger().submit(fresh(1).into_iter().chain([known]).collect()).unwrap().wait();
        let answers = reply.unwrap_or_else(|failure| panic!("{failure}: {:?}", old.world.ledger().stopped_by()));
        assert!(answers[1].replayed);
        old.world.close();
        old.all_keys_answer_as_before("damage while a run is stored");
    }
}

/// The index is rebuilt in the middle of a batch, which is then decided a second time because of a refused fact.
#[test]
fn crash_of_the_key_index_detected_in_a_batch_that_is_decided_twice() {
    damage_detected_in_a_batch_that_is_decided_twice(Old::new());
}

pub fn damage_detected_in_a_batch_that_is_decided_twice(mut old: Old) {
    old.world.edit("UPDATE key_chunks SET data = x''");
    old.world.try_open().unwrap();
    let fresh = || old.world.play(vec![moving(old.alice, old.arena, 1)]);
    let refused = Request { facts: vec![ticket(1, "forbidden")], ..fresh() };
    let calls = vec![fresh(), old.answered[0].0.clone(), refused, fresh()];
    let reply = old.world.ledger().submit(calls).unwrap().wait();
    let answers = reply.unwrap_or_else(|failure| panic!("{failure}: {:?}", old.world.ledger().stopped_by()));
    assert_eq!(answers.iter().map(code_of).collect::<Vec<_>>(), ["applied", "applied", "fact_refused", "applied"]);
    assert!(answers[1].replayed);
    old.world.close();
    old.all_keys_answer_as_before("a batch that was decided twice");
}

#[test]
fn crash_of_the_tables_of_accounts() {
    tables_of_accounts_lost(Old::new);
}

pub fn tables_of_accounts_lost(make: impl Fn() -> Old) {
    for damage in [
        "DELETE FROM balances WHERE id = 1",
        "DELETE FROM balances",
        "DELETE FROM accounts WHERE id = 2",
        "DELETE FROM accounts",
        "DELETE FROM assets",
        "DELETE FROM accounts WHERE id = (SELECT max(id) FROM accounts);
         DELETE FROM balances WHERE id = (SELECT max(id) FROM balances)",
        "DELETE FROM accounts; DELETE FROM balances",
        "DELETE FROM accounts; DELETE FROM balances; DELETE FROM assets",
    ] {
        let mut old = make();
        let accounts = old.world.reader().accounts(&AccountFilter::default(), usize::MAX).unwrap();
        old.world.edit(damage);
        old.world.try_open().unwrap_or_else(|error| panic!("after {damage}: {error:?}"));
        let again = old.world.reader().accounts(&AccountFilter::default(), usize::MAX).unwrap();
        assert_eq!(again, accounts, "after {damage}");
        old.world.close();
        old.all_keys_answer_as_before(damage);
    }
}

/// An account without recent movements, which no record of the tail mentions.
#[test]
fn crash_of_a_quiet_account_that_was_the_last_to_be_opened() {
    quiet_account_lost(World::in_folder(|options| options.durability = Durability::MayLoseRecentCommits));
}

pub fn quiet_account_lost(mut world: World) {
    let (alice, arena) = (world.player("alice", 1_000_000), world.account(AccountKind::World, None));
    let quiet = world.player("quiet", 7);
    for _ in 0..1_100 {
        let calls: Vec<_> = (0..200).map(|_| world.play(vec![moving(alice, arena, 1)])).collect();
        world.ledger().submit(calls).unwrap().wait().unwrap();
    }
    world.close();
    world.edit(&format!("DELETE FROM accounts WHERE id = {quiet}; DELETE FROM balances WHERE id = {quiet}"));
    world.try_open().unwrap();
    let next = world.account(AccountKind::Funds, Some("next"));
    assert_ne!(next, quiet, "the number of a lost account was assigned again");
    assert_eq!(world.balance_and_held(quiet), (7, 0));
    world.audit();
}

/// Lost holds and reversals: the books do not open, or restore them, or the audit reports the loss first.
#[test]
fn crash_of_the_tables_of_holds_and_reversals_is_not_silent() {
    holds_and_reversals_lost(|| World::in_folder(|_| {}));
}

pub fn holds_and_reversals_lost(make: impl Fn() -> World) {
    for damage in ["DELETE FROM holds", "DELETE FROM reversals"] {
        let mut world = make();
        let (alice, custody) = (world.player("alice", 100), world.account(AccountKind::Custody, Some("hot")));
        let hold = world.submit(world.play(vec![holding(alice, 40, None)])).seq.unwrap();
        let deposit = world.submit(world.deposit(custody, alice, 10)).seq.unwrap();
        let reversal = || Request { action: Action::Reverse(deposit), ..world.request(Principal::Indexer, Vec::new()) };
        assert_eq!(code_of(&world.submit(reversal())), "applied");
        let (release, once_more) = (world.play(vec![Leg::Release { hold: HoldId::of(hold, 0) }]), reversal());
        world.close();
        world.edit(damage);
        if world.try_open().is_err() || Audit::new(world.reader()).run(|_| {}).is_err() {
            continue;
        }
        assert_eq!(code_of(&world.submit(once_more)), "already_reversed", "after {damage}");
        assert_eq!(code_of(&world.submit(release)), "applied", "after {damage}");
        assert_eq!(world.balance_and_held(alice), (100, 0), "after {damage}");
    }
}
