//! Rows with possible values that no commit wrote: every reader compares the checksum, on both engines, and the
//! writer decides nothing by them.

use bankroll_ledger::{AccountId, AccountKind, Leg, Namespace, Principal, Seq, Settler};
use bankroll_store::{Location, StoreError};

use crate::{
    edited::{Question, Story, damaged, edit},
    world::{World, game_server, hold, moving, request},
};

/// What is edited, in which table, and a question that reads it.
const EDITS: &[(&str, &str, Question)] = &[
    ("UPDATE balances SET held = balance WHERE id = 2", "balances", alice),
    ("UPDATE balances SET checksum = checksum + 1 WHERE id = 2", "balances", alice),
    ("UPDATE accounts SET may_transfer = 127 WHERE id = 2", "accounts", alice),
    ("UPDATE accounts SET debt = 1 WHERE id = 2", "accounts", alice),
    ("UPDATE accounts SET name = 'arena/funds/1/mallory' WHERE id = 2", "accounts", alice),
    ("UPDATE accounts SET name_hash = name_hash + 1 WHERE id = 2", "accounts", alice),
    ("UPDATE holds SET expires = expires + 1", "holds", |story| story.reader().open_holds(story.alice).map(drop)),
    ("UPDATE assets SET decimals = 6", "assets", |story| story.reader().assets().map(drop)),
    ("UPDATE outbox SET body = '[]'", "outbox", |story| story.reader().events_after(Seq(0), 10).map(drop)),
    ("UPDATE reversals SET reversal = reversal + 1", "reversals", |story| {
        story.reader().reversal_of(story.orphaned).map(drop)
    }),
    ("UPDATE journal SET checksum = checksum + 1 WHERE seq = 3", "journal", |story| {
        story.reader().record(Seq(3)).map(drop)
    }),
    ("UPDATE journal SET checksum = checksum + 1 WHERE seq = 3", "journal", |story| {
        story.reader().receipt(Seq(3)).map(drop)
    }),
    ("UPDATE journal SET checksum = checksum + 1 WHERE seq = 3", "journal", |story| {
        story.reader().journal_after(Seq(0), 10).map(drop)
    }),
    ("UPDATE batches SET at = at + 1 WHERE number = 3", "batches", |story| story.reader().receipt(Seq(3)).map(drop)),
    ("UPDATE batches SET at = at + 1 WHERE number = (SELECT max(number) FROM batches)", "batches", |story| {
        story.reader().head().map(drop)
    }),
];

fn alice(story: &Story) -> Result<(), StoreError> {
    story.reader().account(AccountId(2)).map(drop)
}

#[test]
fn a_row_that_no_commit_wrote_is_not_believed_wherever_it_is_read() {
    for (sql, table, ask) in EDITS {
        let story = Story::new();
        assert_eq!(story.alice, AccountId(2));
        ask(&story).unwrap_or_else(|error| panic!("before {sql}: {error:?}"));
        edit(&story.world, sql);
        let found = ask(&story);
        let is_journal = ["journal", "batches"].contains(table);
        let next_step = if is_journal { "restore a backup" } else { "run `bankroll rebuild`" };
        let error = found.as_ref().unwrap_err();
        assert_eq!(error.is_derived_damage(), !is_journal, "{sql}");
        assert!(error.is_unsound() && error.to_string().contains(next_step), "{sql}: {error}");
        damaged(found, table, sql);
    }
}

#[test]
fn the_writer_spends_nothing_from_a_balance_that_no_commit_wrote() {
    let mut world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    // The writer has not read the account since it was opened.
    world.reopen();
    edit(&world, &format!("UPDATE balances SET held = balance WHERE id = {alice}"));
    let spend = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 1)]);
    world.ledger().apply(spend).unwrap_err();
    match world.ledger().stopped_by().as_deref() {
        Some(StoreError::RowDamaged { table: "balances", .. }) => {}
        other => panic!("{other:?}"),
    }
}

/// Money would vanish with the row: nothing counts the rows that a plain update finds.
#[test]
fn a_commit_that_does_not_find_the_row_of_a_balance_stops_the_writer() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    edit(&world, &format!("DELETE FROM balances WHERE id = {alice}"));
    let spend = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 1)]);
    world.ledger().apply(spend).unwrap_err();
    let why = world.ledger().stopped_by();
    assert!(matches!(why.as_deref(), Some(StoreError::RowDamaged { table: "balances", .. })), "{why:?}");
}

#[test]
fn a_hold_that_its_record_made_and_its_table_lost_is_damage_and_one_never_made_is_not_found() {
    let world = World::new();
    let alice = world.player("alice", 100);
    let held = world.play(vec![hold(alice, 30, None, Settler::Holder)]);
    let id = held.effects().unwrap().holds[0].hold.id;
    let release = |hold| request(world.fresh_key(Namespace::Client), game_server(), vec![Leg::Release { hold }]);
    let never_made = bankroll_ledger::HoldId::of(held.seq.unwrap(), 1);
    let answer = world.ledger().apply(release(never_made)).unwrap();
    assert_eq!(answer.effects().unwrap_err().code(), "hold_not_found");
    edit(&world, &format!("DELETE FROM holds WHERE id = {id}"));
    world.ledger().apply(release(id)).unwrap_err();
    let why = world.ledger().stopped_by();
    assert!(matches!(why.as_deref(), Some(StoreError::RowDamaged { table: "holds", .. })), "{why:?}");
}

/// Failure 3b of the review: the index still has the key, and the record has another one.
#[test]
fn a_key_whose_record_has_lost_a_bit_is_not_decided_again() {
    let mut world = World::with(|options| options.keys_in_memory_max = 4);
    let (alice, custody) = (world.player("alice", 100), world.account(AccountKind::Custody, Some("hot")));
    let credit = request(world.fresh_key(Namespace::Deposits), Principal::Indexer, vec![moving(custody, alice, 1)]);
    let first = world.ledger().apply(credit.clone()).unwrap().seq.unwrap();
    for _ in 0..20 {
        world.deposit(moving(custody, alice, 1));
    }
    world.reopen();
    let before = world.balances(alice);
    let record = world.reader().record(first).unwrap().unwrap();
    let text = credit.key.text.as_bytes();
    let place = record.windows(text.len()).position(|bytes| bytes == text).unwrap();
    let mut flipped = record.clone();
    flipped[place] ^= 1;
    let hex: String = flipped.iter().map(|byte| format!("{byte:02x}")).collect();
    let value = match &world.options.location {
        Location::Folder(_) => format!("x'{hex}'"),
        Location::Postgres(_) => format!("'\\x{hex}'::bytea"),
    };
    edit(&world, &format!("UPDATE journal SET record = {value} WHERE seq = {first}"));
    world.ledger().apply(credit).unwrap_err();
    let why = world.ledger().stopped_by();
    assert!(matches!(why.as_deref(), Some(StoreError::RowDamaged { table: "journal", .. })), "{why:?}");
    assert_eq!(world.balances(alice), before);
}

/// Failure 3a of the review: keys between the false end of the newest run and the true one were in no run and not in
/// the tail, so they were decided again.
#[test]
fn keys_after_a_run_whose_end_was_moved_are_not_decided_again() {
    for moved in ["last_seq = last_seq + 5", "last_seq = last_seq + 1", "entries = entries + 1", "level = level + 1"] {
        let mut world = World::with(|options| options.keys_in_memory_max = 64);
        let (alice, arena) = (world.player("alice", 10_000), world.account(AccountKind::World, None));
        let spend = || request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 1)]);
        let spends: Vec<_> = (0..400).map(|_| spend()).collect();
        let first: Vec<_> = spends.iter().map(|spend| world.ledger().apply(spend.clone()).unwrap().seq).collect();
        world.ledger.take().unwrap().close();
        edit(&world, &format!("UPDATE key_runs SET {moved} WHERE first_seq = (SELECT max(first_seq) FROM key_runs)"));
        world.ledger = Some(bankroll_store::Ledger::open(world.options.clone()).unwrap());
        for (spend, first) in spends.iter().zip(first) {
            let again = world.ledger().apply(spend.clone()).unwrap();
            assert_eq!((again.replayed, again.seq), (true, first), "{moved}");
        }
        world.audit();
    }
}
