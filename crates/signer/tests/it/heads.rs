//! Callers send the newest head. A memory that lacks it has lost entries, and stops.

use std::fs;

use bankroll_orders::{MemoryHead, MemoryId, SignerAnswer, SignerRefusal, SignerRequest, StopReason};
use bankroll_signer::{LocalKey, Memory, Signer};
use zeroize::Zeroizing;

use crate::world::{NOON, World, key, pay, policy, wallet};

#[test]
fn an_old_copy_of_the_memory_stops_the_signer_permanently() {
    let mut world = World::new();
    world.signs(&pay("wd-1", 0, 100));
    world.signer.take().unwrap().close().unwrap();
    let old = fs::read(world.path()).unwrap();
    world.restart();
    world.signs(&pay("wd-2", 1, 100));
    world.signer.take().unwrap().close().unwrap();
    fs::write(world.path(), old).unwrap();

    world.restart();
    let stopped = SignerRefusal::Stopped(StopReason::MemoryOlder);
    let newest = world.head;
    world.refuses(&pay("wd-3", 1, 100), stopped);
    // Even for orders in its memory, for a caller with an older head, and after a restart.
    world.refuses(&pay("wd-1", 0, 100), stopped);
    world.restart();
    world.refuses(&pay("wd-1", 0, 100), stopped);
    assert_eq!(world.revoke("wd-4"), Err(stopped));
    let SignerAnswer::Status(status) = world.answer(&SignerRequest::Status { wallet: wallet() }) else {
        panic!("no status")
    };
    assert_eq!(status.stopped, Some(StopReason::MemoryOlder));
    assert!(newest.count > 3);
}

#[test]
fn a_copy_that_continued_by_itself_is_detected() {
    let mut world = World::new();
    world.signs(&pay("wd-1", 0, 100));
    world.signer.take().unwrap().close().unwrap();
    let copy = fs::read(world.path()).unwrap();
    world.restart();
    world.signs(&pay("wd-2", 1, 100));
    let seen = world.head;
    world.signer.take().unwrap().close().unwrap();
    // A caller without a head starts with the copy, and signs as many orders.
    fs::write(world.path(), copy).unwrap();
    world.restart();
    let SignerAnswer::Status(status) = world.answer(&SignerRequest::Status { wallet: wallet() }) else {
        panic!("no status")
    };
    world.head = status.head;
    world.signs(&pay("wd-3", 1, 100));
    assert_eq!(world.head.count, seen.count);
    world.head = seen;
    world.refuses(&pay("wd-2", 1, 100), SignerRefusal::Stopped(StopReason::MemoryForked));
}

#[test]
fn another_memory_of_the_same_key_is_detected() {
    let mut world = World::new();
    world.signs(&pay("wd-1", 0, 100));
    world.signer = None;
    let path = world.folder.path().join("another.db");
    let memory = Memory::create(&path, MemoryId([2; 16]), &[wallet()], NOON).unwrap();
    world.signer = Some(Signer::new(policy(), vec![key()], memory).unwrap());
    world.refuses(&pay("wd-2", 0, 100), SignerRefusal::Stopped(StopReason::MemoryOther));
}

#[test]
fn a_head_without_the_seal_cannot_stop_the_signer() {
    let mut world = World::new();
    let sound = world.head;
    let other = LocalKey::from_bytes(&Zeroizing::new([0x43; 32])).unwrap();
    let forged = [
        MemoryHead { count: 1_000, ..sound },
        MemoryHead { memory: MemoryId([9; 16]), ..sound },
        MemoryHead { hash: [9; 32], ..sound },
        MemoryHead { seal: [0; 32], ..sound },
        other.seal(MemoryHead { count: 1_000, ..sound }),
    ];
    for head in forged {
        world.head = head;
        world.refuses(&pay("wd-1", 0, 100), SignerRefusal::HeadForged);
    }
    world.head = sound;
    world.signs(&pay("wd-1", 0, 100));
}

#[test]
fn older_heads_are_accepted() {
    let mut world = World::new();
    let first = world.head;
    world.signs(&pay("wd-1", 0, 100));
    world.signs(&pay("wd-2", 1, 100));
    world.head = first;
    world.signs(&pay("wd-3", 2, 100));
}
