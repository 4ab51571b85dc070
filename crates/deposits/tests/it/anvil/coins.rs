//! Coins: what arrived is booked once, and what only looks like it is nothing. Section C.1 of the attack list.

use bankroll_chains_evm::{Address, Bytes, U256};
use serde_json::json;

use super::{
    contracts,
    world::{AnvilWorld, MAKER, TRACERS},
};
use crate::world::{ALICE, BOB, STRANGER, address, hot};

const BUY_IN: &[(&str, u128)] = &[
    ("@house/custody/1/hot", 1_125),
    ("arena/developer/1", 25),
    ("arena/ecosystem/1", 100),
    ("arena/funds/1/alice", 1_000),
];

#[test]
fn a_transaction_that_fails_deposits_nothing_of_its_value() {
    let mut world = AnvilWorld::new();
    world.put_code(hot(), &"0x60006000fd".parse().unwrap());
    let payment = world.pay(ALICE, 1_125);
    world.mine(1);
    assert!(!world.has_succeeded(payment));
    world.put_code(hot(), &Bytes::new());
    world.settle(3);
    world.expect_deposits(&[]);
    world.expect_books(&[]);
    world.expect_solvent();
}

#[test]
fn what_a_contract_sends_is_nothing_if_any_call_above_it_fails() {
    for tracer in TRACERS {
        let mut world = AnvilWorld::tracing(tracer);
        let coins = world.create("Coins");
        let caught = world.call(ALICE, coins, 1_125, "payAndCatch(address)", &[hot().into()]);
        let burnt = world.call(ALICE, coins, 1_125, "payAndBurn(address)", &[hot().into()]);
        let reverted = world.call(ALICE, coins, 1_125, "payAndRevert(address,uint256)", &[hot().into(), 1_125.into()]);
        world.mine(1);
        assert_eq!([caught, burnt, reverted].map(|sent| world.has_succeeded(sent)), [true, false, false]);
        world.settle(3);
        world.expect_deposits(&[]);
        world.expect_books(&[]);
        world.expect_solvent();
    }
}

/// Frames that name our address and a value, and move nothing to it.
#[test]
fn callcode_delegatecall_and_a_call_without_funds_deposit_nothing() {
    for tracer in TRACERS {
        let mut world = AnvilWorld::tracing(tracer);
        let coins = world.create("Coins");
        for function in ["callcode(address)", "delegate(address)", "payTooMuch(address)"] {
            let sent = world.call(ALICE, coins, 1_125, function, &[hot().into()]);
            world.mine(1);
            assert!(world.has_succeeded(sent), "{function}");
        }
        world.settle(3);
        world.expect_deposits(&[]);
        world.expect_books(&[]);
        assert_eq!(world.coins(coins), U256::from(3 * 1_125));
        world.expect_solvent();
    }
}

#[test]
fn what_a_contract_leaves_at_its_end_is_a_deposit_unless_it_is_reverted() {
    for tracer in TRACERS {
        let mut world = AnvilWorld::tracing(tracer);
        let (leaving, faint) = (world.create("Leaving"), world.create("Leaving"));
        world.is_of(leaving, "alice");
        world.is_of(faint, "alice");
        world.call(ALICE, leaving, 1_125, "leave(address)", &[hot().into()]);
        let caught = world.call(BOB, faint, 1_125, "leaveAndCatch(address)", &[hot().into()]);
        world.settle(3);
        assert!(world.has_succeeded(caught));
        world.expect_deposits(&[("internal 0 1125", "credited")]);
        world.expect_books(BUY_IN);
        world.expect_solvent();
    }
}

/// `to` is null: that is no address, neither ours nor that of all others. What the constructor pays counts.
#[test]
fn a_transaction_that_creates_a_contract_pays_nobody_but_its_constructor_may() {
    for tracer in TRACERS {
        let mut world = AnvilWorld::tracing(tracer);
        world.create_with("Born", 1_300, &[address(STRANGER).into()]);
        world.settle(3);
        world.expect_deposits(&[]);
        world.expect_books(&[]);
        world.create_with("Born", 1_300, &[hot().into()]);
        world.settle(3);
        // One that ends in its constructor is created and gone in one transaction.
        world.create_with("Gone", 700, &[hot().into()]);
        world.settle(3);
        world.expect_deposits(&[("internal 0 650", "suspense"), ("internal 0 700", "suspense")]);
        world.expect_books(&[("@house/custody/1/hot", 1_350), ("@house/suspense/1", 1_350)]);
        world.expect_solvent();
    }
}

#[test]
fn two_equal_payments_of_one_transaction_are_two_deposits() {
    for tracer in TRACERS {
        let mut world = AnvilWorld::tracing(tracer);
        let coins = world.create("Coins");
        world.is_of(coins, "alice");
        world.call(ALICE, coins, 2_250, "payTwice(address)", &[hot().into()]);
        world.settle(3);
        world.expect_deposits(&[("internal 0 1125", "credited"), ("internal 1 1125", "credited")]);
        world.expect_books(&[
            ("@house/custody/1/hot", 2_250),
            ("arena/developer/1", 50),
            ("arena/ecosystem/1", 200),
            ("arena/funds/1/alice", 2_000),
        ]);
        world.expect_solvent();
    }
}

#[test]
fn a_payment_with_calldata_is_a_deposit() {
    let mut world = AnvilWorld::new();
    let raw = world.sign(ALICE, Some(hot()), 1_125, contracts::call("setShare(uint256)", &[7.into()]));
    world.send(&raw);
    world.settle(3);
    world.expect_deposits(&[("native 0 1125", "credited")]);
    world.expect_books(BUY_IN);
    world.expect_solvent();
}

#[test]
fn a_value_of_zero_is_no_deposit() {
    let mut world = AnvilWorld::new();
    let coins = world.create("Coins");
    world.pay(ALICE, 0);
    world.call(ALICE, coins, 0, "payTwice(address)", &[hot().into()]);
    world.settle(3);
    world.expect_deposits(&[]);
    world.expect_books(&[]);
}

#[test]
fn money_between_wallets_of_ours_is_no_deposit() {
    const COLD: u64 = 101;
    const PAYOUTS: u64 = 102;
    let mut world = AnvilWorld::new();
    let watched = world.config.watch.addresses[&hot()].clone();
    let custody = "@house/custody/1/cold".parse().unwrap();
    world.config.watch.addresses.insert(address(COLD), bankroll_deposits::WatchedAddress { custody, ..watched });
    world.config.watch.own.insert(address(PAYOUTS));
    for wallet in [hot(), address(COLD), address(PAYOUTS)] {
        world.give(wallet);
    }
    world.pay(crate::world::HOT, 500);
    world.pay(COLD, 700);
    world.pay(PAYOUTS, 300);
    world.pay_to(crate::world::HOT, address(COLD), 400);
    world.pay(ALICE, 1_125);
    world.settle(3);
    world.expect_deposits(&[
        ("native 0 500", "none"),
        ("native 0 700", "none"),
        ("native 0 300", "none"),
        ("native 0 400", "none"),
        ("native 0 1125", "credited"),
    ]);
    world.expect_books(BUY_IN);
}

/// What leaves our wallet in the block of a deposit, with its fees and those of failures, is no doubt about it.
#[test]
fn payouts_in_the_block_of_a_deposit_do_not_change_it() {
    let mut world = AnvilWorld::new();
    let coins = world.create("Coins");
    world.is_of(coins, "alice");
    world.give(hot());
    world.mine(1);
    let before = world.coins(hot());
    let paid = world.pay_to(crate::world::HOT, address(BOB), 7_000);
    let failed = world.call(crate::world::HOT, coins, 10, "payAndRevert(address,uint256)", &[hot().into(), 10.into()]);
    world.call(ALICE, coins, 1_125, "pay(address,uint256)", &[hot().into(), 1_125.into()]);
    world.settle(3);
    assert_eq!([paid, failed].map(|sent| world.has_succeeded(sent)), [true, false]);
    assert!(world.coins(hot()) < before, "fees are more than what came");
    world.expect_deposits(&[("internal 0 1125", "credited")]);
    world.expect_books(BUY_IN);
}

/// A tip to the block's producer, a withdrawal of the consensus layer, a mint: no transaction paid us.
#[test]
fn coins_that_no_transaction_brings_are_booked_to_no_player() {
    let mut world = AnvilWorld::new();
    let coins = world.create("Coins");
    world.is_of(coins, "alice");
    world.settle(1);
    world.anvil.ask("anvil_setCoinbase", json!([hot().lower_hex()]));
    world.pay_to(BOB, address(STRANGER), 5);
    world.settle(1);
    world.anvil.ask("anvil_setCoinbase", json!([address(MAKER).lower_hex()]));
    world.anvil.ask("anvil_addBalance", json!([hot().lower_hex(), "0x2710"]));
    world.settle(3);
    // The tip of a plain payment is 1 gwei for each unit of gas.
    let unexplained = U256::from(21_000_u64 * 1_000_000_000 + 10_000);
    assert_eq!(world.coins(hot()), unexplained);
    world.expect_deposits(&[]);
    world.expect_books(&[]);
    // Where the header vouches for a payment, it is exact in such a block as well.
    world.anvil.ask("anvil_setCoinbase", json!([hot().lower_hex()]));
    world.pay(ALICE, 1_125);
    world.settle(1);
    world.anvil.ask("anvil_setCoinbase", json!([address(MAKER).lower_hex()]));
    world.settle(3);
    world.expect_books(BUY_IN);
}

/// What a contract moved is known by the balance only, and that has grown by more. What the header vouches for is
/// credited all the same.
#[test]
fn a_contracts_payment_in_a_block_with_a_tip_is_in_suspense_with_all_that_came() {
    let mut world = AnvilWorld::new();
    let coins = world.create("Coins");
    world.is_of(coins, "alice");
    world.anvil.ask("anvil_setCoinbase", json!([hot().lower_hex()]));
    world.call(ALICE, coins, 1_125, "pay(address,uint256)", &[hot().into(), 1_125.into()]);
    world.pay(BOB, 1_000);
    world.mine(1);
    world.anvil.ask("anvil_setCoinbase", json!([address(MAKER).lower_hex()]));
    world.settle(3);
    let doubtful = u128::try_from(world.coins(hot())).unwrap() - 1_000;
    assert!(doubtful > 2 * 21_000 * 1_000_000_000, "both tips");
    world.expect_deposits(&[(&format!("internal 0 {doubtful}"), "suspense"), ("native 0 1000", "credited")]);
    world.expect_books(&[
        ("@house/custody/1/hot", doubtful + 1_000),
        ("@house/suspense/1", doubtful),
        ("arena/unallocated/1/bob", 1_000),
    ]);
    world.expect_solvent();
}

/// EIP-7708 lets an address of the system log every move of coins, in the form of a token's transfer. It is no token.
#[test]
fn a_log_of_the_system_address_is_no_second_deposit() {
    let mut world = AnvilWorld::new();
    let system = Address([&[0xff; 19][..], &[0xfe]].concat().try_into().unwrap());
    world.put_code(system, &contracts::runtime("Emitter"));
    world.list("Token");
    let log = [address(ALICE).into(), hot().into(), 1_125.into()];
    world.call(BOB, system, 0, "emitTransfer(address,address,uint256)", &log);
    world.pay(ALICE, 1_125);
    assert_eq!(world.settle(3), []);
    world.expect_deposits(&[("native 0 1125", "credited")]);
    world.expect_books(BUY_IN);
    world.expect_solvent();
}

#[test]
fn each_player_pays_the_same_address_and_is_credited_their_own() {
    let mut world = AnvilWorld::new();
    world.pay(ALICE, 1_125);
    world.pay(BOB, 1_130);
    world.pay(STRANGER, 1_125);
    world.settle(3);
    world.expect_books(&[
        ("@house/custody/1/hot", 3_380),
        ("@house/suspense/1", 1_125),
        ("arena/developer/1", 50),
        ("arena/ecosystem/1", 200),
        ("arena/funds/1/alice", 1_000),
        ("arena/funds/1/bob", 1_000),
        ("arena/unallocated/1/bob", 5),
    ]);
    world.expect_solvent();
}
