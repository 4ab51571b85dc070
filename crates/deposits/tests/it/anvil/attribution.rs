//! Whose money it is: a sender proves nothing by sending. Section C.4 of the attack list.

use bankroll_deposits::Payer;

use super::world::AnvilWorld;
use crate::world::{ALICE, BOB, address, hot, name};

const SUSPENSE: &[(&str, u128)] = &[("@house/custody/1/hot", 1_125), ("@house/suspense/1", 1_125)];

/// Alice signs, and a contract pays, as exchanges, bridges and account wallets do: their money is not known to be hers.
#[test]
fn the_signer_of_a_transaction_is_not_who_pays_in_it() {
    let mut world = AnvilWorld::new();
    let forwarder = world.create("Coins");
    world.call(ALICE, forwarder, 1_125, "pay(address,uint256)", &[hot().into(), 1_125.into()]);
    world.settle(3);
    world.expect_deposits(&[("internal 0 1125", "suspense")]);
    world.expect_books(SUSPENSE);
    let reason = world.pairs("SELECT invalid_reason AS a, purpose AS b FROM deposits");
    assert_eq!(reason, [("unknown_player".to_owned(), "unknown".to_owned())]);
    world.expect_solvent();
}

/// The contract wallet is Alice's; Bob pays through it, and so pays for her.
#[test]
fn what_a_proven_contract_wallet_pays_is_its_players_whoever_signs() {
    let mut world = AnvilWorld::new();
    let wallet = world.create("Coins");
    world.is_of(wallet, "alice");
    world.call(BOB, wallet, 1_000, "pay(address,uint256)", &[hot().into(), 1_000.into()]);
    world.settle(3);
    world.expect_books(&[("@house/custody/1/hot", 1_000), ("arena/unallocated/1/alice", 1_000)]);
    world.expect_solvent();
}

/// Alice allows it, and Bob takes her tokens to us: she has paid.
#[test]
fn tokens_are_of_the_wallet_that_had_them() {
    let mut world = AnvilWorld::new();
    let token = world.list("Token");
    world.mint(token, address(ALICE), 10_000);
    world.call(ALICE, token, 0, "approve(address,uint256)", &[address(BOB).into(), 400.into()]);
    let from = [address(ALICE).into(), hot().into(), 400.into()];
    let sent = world.call(BOB, token, 0, "transferFrom(address,address,uint256)", &from);
    world.settle(3);
    assert!(world.has_succeeded(sent));
    world.expect_books(&[("@house/custody/2/hot", 400), ("arena/unallocated/2/alice", 400)]);
    world.expect_solvent();
}

/// An address that was made for one player is that player's, from whatever wallet: another player's, or a contract.
#[test]
fn an_address_of_one_player_credits_that_player_whoever_pays() {
    let mut world = AnvilWorld::new();
    world.config.watch.addresses.get_mut(&hot()).unwrap().payer = Payer::Player(name("carol"));
    let forwarder = world.create("Coins");
    world.pay(ALICE, 500);
    world.call(BOB, forwarder, 600, "pay(address,uint256)", &[hot().into(), 600.into()]);
    world.settle(3);
    world.expect_books(&[("@house/custody/1/hot", 1_100), ("arena/unallocated/1/carol", 1_100)]);
    world.expect_solvent();
}
