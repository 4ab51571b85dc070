//! What is watched, from when, and what is not in a block yet. Classes 42 and 43 of the attack list.

use bankroll_chains_simulated::Payment;
use bankroll_deposits::WatchedAddress;

use super::world::AnvilWorld;
use crate::world::{ALICE, HOT, address, hot, key};

const LATE: u64 = 110;

#[test]
fn an_address_counts_from_the_block_that_its_entry_names() {
    let mut world = AnvilWorld::new();
    world.pay_to(ALICE, address(LATE), 100);
    world.settle(1);
    let watched = world.config.watch.addresses[&hot()].clone();
    let custody = "@house/custody/1/late".parse().unwrap();
    let since = world.height() + 2;
    world.config.watch.addresses.insert(address(LATE), WatchedAddress { custody, since, ..watched });
    world.pay_to(ALICE, address(LATE), 200);
    world.mine(1);
    assert_eq!(world.height() + 1, since);
    world.pay_to(ALICE, address(LATE), 400);
    world.settle(3);
    world.expect_deposits(&[("native 0 400", "credited")]);
    world.expect_accounts(&[("@house/custody/1/late", 400), ("arena/unallocated/1/alice", 400)]);
}

/// The first payment of this number waits and is replaced: it was never in a block, so it was never seen.
#[test]
fn a_payment_that_is_replaced_before_its_block_is_never_seen() {
    let mut world = AnvilWorld::new();
    world.pay(ALICE, 1_125);
    assert!(world.settle(0).is_empty());
    world.expect_deposits(&[]);
    let nonce = 0;
    let instead = Payment::new(1337, nonce, address(HOT + 1).0.into(), bankroll_chains_evm::U256::from(1_125));
    let instead = key(ALICE).sign(&instead.paying(200_000_000_000, 3_000_000_000));
    world.send(&instead);
    world.settle(3);
    world.expect_deposits(&[]);
    world.expect_books(&[]);
    world.expect_solvent();
}
