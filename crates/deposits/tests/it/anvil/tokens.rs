//! Tokens: what the balance says arrived is booked, whatever a contract logs or answers. Section C.2 of the attack list.

use bankroll_chains_evm::{Quantity, U256};
use bankroll_deposits::{AbsentTransfer, OddTransferLog, ScanNotice};
use bankroll_ledger::AssetId;

use super::{contracts, world::AnvilWorld};
use crate::world::{ALICE, BOB, address, hot};

/// A listed token, of which Alice has 10,000.
fn with_token(contract: &str) -> (AnvilWorld, bankroll_chains_evm::Address) {
    let mut world = AnvilWorld::new();
    let token = world.list(contract);
    world.mint(token, address(ALICE), 10_000);
    world.mine(1);
    (world, token)
}

#[test]
fn a_correct_token_is_credited_to_the_unit() {
    let (mut world, token) = with_token("Token");
    world.send_tokens(ALICE, token, 1_000);
    assert_eq!(world.settle(3), []);
    world.expect_deposits(&[("token 0 1000", "credited")]);
    world.expect_books(&[("@house/custody/2/hot", 1_000), ("arena/unallocated/2/alice", 1_000)]);
    world.expect_solvent();
}

#[test]
fn a_transfer_that_returns_false_deposits_nothing() {
    let (mut world, token) = with_token("Declining");
    let sent = world.send_tokens(ALICE, token, 1_000);
    assert_eq!(world.settle(3), []);
    assert!(world.has_succeeded(sent));
    assert_eq!(world.receipt(sent)["logs"], serde_json::json!([]));
    world.expect_deposits(&[]);
    world.expect_books(&[]);
    world.expect_solvent();
}

/// The log is there, `transfer` returns false, and the balance is as before.
#[test]
fn a_log_without_movement_deposits_nothing_and_is_reported() {
    let (mut world, token) = with_token("Boasting");
    let transaction = world.send_tokens(ALICE, token, 1_000);
    let claimed = Quantity::new(U256::from(1_000));
    let absent = AbsentTransfer { transaction, asset: AssetId(2), to: hot(), claimed };
    assert_eq!(world.settle(3), [ScanNotice::Absent(absent)]);
    world.expect_deposits(&[]);
    world.expect_books(&[]);
    world.expect_solvent();
}

/// Nothing came, and nothing left: together the two logs fit the balance, but our wallet has signed no payout.
#[test]
fn a_deposit_beside_a_log_of_a_payout_that_we_did_not_sign_is_held_for_a_person() {
    let (mut world, token) = with_token("Boasting");
    world.send_tokens(ALICE, token, 1_000);
    let payout = [hot().into(), address(BOB).into(), 1_000.into()];
    world.call(BOB, token, 0, "claim(address,address,uint256)", &payout);
    assert_eq!(world.settle(3), []);
    world.expect_deposits(&[("token 0 1000", "none")]);
    let doubt = world.pairs("SELECT doubt AS a, review_state AS b FROM deposits");
    assert_eq!(doubt, [("balance_unknown".to_owned(), "none".to_owned())]);
    world.expect_books(&[]);
    world.expect_solvent();
}

#[test]
fn tokens_of_a_call_that_is_reverted_inside_of_a_transaction_are_no_deposit() {
    let (mut world, token) = with_token("Token");
    let caught = world.call(ALICE, token, 0, "payAndCatch(address,uint256)", &[hot().into(), 1_000.into()]);
    let too_many = [hot().into(), 5_000.into(), 5_000.into(), 5_000.into()];
    let failed = world.call(ALICE, token, 0, "payThree(address,uint256,uint256,uint256)", &too_many);
    assert_eq!(world.settle(3), []);
    assert_eq!([caught, failed].map(|sent| world.has_succeeded(sent)), [true, false]);
    world.expect_deposits(&[]);
    world.expect_books(&[]);
    world.expect_solvent();
}

#[test]
fn a_token_that_only_looks_like_a_listed_one_deposits_nothing() {
    let (mut world, _) = with_token("Token");
    let look_alike = world.create("Token");
    world.mint(look_alike, address(ALICE), 10_000);
    world.send_tokens(ALICE, look_alike, 1_000);
    assert_eq!(world.settle(3), []);
    assert_eq!(world.tokens(look_alike, hot()), U256::from(1_000));
    world.expect_deposits(&[]);
    world.expect_books(&[]);
    world.expect_solvent();
}

#[test]
fn of_a_token_that_keeps_a_tenth_what_arrived_is_kept_in_suspense() {
    let (mut world, token) = with_token("Taxed");
    world.send_tokens(ALICE, token, 1_000);
    world.settle(3);
    world.expect_deposits(&[("token 0 900", "suspense")]);
    world.expect_books(&[("@house/custody/2/hot", 900), ("@house/suspense/2", 900)]);
    world.expect_solvent();
}

/// Its balances change without a transfer: nobody's deposit. What arrives in the block of such a change is doubtful.
#[test]
fn a_rebase_is_no_deposit_and_makes_one_of_its_block_doubtful() {
    let (mut world, token) = with_token("Rebasing");
    world.send_tokens(ALICE, token, 1_000);
    world.settle(3);
    world.call(BOB, token, 0, "rebase(uint256)", &[110.into()]);
    world.settle(3);
    world.expect_books(&[("@house/custody/2/hot", 1_000), ("arena/unallocated/2/alice", 1_000)]);
    assert_eq!(world.tokens(token, hot()), U256::from(1_100));
    // 2,000 shares at 120 in the hundred: 1,300 more than the 1,100 before.
    world.send_tokens(ALICE, token, 1_000);
    world.call(BOB, token, 0, "rebase(uint256)", &[120.into()]);
    world.settle(3);
    world.expect_deposits(&[("token 0 1000", "credited"), ("token 0 1300", "suspense")]);
    world.expect_books(&[
        ("@house/custody/2/hot", 2_300),
        ("@house/suspense/2", 1_300),
        ("arena/unallocated/2/alice", 1_000),
    ]);
    // A shrinking in the block of a transfer takes all of it away.
    world.send_tokens(ALICE, token, 100);
    world.call(BOB, token, 0, "rebase(uint256)", &[50.into()]);
    assert_eq!(world.settle(3).len(), 1);
    assert_eq!(world.balances(["@house/custody/2/hot"]), [2_300]);
}

/// It reverts, with the words of a node that is overloaded; it never ends; it answers nothing.
#[test]
fn a_token_that_does_not_say_balances_is_held_and_stops_nothing() {
    let mut world = AnvilWorld::new();
    for contract in ["Secretive", "Endless", "Mute"] {
        let token = world.list(contract);
        world.mint(token, address(ALICE), 10_000);
        world.send_tokens(ALICE, token, 1_000);
    }
    world.pay(BOB, 1_000);
    world.settle(3);
    let held = ("token 0 1000", "none");
    world.expect_deposits(&[held, held, held, ("native 0 1000", "credited")]);
    let doubt = world.pairs("SELECT doubt AS a, review_state AS b FROM deposits WHERE kind = 'token'");
    assert_eq!(doubt, vec![("balance_unknown".to_owned(), "none".to_owned()); 3]);
    world.expect_books(&[("@house/custody/1/hot", 1_000), ("arena/unallocated/1/bob", 1_000)]);
}

/// The same topic with three words in topics, or with none.
#[test]
fn logs_in_another_form_than_erc20_deposit_nothing_and_are_reported() {
    let mut world = AnvilWorld::new();
    let (collectible, unindexed) = (world.list("Collectible"), world.list("Unindexed"));
    let first = world.mint(collectible, hot(), 7);
    let second = world.mint(unindexed, hot(), 500);
    let odd = |token, transaction| ScanNotice::Odd(OddTransferLog { token, transaction });
    assert_eq!(world.settle(3), [odd(collectible, first), odd(unindexed, second)]);
    assert_eq!(world.receipt(first)["logs"][0]["topics"].as_array().unwrap().len(), 4);
    assert_eq!(world.receipt(second)["logs"][0]["topics"].as_array().unwrap().len(), 1);
    world.expect_deposits(&[]);
    world.expect_books(&[]);
}

/// The sender in the log is Alice, who has signed nothing: anybody may move nothing of hers.
#[test]
fn a_strangers_transfer_of_nothing_from_a_players_wallet_is_no_deposit() {
    let (mut world, token) = with_token("Token");
    let from = [address(ALICE).into(), hot().into(), 0.into()];
    let sent = world.call(BOB, token, 0, "transferFrom(address,address,uint256)", &from);
    assert_eq!(world.settle(3), []);
    assert_eq!(world.receipt(sent)["logs"].as_array().unwrap().len(), 1);
    world.expect_deposits(&[]);
    world.expect_books(&[]);
}

#[test]
fn a_batch_of_transfers_two_of_them_equal_is_as_many_deposits() {
    let (mut world, token) = with_token("Token");
    let payments = [hot().into(), 300.into(), 300.into(), 400.into()];
    world.call(ALICE, token, 0, "payThree(address,uint256,uint256,uint256)", &payments);
    world.settle(3);
    world.expect_deposits(&[("token 0 300", "credited"), ("token 1 300", "credited"), ("token 2 400", "credited")]);
    world.expect_books(&[("@house/custody/2/hot", 1_000), ("arena/unallocated/2/alice", 1_000)]);
    world.expect_solvent();
}

/// A proxy gets other code each time; the address on the list stays.
#[test]
fn a_token_that_begins_to_lie_is_credited_no_more_than_arrives() {
    let mut world = AnvilWorld::new();
    let proxy = world.list("Proxy");
    let [honest, taxed, boasting, secretive] =
        ["Token", "Taxed", "Boasting", "Secretive"].map(|contract| world.create(contract));
    let upgrade = |world: &AnvilWorld, code: bankroll_chains_evm::Address| {
        world.call(BOB, proxy, 0, "upgrade(address)", &[code.into()]);
    };
    upgrade(&world, honest);
    world.mint(proxy, address(ALICE), 10_000);
    world.mine(1);
    world.send_tokens(ALICE, proxy, 1_000);
    assert_eq!(world.settle(3), []);
    // In the block of the upgrade, too.
    upgrade(&world, taxed);
    world.send_tokens(ALICE, proxy, 1_000);
    assert_eq!(world.settle(3), []);
    upgrade(&world, boasting);
    world.send_tokens(ALICE, proxy, 1_000);
    assert_eq!(world.settle(3).len(), 1);
    world.expect_solvent();
    upgrade(&world, secretive);
    world.send_tokens(ALICE, proxy, 1_000);
    assert_eq!(world.settle(3), []);
    world.expect_deposits(&[("token 0 1000", "credited"), ("token 0 900", "suspense"), ("token 0 1000", "none")]);
    world.expect_books(&[
        ("@house/custody/2/hot", 1_900),
        ("@house/suspense/2", 900),
        ("arena/unallocated/2/alice", 1_000),
    ]);
}

#[test]
fn decimals_that_change_change_no_amount() {
    let (mut world, token) = with_token("Token");
    world.send_tokens(ALICE, token, 1_000);
    world.settle(3);
    world.call(BOB, token, 0, "setDecimals(uint8)", &[18.into()]);
    world.send_tokens(ALICE, token, 1_000);
    world.settle(3);
    world.expect_deposits(&[("token 0 1000", "credited"), ("token 0 1000", "credited")]);
    world.expect_books(&[("@house/custody/2/hot", 2_000), ("arena/unallocated/2/alice", 2_000)]);
    world.expect_solvent();
}

/// A mint, and what a player sends, in one block with transfers between others: only ours count.
#[test]
fn tokens_that_leave_us_in_the_block_of_a_deposit_do_not_change_it() {
    let (mut world, token) = with_token("Token");
    world.give(hot());
    world.mint(token, hot(), 5_000);
    world.settle(3);
    let to_bob = [address(BOB).into(), 200.into()];
    world.call(crate::world::HOT, token, 0, "transfer(address,uint256)", &to_bob);
    world.call(ALICE, token, 0, "transfer(address,uint256)", &to_bob);
    world.send(&world.sign(
        ALICE,
        Some(token),
        0,
        contracts::call("transfer(address,uint256)", &[hot().into(), 1_000.into()]),
    ));
    assert_eq!(world.settle(3), []);
    // The mint has no sender who proved anything.
    world.expect_deposits(&[("token 0 5000", "suspense"), ("token 0 1000", "credited")]);
    world.expect_books(&[
        ("@house/custody/2/hot", 6_000),
        ("@house/suspense/2", 5_000),
        ("arena/unallocated/2/alice", 1_000),
    ]);
    assert_eq!(world.tokens(token, hot()), U256::from(5_800));
}
