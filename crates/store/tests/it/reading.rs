//! Reading without the writer: accounts, receipts, and audits that find edits.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bankroll_ledger::{AccountId, AccountKind, AccountName, Action, Namespace, Principal, Seq, Settler};
use bankroll_store::{AccountFilter, Audit, StoreError};

use bankroll_testkit::checksums;

use crate::world::{World, hold, moving, request};

#[test]
fn accounts_are_listed_in_pages_and_filtered() {
    let world = World::new();
    world.account(AccountKind::World, None);
    for player in ["alice", "bob", "carol"] {
        world.player(player, if player == "bob" { 0 } else { 5 });
    }
    let list = |filter: AccountFilter, most: usize| -> Vec<String> {
        world.reader().accounts(&filter, most).unwrap().iter().map(|account| account.name.to_string()).collect()
    };
    let funds = AccountFilter { kind: Some(AccountKind::Funds), ..AccountFilter::default() };
    assert_eq!(list(funds.clone(), 2), ["arena/funds/1/alice", "arena/funds/1/bob"]);
    let second = world.reader().accounts(&funds, 2).unwrap()[1].id;
    assert_eq!(list(AccountFilter { after: Some(second), ..funds.clone() }, 2), ["arena/funds/1/carol"]);
    assert_eq!(list(AccountFilter { non_zero: true, ..funds }, 9), ["arena/funds/1/alice", "arena/funds/1/carol"]);
}

#[test]
fn a_receipt_proves_a_record_without_the_ledger() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    for amount in 1..=9 {
        world.play(vec![moving(alice, arena, amount)]);
    }
    let last = world.reader().head().unwrap().seq;
    for seq in (1..=last.0).map(Seq) {
        let (receipt, head) = world.reader().receipt(seq).unwrap().unwrap();
        assert!(receipt.proves_under(&head));
        let (_, other_head) = world.reader().receipt(Seq(1)).unwrap().unwrap();
        assert_eq!(receipt.proves_under(&other_head), seq == Seq(1));
    }
    assert_eq!(world.reader().receipt(last.next()).unwrap(), None);
}

/// Closes the books, edits them by hand, and audits them.
fn audit_after(edit: &str, resealed: bool) -> Result<(), StoreError> {
    let mut world = World::in_folder(|_| {});
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    world.play(vec![moving(alice, arena, 60)]);
    world.ledger.take().unwrap().close();
    let database = rusqlite::Connection::open(world.folder.path().join("books.db")).unwrap();
    database.execute_batch(edit).unwrap();
    drop(database);
    if resealed {
        checksums::reseal(&world.options.location);
    }
    Audit::new(world.reader()).run(|_| {}).map(drop)
}

#[test]
fn an_audit_finds_edited_rows() {
    assert!(audit_after("SELECT 1", true).is_ok());
    let edits = [
        "UPDATE balances SET balance = x'00000000000000000000000000000029' WHERE id = 2",
        "UPDATE balances SET held = x'00000000000000000000000000000001' WHERE id = 2",
        "DELETE FROM balances WHERE id = 3",
        "UPDATE accounts SET may_transfer = 127 WHERE id = 2",
        "UPDATE assets SET decimals = 6",
        "INSERT INTO reversals (original, reversal, checksum) VALUES (5, 6, 0)",
        "DROP TRIGGER journal_keeps_what_it_has; UPDATE journal SET record = CAST(substr(record, 1, length(record) - 1) || x'29' AS BLOB) WHERE seq = 6",
        "DROP TRIGGER journal_forgets_nothing; DELETE FROM journal WHERE seq = 3",
        "DROP TRIGGER batches_keep_what_they_have; UPDATE batches SET at = at + 1 WHERE number = 2",
        "DROP TRIGGER batches_forget_nothing; DELETE FROM batches WHERE number = 2",
    ];
    for edit in edits {
        // By the row's checksum; and by the journal, if the checksum was edited too.
        let found = audit_after(edit, false);
        assert!(found.as_ref().is_err_and(StoreError::is_unsound), "{edit}: {found:?}");
        let found = audit_after(edit, true);
        assert!(found.as_ref().is_err_and(StoreError::is_unsound), "{edit}, resealed: {found:?}");
        let is_row =
            matches!(&found, Err(StoreError::RowDamaged { what, .. }) if what.contains("not what was written"));
        assert!(!is_row, "{edit}: the checksum matches: {found:?}");
    }
}

#[test]
fn the_journal_refuses_to_be_changed() {
    let mut world = World::in_folder(|_| {});
    world.player("alice", 100);
    world.ledger.take().unwrap().close();
    let database = rusqlite::Connection::open(world.folder.path().join("books.db")).unwrap();
    for edit in
        ["UPDATE journal SET record = x''", "DELETE FROM journal", "UPDATE batches SET at = 0", "DELETE FROM batches"]
    {
        let refused = database.execute_batch(edit).unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{edit}: {refused}");
    }
    let negative = "UPDATE balances SET held = x'000000000000000000000000000000ff'";
    assert!(database.execute_batch(negative).is_err(), "no account holds more than it has, says the store too");
}

/// Lookups are confirmed by a second one; what a writer adds between the two is no damage.
#[test]
fn a_reader_finds_no_damage_in_what_a_writer_adds_meanwhile() {
    let world = World::new();
    let (alice, custody) = (world.player("alice", 1_000), world.account(AccountKind::Custody, Some("hot")));
    let name = |number: u64| -> AccountName { format!("arena/funds/1/p{number}").parse().unwrap() };
    let (opened, is_done) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..150 {
                opened.store(number, Ordering::SeqCst);
                world.ledger().open_accounts(&Principal::System, vec![name(number)]).unwrap()[0].unwrap();
                let held = world.play(vec![hold(alice, 1, Some(1_000_000 + number), Settler::Holder)]);
                let deposit = world.deposit(moving(custody, alice, 1)).seq.unwrap();
                let key = world.fresh_key(Namespace::Deposits);
                let mut reversal = request(key, Principal::Indexer, Vec::new());
                reversal.action = Action::Reverse(deposit);
                world.ledger().apply(reversal).unwrap();
                held.effects().ok();
                world.set_time(1_000_000 + number);
            }
            is_done.store(true, Ordering::SeqCst);
        });
        let reader = world.reader();
        let (mut found, mut rounds) = (0, 0);
        while !is_done.load(Ordering::SeqCst) || rounds == 0 {
            let number = opened.load(Ordering::SeqCst);
            found += u64::from(reader.account_named(&name(number)).unwrap().is_some());
            let accounts = reader.accounts(&AccountFilter::default(), usize::MAX).unwrap();
            reader.account(AccountId(accounts.len() as u64 + 1)).unwrap();
            reader.open_holds(alice).unwrap();
            let head = reader.head().unwrap();
            reader.record(head.seq.next()).unwrap();
            reader.receipt(head.seq).unwrap().unwrap();
            reader.journal_after(Seq(head.seq.0 - 1), 10).unwrap();
            for seq in head.seq.0 - 3..head.seq.0 + 3 {
                reader.reversal_of(Seq(seq)).unwrap();
            }
            reader.assets().unwrap();
            rounds += 1;
        }
        assert!(found > 0);
    });
    world.audit();
}
