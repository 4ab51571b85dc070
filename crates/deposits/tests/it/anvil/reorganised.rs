//! The chain changes its mind, with real nodes' blocks. Classes 28 to 31 and 39 of the attack list.

use bankroll_chains_evm::{Bytes, U256};
use bankroll_deposits::{ScanError, ScanOutcome};

use super::{contracts, world::AnvilWorld};
use crate::world::{ALICE, BOB, address, hot};

const BUY_IN: &[(&str, u128)] = &[
    ("@house/custody/1/hot", 1_125),
    ("arena/developer/1", 25),
    ("arena/ecosystem/1", 100),
    ("arena/funds/1/alice", 1_000),
];

fn epochs(world: &AnvilWorld) -> Vec<(String, String)> {
    world.pairs("SELECT chain_state AS a, epoch AS b FROM deposits ORDER BY id")
}

#[test]
fn a_credit_goes_with_its_block_and_comes_again_with_the_next() {
    let mut world = AnvilWorld::new();
    let raw = world.sign(ALICE, Some(hot()), 1_125, Bytes::new());
    world.send(&raw);
    world.settle(3);
    world.expect_books(BUY_IN);
    world.reorg(3, &[]);
    world.settle(1);
    world.expect_books(&[]);
    assert_eq!(epochs(&world), [("orphaned_after_final".to_owned(), "1".to_owned())]);
    world.send(&raw);
    world.settle(3);
    world.expect_books(BUY_IN);
    assert_eq!(epochs(&world), [("final".to_owned(), "2".to_owned())]);
    world.expect_solvent();
}

#[test]
fn a_branch_of_the_same_height_is_seen_by_its_hash() {
    let mut world = AnvilWorld::new();
    world.pay(ALICE, 1_125);
    world.mine(1);
    world.scan_all();
    let height = world.height();
    world.reorg(1, &[]);
    assert_eq!(world.height(), height);
    assert!(matches!(world.scan().unwrap(), ScanOutcome::Moved { unwound_to: Some(_), .. }));
    assert_eq!(epochs(&world), [("orphaned".to_owned(), "1".to_owned())]);
    world.settle(5);
    world.expect_books(&[]);
    world.expect_solvent();
}

/// Which branch is right cannot be decided here: nothing is taken back, and nothing new is credited.
#[test]
fn a_branch_deeper_than_all_that_is_remembered_stops_the_scanner() {
    let mut world = AnvilWorld::new();
    world.pay(ALICE, 1_125);
    world.settle(20);
    world.expect_books(BUY_IN);
    world.reorg(20, &[]);
    world.pay(BOB, 1_125);
    world.mine(3);
    for _ in 0..3 {
        let stopped = world.scan();
        assert!(matches!(stopped, Err(ScanError::TooDeep { below: 4, window: 16 })), "{stopped:?}");
        assert!(world.book().is_idle());
    }
    assert_eq!(world.coins(hot()), U256::from(1_125), "Bob's, and Alice's is gone");
    world.expect_books(BUY_IN);
}

/// The bytes are the same, and so is the deposit; what they do depends on the branch.
#[test]
fn a_transaction_that_pays_less_on_the_new_branch_is_credited_with_that() {
    let mut world = AnvilWorld::new();
    let coins = world.create("Coins");
    world.is_of(coins, "alice");
    world.pay_to(BOB, coins, 5_000);
    world.mine(1);
    world.settle(1);
    world.call(BOB, coins, 0, "setShare(uint256)", &[1_125.into()]);
    let raw = world.sign(ALICE, Some(coins), 0, contracts::call("payShare(address)", &[hot().into()]));
    world.send(&raw);
    world.settle(3);
    world.expect_deposits(&[("internal 0 1125", "credited")]);
    world.expect_books(BUY_IN);
    let id = world.pairs("SELECT id AS a, epoch AS b FROM deposits").remove(0);
    // Bob's transaction is replaced by another one with the same number.
    world.anvil.ask("anvil_reorg", serde_json::json!([3, []]));
    world.call(BOB, coins, 0, "setShare(uint256)", &[700.into()]);
    world.send(&raw);
    world.settle(3);
    world.expect_deposits(&[("internal 0 700", "credited")]);
    world.expect_books(&[("@house/custody/1/hot", 700), ("arena/unallocated/1/alice", 700)]);
    assert_eq!(world.pairs("SELECT id AS a, epoch AS b FROM deposits"), [(id.0, "2".to_owned())]);
    world.expect_solvent();
}

#[test]
fn a_transaction_that_fails_on_the_new_branch_is_taken_back_for_good() {
    let mut world = AnvilWorld::new();
    let coins = world.create("Coins");
    world.is_of(coins, "alice");
    world.pay_to(BOB, coins, 5_000);
    world.settle(1);
    let share = world.sign(BOB, Some(coins), 0, contracts::call("setShare(uint256)", &[1_125.into()]));
    let raw = world.sign(ALICE, Some(coins), 0, contracts::call("payShareOrRevert(address)", &[hot().into()]));
    world.send(&share);
    world.send(&raw);
    world.settle(3);
    world.expect_books(BUY_IN);
    // In one block again, in the other order.
    world.reorg(3, &[(&raw, 0), (&share, 0)]);
    world.settle(3);
    world.expect_deposits(&[("internal 0 1125", "reversed")]);
    assert_eq!(epochs(&world), [("orphaned_after_final".to_owned(), "1".to_owned())]);
    world.expect_books(&[]);
    world.expect_solvent();
}

/// The index of a log in its block changes with the transactions before it.
#[test]
fn a_token_deposit_behind_other_logs_of_its_new_block_is_the_same_deposit() {
    let mut world = AnvilWorld::new();
    let token = world.list("Token");
    for person in [ALICE, BOB] {
        world.mint(token, address(person), 10_000);
    }
    world.settle(1);
    let to = |person, value: u64| [address(person).into(), value.into()];
    let deposit =
        world.sign(ALICE, Some(token), 0, contracts::call("transfer(address,uint256)", &[hot().into(), 900.into()]));
    let sent = world.send(&deposit);
    world.settle(3);
    let before = world.pairs("SELECT id AS a, epoch AS b FROM deposits");
    assert_eq!(world.receipt(sent)["logs"][0]["logIndex"], "0x0");
    let other = world.sign(BOB, Some(token), 0, contracts::call("transfer(address,uint256)", &to(ALICE, 5)));
    world.reorg(3, &[(&other, 0), (&deposit, 0)]);
    assert_eq!(world.receipt(sent)["logs"][0]["logIndex"], "0x1");
    world.settle(3);
    let after = world.pairs("SELECT id AS a, epoch AS b FROM deposits");
    assert_eq!(after, [(before[0].0.clone(), "2".to_owned())]);
    world.expect_deposits(&[("token 0 900", "credited")]);
    world.expect_books(&[("@house/custody/2/hot", 900), ("arena/unallocated/2/alice", 900)]);
    world.expect_solvent();
}
