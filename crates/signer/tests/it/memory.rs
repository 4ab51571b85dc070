//! Which memories are refused, and that the log cannot be changed.

use std::{fs, path::Path};

use bankroll_orders::{Address, MemoryId, SignerRefusal, StopReason};
use bankroll_signer::{
    LocalKey, Memory, Signer,
    memory::{MemorySnapshot, OpenError},
};
use fastrand::Rng;
use rusqlite::Connection;
use zeroize::Zeroizing;

use crate::world::{NOON, Soak, World, at, cancel, key, pay, pay_token, policy, print_line, seed, wallet};

/// A closed memory with every kind of entry.
fn lived_in() -> World {
    let mut world = World::new();
    world.signs(&pay("wd-0", 0, 100));
    world.signs(&at(&pay("wd-0", 0, 100), 90, 9));
    world.signs(&pay_token("wd-1", 1, 5));
    world.signs(&at(&cancel("wd-1", 1), 90, 9));
    world.revoke("wd-2").unwrap();
    world.signer.take().unwrap().close().unwrap();
    world
}

#[track_caller]
fn damaged(world: &World, says: &str) {
    match Memory::open(&world.path()) {
        Err(OpenError::Damaged { what, .. }) => assert!(what.contains(says), "{what}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_key_without_its_history_does_not_sign() {
    let world = lived_in();
    let missing = Memory::open(&world.folder.path().join("nowhere.db"));
    assert!(matches!(missing, Err(OpenError::NoMemory { .. })));
    // An empty file counts as missing.
    let empty = world.folder.path().join("empty.db");
    fs::write(&empty, "").unwrap();
    assert!(matches!(Memory::open(&empty), Err(OpenError::NoMemory { .. })));
    Memory::create(&empty, MemoryId([2; 16]), &[wallet()], NOON).unwrap();
    // An existing memory is never recreated.
    let again = Memory::create(&world.path(), MemoryId([2; 16]), &[wallet()], NOON);
    assert!(matches!(again, Err(OpenError::Exists { .. })));
}

#[test]
fn a_memory_of_another_key_is_refused() {
    let world = lived_in();
    let stranger = LocalKey::from_bytes(&Zeroizing::new([0x43; 32])).unwrap();
    let address = stranger.address();
    let refused = Signer::new(policy(), vec![key(), stranger], Memory::open(&world.path()).unwrap());
    match refused {
        Err(OpenError::OtherKey { wallet: whose, known, .. }) => assert_eq!((whose, known), (address, vec![wallet()])),
        other => panic!("{other:?}"),
    }
    // The operator confirms that the key never signed anything; then its history starts.
    let mut memory = Memory::open(&world.path()).unwrap();
    memory.adopt(address, NOON).unwrap();
    let count = memory.head().count;
    drop(memory);
    let mut memory = Memory::open(&world.path()).unwrap();
    memory.adopt(address, NOON).unwrap();
    assert_eq!(memory.head().count, count);
    assert!(memory.wallets().contains(&address));
}

#[test]
fn a_file_that_is_something_else_is_refused() {
    let world = lived_in();
    fs::write(world.path(), "not a database at all, but long enough to be looked at as if it were one".repeat(20))
        .unwrap();
    assert!(matches!(Memory::open(&world.path()), Err(OpenError::Damaged { .. })));
    fs::remove_file(world.path()).unwrap();
    Connection::open(world.path()).unwrap().execute_batch("CREATE TABLE other (a)").unwrap();
    damaged(&world, "not marked as a signer's memory");
}

#[test]
fn a_memory_of_a_later_version_is_refused() {
    let world = lived_in();
    Connection::open(world.path()).unwrap().execute_batch("PRAGMA user_version = 2").unwrap();
    assert!(matches!(Memory::open(&world.path()), Err(OpenError::TooNew { found: 2, known: 1, .. })));
}

#[test]
fn the_log_cannot_be_changed_from_within() {
    let world = lived_in();
    let connection = Connection::open(world.path()).unwrap();
    for statement in ["UPDATE log SET at = at", "DELETE FROM log", "UPDATE memory SET id = id", "DELETE FROM memory"] {
        let refused = connection.execute_batch(statement).unwrap_err().to_string();
        assert!(refused.contains("the log is never") || refused.contains("a memory stays itself"), "{refused}");
    }
}

#[test]
fn every_edit_of_the_file_is_detected() {
    let edits = [
        ("UPDATE log SET body = (SELECT body FROM log WHERE seq = 4) WHERE seq = 2", "entry 2: "),
        ("UPDATE log SET at = x'0000000000000001' WHERE seq = 3", "entry 3: its hash does not follow"),
        ("UPDATE log SET nonce = x'0000000000000063' WHERE seq = 2", "entry 2: its columns contradict its body"),
        ("UPDATE log SET paid = x'00000000000000000000000000000000' WHERE seq = 2", "entry 2: its columns"),
        ("UPDATE log SET intent = 'wd-9' WHERE seq = 2", "entry 2: its columns"),
        ("UPDATE log SET order_id = NULL WHERE seq = 2", "entry 2: its columns"),
        ("DELETE FROM log WHERE seq = 3", "entry 4: it should be entry 3"),
        ("UPDATE log SET hash = zeroblob(32) WHERE seq = 6", "entry 6: its hash"),
        ("UPDATE memory SET id = x'00000000000000000000000000000000'", "entry 1: its hash does not follow"),
        ("DELETE FROM memory", "Query returned no rows"),
    ];
    for (edit, says) in edits {
        let world = lived_in();
        let connection = Connection::open(world.path()).unwrap();
        let triggers = ["log_is_not_changed", "log_is_not_cut", "memory_is_not_changed", "memory_is_not_cut"];
        let mut script = String::from("PRAGMA foreign_keys = OFF;");
        let mut restore = String::new();
        for trigger in triggers {
            let sql: String = connection
                .query_row("SELECT sql FROM sqlite_schema WHERE name = ?", [trigger], |row| row.get(0))
                .unwrap();
            script.push_str(&format!("DROP TRIGGER {trigger};"));
            restore.push_str(&format!("{sql};"));
        }
        connection.execute_batch(&format!("{script}{edit};{restore}")).unwrap();
        drop(connection);
        damaged(&world, says);
    }
    let world = lived_in();
    Connection::open(world.path()).unwrap().execute_batch("DROP TRIGGER log_is_not_cut").unwrap();
    damaged(&world, "its tables are not as they were made");
}

/// Refused, or the byte is unused: the same entries, the same answers.
#[test]
fn every_byte_of_the_file_matters_or_is_unused() {
    let world = lived_in();
    let sound = fs::read(world.path()).unwrap();
    let head = Memory::open(&world.path()).unwrap().head();
    let mut rng = Rng::with_seed(seed());
    let mut places: Vec<usize> = (0..sound.len()).collect();
    rng.shuffle(&mut places);
    let (soak, mut refused, mut nothing) = (Soak::unless_soaking(2_500), 0, 0);
    for place in places {
        if !soak.goes_on(refused + nothing) {
            break;
        }
        let mut bytes = sound.clone();
        bytes[place] ^= rng.u8(1..);
        replace(&world.path(), &bytes);
        match Memory::open(&world.path()) {
            Err(_) => refused += 1,
            Ok(memory) => {
                assert_eq!(memory.head(), head, "byte {place}: another history");
                answers_as_before(&world, memory, &format!("seed {}, byte {place}", seed()));
                nothing += 1;
            }
        }
    }
    print_line(&format!(
        "memory of {} bytes, {} flipped: {refused} refused, {nothing} unused (seed {})",
        sound.len(),
        refused + nothing,
        seed()
    ));
    assert!(refused > 100);
}

fn answers_as_before(world: &World, memory: Memory, what: &str) {
    let mut signer = Signer::new(policy(), vec![key()], memory).unwrap();
    let mut ask = |order: &bankroll_orders::Order| {
        let request =
            bankroll_orders::SignerRequest::Sign { order: order.clone(), approvals: vec![], head: world.head };
        match signer.handle(&request, NOON) {
            bankroll_orders::SignerAnswer::Signed(signed) => Ok(signed.raw),
            bankroll_orders::SignerAnswer::Refused { refusal, .. } => Err(refusal),
            other => panic!("{what}: {other:?}"),
        }
    };
    let paid = bankroll_signer::evm::sign(&pay("wd-0", 0, 100), &key()).unwrap().raw;
    assert_eq!(ask(&pay("wd-0", 0, 100)), Ok(paid), "{what}");
    assert_eq!(ask(&at(&pay("wd-0", 0, 101), 200, 20)), Err(SignerRefusal::IntentMeansOther), "{what}");
    assert_eq!(ask(&at(&pay("wd-9", 0, 100), 200, 20)), Err(SignerRefusal::NonceTaken), "{what}");
    assert_eq!(ask(&pay_token("wd-1", 1, 5)), Err(SignerRefusal::IntentCancelled), "{what}");
    assert_eq!(ask(&pay("wd-2", 5, 1)), Err(SignerRefusal::IntentRevoked), "{what}");
}

/// SQLite's own log, left by a killed process. SQLite drops what it cannot verify there, and everything after it: the
/// memory is then older than earlier answers, and the next request detects it.
#[test]
fn every_byte_of_sqlites_log_is_verified_or_its_loss_detected() {
    let mut world = World::new();
    world.signs(&pay("wd-0", 0, 100));
    world.signs(&pay("wd-1", 1, 100));
    let (file, log) = (world.path(), world.folder.path().join("memory.db-wal"));
    let (main, wal) = (fs::read(&file).unwrap(), fs::read(&log).unwrap());
    assert!(wal.len() > 4_096, "nothing was left in the log");
    world.signer = None;
    let mut rng = Rng::with_seed(seed());
    let (soak, mut refused, mut older, mut nothing) = (Soak::unless_soaking(400), 0, 0, 0);
    while soak.goes_on(refused + older + nothing) {
        let place = rng.usize(0..wal.len());
        let mut bytes = wal.clone();
        bytes[place] ^= rng.u8(1..);
        replace(&file, &main);
        fs::write(&log, bytes).unwrap();
        let Ok(memory) = Memory::open(&file) else {
            refused += 1;
            continue;
        };
        if memory.head().count == world.head.count {
            nothing += 1;
            continue;
        }
        older += 1;
        let mut signer = Signer::new(policy(), vec![key()], memory).unwrap();
        let request =
            bankroll_orders::SignerRequest::Sign { order: pay("wd-2", 1, 100), approvals: vec![], head: world.head };
        let bankroll_orders::SignerAnswer::Refused { refusal, .. } = signer.handle(&request, NOON) else {
            panic!("byte {place}")
        };
        assert_eq!(refusal, SignerRefusal::Stopped(StopReason::MemoryOlder), "byte {place}");
    }
    print_line(&format!(
        "SQLite's log: {refused} refused, {older} older and detected, {nothing} unused (seed {})",
        seed()
    ));
    assert!(older > 0);
}

#[test]
fn a_snapshot_does_not_change_the_memory() {
    let world = lived_in();
    let before = fs::read(world.path()).unwrap();
    let past = MemorySnapshot::read(&world.path(), 3).unwrap();
    assert_eq!(past.wallets, [wallet()]);
    assert_eq!(past.newest.iter().map(|(seq, ..)| *seq).collect::<Vec<_>>(), [8, 9, 10]);
    assert_eq!(fs::read(world.path()).unwrap(), before);
    assert_ne!(past.wallets[0], Address::ZERO);
}

/// Restores the file alone, without the other files of an earlier attempt.
fn replace(path: &Path, bytes: &[u8]) {
    for other in ["memory.db-wal", "memory.db-shm"] {
        let _ = fs::remove_file(path.with_file_name(other));
    }
    fs::write(path, bytes).unwrap();
}
