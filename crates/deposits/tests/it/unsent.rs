//! Coins that no transaction sends, and logs of coins that one did: what anvil cannot make. Classes 12 and 14 of the
//! attack list.

use bankroll_chains_evm::Address;
use bankroll_chains_simulated::{
    Fate, Reorg, SimulatedConfig, U256,
    contracts::{self, SPLITTER},
};

use crate::world::{ALICE, SEED, World, hot, name};

const GWEI: u128 = 1_000_000_000;

/// Withdrawals of the consensus layer (EIP-4895), and what the chain itself makes, as layers above others do.
#[test]
fn withdrawals_and_mints_are_booked_to_no_player() {
    let mut world = World::with_tokens();
    world.chain().withdraw(hot().0.into(), 3);
    world.chain().mint_coins(hot().0.into(), U256::from(5));
    world.pay(ALICE, 1_125);
    world.settle(3);
    assert_eq!(world.chain().balance(hot().0.into()), U256::from(3 * GWEI + 5 + 1_125));
    let booked = ["@house/custody/1/hot", "@house/suspense/1", "arena/funds/1/alice", "arena/unallocated/1/alice"];
    assert_eq!(world.balances(booked), [1_125, 0, 1_000, 0]);
    world.audit();
}

/// The balance has grown by more than the contract moved: all of it is in suspense, and goes with its block.
#[test]
fn a_contracts_payment_in_the_block_of_a_withdrawal_is_in_suspense_with_it() {
    let mut world = World::with_tokens();
    world.config.watch.proven.insert(Address(SPLITTER.into_array()), name("splitter"));
    world.chain().withdraw(hot().0.into(), 3);
    world.call(ALICE, SPLITTER, 1_000, contracts::split_call(&[hot().0.into()]));
    world.settle(3);
    let booked = ["@house/custody/1/hot", "@house/suspense/1", "arena/unallocated/1/splitter"];
    assert_eq!(world.balances(booked), [3 * GWEI + 1_000, 3 * GWEI + 1_000, 0]);
    world.audit();
    world.chain().reorg(Reorg { depth: 3, length: 4, fate: Fate::Dropped });
    world.settle(3);
    assert_eq!(world.balances(booked), [0, 0, 0]);
    world.audit();
}

/// EIP-7708: each move of coins has a log as of a token, from an address of the system. The coins are counted once.
#[test]
fn coins_whose_moves_are_logged_as_well_are_credited_once() {
    let mut world = World::on_chain(SimulatedConfig { transfer_logs_from: Some(1), ..SimulatedConfig::new(SEED) });
    world.config.traces = true;
    world.config.watch.proven.insert(Address(SPLITTER.into_array()), name("splitter"));
    world.pay(ALICE, 1_125);
    world.call(ALICE, SPLITTER, 1_000, contracts::split_call(&[hot().0.into()]));
    world.settle(3);
    let seen = world.pairs("SELECT kind AS a, amount_raw AS b FROM deposits ORDER BY kind");
    let seen: Vec<_> = seen.iter().map(|(kind, amount)| (kind.as_str(), amount.as_str())).collect();
    assert_eq!(seen, [("internal", "1000"), ("native", "1125")]);
    let booked = ["@house/custody/1/hot", "arena/funds/1/alice", "arena/unallocated/1/splitter"];
    assert_eq!(world.balances(booked), [2_125, 1_000, 1_000]);
    assert_eq!(world.chain().balance(hot().0.into()), U256::from(2_125));
    world.audit();
}
