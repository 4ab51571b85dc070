//! Edited books: edits of recent records are found when the books are opened, older ones by the audit, at their
//! position.

use bankroll_ledger::{AccountId, AccountKind, Action, HoldId, Leg, Principal, Record, Request, Seq, Verdict, merkle};
use bankroll_store::{Audit, BOOKS_FILE, Durability, StoreError, SubmitError, SubmitFailure};
use bankroll_testkit::checksums;
use fastrand::Rng;
use rusqlite::{Connection, params, types::Value};

use crate::{
    run::{report, seed},
    world::{World, holding, moving},
};

/// Batches at the end of the journal that opening verifies, and a few more.
const MORE_THAN_THE_TAIL: usize = 16_500;

/// Books of so many batches that syncing each of them would take minutes. Keys leave memory early: the records of those
/// in memory are verified when the books are opened.
fn long_books() -> World {
    World::in_folder(|options| {
        (options.durability, options.keys_in_memory_max) = (Durability::MayLoseRecentCommits, 1_024);
    })
}

/// Closed books of one record a batch, so that a position is a batch.
fn closed_books() -> (World, Connection) {
    let mut world = long_books();
    let (alice, arena) = (world.player("alice", 100_000), world.account(AccountKind::World, None));
    for _ in 0..MORE_THAN_THE_TAIL {
        world.submit(world.play(vec![moving(alice, arena, 1)]));
    }
    world.close();
    let books = Connection::open(world.folder.path().join(BOOKS_FILE)).unwrap();
    for trigger in ["journal_keeps_what_it_has", "journal_forgets_nothing", "batches_keep_what_they_have"] {
        books.execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
    }
    (world, books)
}

fn record_at(books: &Connection, seq: u64) -> Vec<u8> {
    books.query_row("SELECT record FROM journal WHERE seq = ?1", [seq.cast_signed()], |row| row.get(0)).unwrap()
}

fn put_record(books: &Connection, seq: u64, record: &[u8]) {
    let changed = books.execute("UPDATE journal SET record = ?2 WHERE seq = ?1", params![seq.cast_signed(), record]);
    assert_eq!(changed, Ok(1));
}

/// With the checksum that belongs to the record: what finds the edit then is the chain, or the audit.
fn put_sealed(books: &Connection, seq: u64, record: &[u8]) {
    put_record(books, seq, record);
    let checksum = checksums::of_record(seq, record);
    let changed =
        books.execute("UPDATE journal SET checksum = ?2 WHERE seq = ?1", params![seq.cast_signed(), checksum]);
    assert_eq!(changed, Ok(1));
}

fn row_is_damaged(found: &Result<(), StoreError>, damaged: &str) {
    assert!(matches!(found, Err(StoreError::RowDamaged { table, .. }) if *table == damaged), "{found:?}");
}

fn with_another_amount(record: &[u8]) -> Vec<u8> {
    let Record::Decided { request, verdict: Verdict::Applied(mut effects) } = Record::decode(record).unwrap() else {
        panic!("not a transfer");
    };
    effects.postings[0].amount = bankroll_ledger::Amount::new(2);
    Record::Decided { request, verdict: Verdict::Applied(effects) }.encode()
}

fn diverges_at(found: Result<(), StoreError>, seq: u64) {
    assert!(matches!(&found, Err(StoreError::Diverged { at, .. }) if *at == Seq(seq)), "{found:?}");
}

fn audit(world: &World) -> Result<(), StoreError> {
    Audit::new(world.reader()).run(|_| {}).map(drop)
}

#[test]
fn crash_is_better_than_books_with_an_edited_tail() {
    let (mut world, books) = closed_books();
    let last = world.reader().head().unwrap().seq.0;
    for seq in [last, last - 500] {
        let record = record_at(&books, seq);
        let mut edited = record.clone();
        *edited.last_mut().unwrap() ^= 1;
        put_record(&books, seq, &edited);
        row_is_damaged(&world.try_open(), "journal");
        put_sealed(&books, seq, &edited);
        diverges_at(world.try_open(), seq);
        put_sealed(&books, seq, &record);
    }
    world.try_open().unwrap();
    world.close();
    // The same for a balance that the tail mentions: by its checksum, and without it by the journal.
    books.execute_batch("UPDATE balances SET balance = held WHERE id = 2").unwrap();
    row_is_damaged(&world.try_open(), "balances");
    checksums::reseal(&world.options.location);
    diverges_at(world.try_open(), last);
}

#[test]
fn crash_is_better_than_books_with_a_lost_record() {
    for lost in ["seq = (SELECT max(seq) FROM journal)", "seq = (SELECT max(seq) - 20 FROM journal)"] {
        let (mut world, books) = closed_books();
        books.execute_batch(&format!("DELETE FROM journal WHERE {lost}")).unwrap();
        let refused = world.try_open();
        assert!(refused.as_ref().is_err_and(StoreError::is_unsound), "{refused:?}");
    }
}

#[test]
fn crash_or_not_the_audit_names_an_edited_old_record() {
    let (mut world, books) = closed_books();
    let old = 20;
    put_sealed(&books, old, &with_another_amount(&record_at(&books, old)));
    // Too old to be verified when the books are opened.
    world.try_open().unwrap();
    diverges_at(audit(&world), old);
}

/// The account holds less than the hold has left, in a record too old to be verified when the books are opened:
/// settling it would release money that is not held.
#[test]
fn crash_is_better_than_settling_a_hold_that_its_account_does_not_have() {
    let mut world = long_books();
    let (alice, bob, arena) =
        (world.player("alice", 100), world.player("bob", 100_000), world.account(AccountKind::World, None));
    let held = world.submit(world.play(vec![holding(alice, 30, None), holding(alice, 10, None)])).seq.unwrap();
    for _ in 0..MORE_THAN_THE_TAIL {
        world.submit(world.play(vec![moving(bob, arena, 1)]));
    }
    world.close();
    // Each of the two holds alone would be covered.
    world.edit(&format!("UPDATE balances SET held = x'0000000000000000000000000000001e' WHERE id = {alice}"));
    checksums::reseal(&world.options.location);
    world.try_open().unwrap();
    let release = |place| Leg::Release { hold: HoldId::of(held, place) };
    let outcome = world.ledger().apply(world.play(vec![release(0), release(1)]));
    assert_eq!(outcome, Err(SubmitError::Failed(SubmitFailure::Unknown)));
    let why = world.ledger().stopped_by();
    assert!(matches!(why.as_deref(), Some(StoreError::Diverged { at, .. }) if *at == held), "{why:?}");
    assert_eq!(world.balance_and_held(alice), (100, 30), "nothing was freed");
}

/// A forger who also recomputes the root and every later head makes a valid chain of invalid records.
#[test]
fn crash_or_not_the_audit_names_a_forged_record_under_a_sound_chain() {
    let (mut world, books) = closed_books();
    let forged = 25;
    let record = with_another_amount(&record_at(&books, forged));
    put_sealed(&books, forged, &record);
    let root = merkle::root(&[merkle::leaf(&record)]);
    let changed = books.execute("UPDATE batches SET root = ?2 WHERE first = ?1", params![forged.cast_signed(), root]);
    assert_eq!(changed, Ok(1));
    chain_anew(&books);
    world.try_open().unwrap();
    diverges_at(audit(&world), forged);
}

/// Computes every head of the chain from the batches as they are.
fn chain_anew(books: &Connection) {
    let mut select = books.prepare("SELECT number, first, count, at, root FROM batches ORDER BY number").unwrap();
    let mut rows = select.query([]).unwrap();
    let mut previous = bankroll_ledger::GENESIS;
    while let Some(row) = rows.next().unwrap() {
        let number = |place| row.get::<_, i64>(place).unwrap().cast_unsigned();
        let batch = bankroll_ledger::Batch {
            number: number(0),
            first: Seq(number(1)),
            count: row.get(2).unwrap(),
            at: bankroll_ledger::Time(number(3)),
            root: row.get(4).unwrap(),
            previous,
        };
        previous = batch.head();
        let update = "UPDATE batches SET head = ?2 WHERE number = ?1";
        books.execute(update, params![batch.number.cast_signed(), previous]).unwrap();
    }
}

/// Every column that money depends on: the table, its key, the column.
const COLUMNS: [(&str, &str, &str); 23] = [
    ("journal", "seq", "seq"),
    ("journal", "seq", "record"),
    ("batches", "number", "number"),
    ("batches", "number", "first"),
    ("batches", "number", "count"),
    ("batches", "number", "at"),
    ("batches", "number", "root"),
    ("batches", "number", "head"),
    ("assets", "id", "decimals"),
    ("assets", "id", "chain"),
    ("accounts", "id", "name"),
    ("accounts", "id", "may_deposit"),
    ("accounts", "id", "may_withdraw"),
    ("accounts", "id", "may_transfer"),
    ("balances", "id", "balance"),
    ("balances", "id", "held"),
    ("holds", "id", "account"),
    ("holds", "id", "remaining"),
    ("holds", "id", "expires"),
    ("holds", "id", "settler"),
    ("holds", "id", "state"),
    ("reversals", "original", "original"),
    ("reversals", "original", "reversal"),
];

/// Books with all kinds of records: holds that are open, posted and released, a transfer that was reversed.
fn full_books() -> World {
    let mut world = World::new();
    let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
    let custody = AccountId(1);
    for amount in 1..20 {
        world.submit(world.play(vec![moving(alice, arena, amount)]));
        let held =
            world.submit(world.play(vec![holding(alice, 5, Some(9_000_000)), holding(alice, 7, None)])).seq.unwrap();
        let leg = Leg::Release { hold: HoldId::of(held, 1) };
        world.submit(world.play(vec![leg])).effects().unwrap();
    }
    let deposit = world.submit(world.deposit(custody, alice, 10)).seq.unwrap();
    let reversal = Request { action: Action::Reverse(deposit), ..world.request(Principal::Indexer, Vec::new()) };
    world.submit(reversal).effects().unwrap();
    world.close();
    world
}

/// Flips one bit of a value.
fn flipped(value: Value, rng: &mut Rng) -> Value {
    match value {
        Value::Integer(number) => Value::Integer(number ^ (1 << rng.u32(0..3))),
        Value::Blob(mut bytes) => {
            let place = rng.usize(0..bytes.len());
            bytes[place] ^= 1 << rng.u32(0..8);
            Value::Blob(bytes)
        }
        // Another letter of a name.
        Value::Text(text) => Value::Text(format!("{}z", &text[..text.len() - 1])),
        Value::Null | Value::Real(_) => Value::Integer(1),
    }
}

#[test]
fn crash_or_not_the_audit_finds_a_flipped_bit_in_any_table() {
    let world = full_books();
    let path = world.folder.path().join(BOOKS_FILE);
    Connection::open(&path).unwrap().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let pristine = std::fs::read(&path).unwrap();
    audit(&world).unwrap();
    let mut rng = Rng::with_seed(seed());
    let (mut found, mut refused) = (0, 0);
    for (table, key, column) in COLUMNS {
        for number in 0..6 {
            std::fs::write(&path, &pristine).unwrap();
            let books = Connection::open(&path).unwrap();
            for trigger in ["journal_keeps_what_it_has", "batches_keep_what_they_have"] {
                books.execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
            }
            // Of ended holds only the state counts: their remaining amount cannot be used.
            let live = if table == "holds" && column != "state" { "WHERE state = 0" } else { "" };
            let count = books.query_row(&format!("SELECT count(*) FROM {table} {live}"), [], |row| row.get(0)).unwrap();
            let row = rng.u32(0..count);
            let sql = format!("SELECT {key}, {column} FROM {table} {live} ORDER BY {key} LIMIT 1 OFFSET {row}");
            let (row, value): (i64, Value) = books.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            let update = format!("UPDATE {table} SET {column} = ?2 WHERE {key} = ?1");
            let changed = books.execute(&update, params![row, flipped(value.clone(), &mut rng)]);
            drop(books);
            // Every second edit is one with a matching checksum.
            if changed.is_ok() && number % 2 == 1 {
                checksums::reseal(&world.options.location);
            }
            // A constraint of the table refuses it: two rows with one key, more held than the balance.
            if changed.is_err() {
                refused += 1;
                continue;
            }
            let what = format!("seed {}, {column} of {table} {row}, number {number}, was {value:?}", seed());
            let settled_to_expired = table == "holds" && column == "state" && value != Value::Integer(0);
            match audit(&world) {
                Err(error) if error.is_unsound() || matches!(error, StoreError::Database(_)) => found += 1,
                // A hold that ended in another way releases no money.
                Ok(()) if settled_to_expired => {}
                other => panic!("{what}: {other:?}"),
            }
        }
    }
    report(&format!("flipped bits: {found} found by the audit, {refused} refused by the tables (seed {})", seed()));
    assert!(found > 80);
}
