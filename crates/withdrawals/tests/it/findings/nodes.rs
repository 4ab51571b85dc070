//! Wrong answers of one node, to questions that no block header proves.

use bankroll_ledger::Time;
use bankroll_withdrawals::{Intents, StepResult, WaitReason};
use serde_json::json;

use super::{
    is_routine,
    lying_node::{Lie, LyingNode},
    pair, run,
};
use crate::world::{ETHER, World, home, sent};

/// F5: an estimate below the cost of any transaction is signed as it is, and replacement and cancel keep its gas limit:
/// the nonce can never be used. A limit should be 21,000 at least, in the flow and in the signer.
#[test]
fn f5_a_gas_estimate_of_one_ends_all_payouts_of_the_wallet() {
    let mut world = World::new();
    let _lying = LyingNode::replace(&mut world, Lie { method: "eth_estimateGas", result: json!("0x1"), times: 2 });
    let first = world.alice("exit-1", home(1), ETHER);
    world.step_until(sent);
    let second = world.alice("exit-2", home(2), ETHER);
    run(&mut world, 50);
    Intents::cancel(world.rows(), &first, Time(world.now)).unwrap();
    run(&mut world, 50);
    assert_eq!((world.status(&first).as_str(), world.status(&second).as_str()), ("approved", "approved"));
    assert_eq!(world.payments(), []);
    let limits = format!(
        "SELECT DISTINCT meaning AS a, gas_limit AS b FROM payout_attempts WHERE job = 'job-{first}' ORDER BY meaning"
    );
    assert_eq!(world.pairs(&limits), [pair("cancel", "1"), pair("payout", "1")]);
}

/// F5c: a fee history of zeros is taken for a chain without base fee: an order of the legacy kind is written down,
/// which the signer refuses for ever. An order that is refused and never promised should be priced again.
#[test]
fn f5c_one_fee_history_of_zeros_holds_up_the_wallet_for_ever() {
    let mut world = World::new();
    let first = world.alice("exit-1", home(1), ETHER);
    world.step_until(|result| matches!(result, StepResult::Reserved { .. }));
    let zeros = json!({ "baseFeePerGas": ["0x0", "0x0"], "gasUsedRatio": [0], "oldestBlock": "0x0" });
    let _lying = LyingNode::replace(&mut world, Lie { method: "eth_feeHistory", result: zeros, times: 1 });
    let second = world.alice("exit-2", home(2), ETHER);
    run(&mut world, 100);
    assert_eq!((world.status(&first).as_str(), world.status(&second).as_str()), ("approved", "approved"));
    let refused = pair("signing", "the chain is configured for the other transaction type");
    assert_eq!(world.jobs(), [refused, pair("pending", "")]);
    assert_eq!(world.payments(), []);
}

/// F6: the wallet's first nonce is what one node says once. One that is too high leaves a hole that no payout fills,
/// and nothing reports it. The first nonce should be confirmed at depth, and the hole should raise an alarm.
#[test]
fn f6_a_first_nonce_that_is_too_high_leaves_a_hole_without_an_alarm() {
    let mut world = World::new();
    let lie = Lie { method: "eth_getTransactionCount", result: json!("0x3e8"), times: 1 };
    let _lying = LyingNode::replace(&mut world, lie);
    let first = world.alice("exit-1", home(1), ETHER);
    let results = run(&mut world, 100);
    assert_eq!((world.status(&first).as_str(), world.jobs()), ("approved", vec![pair("broadcast", "")]));
    assert_eq!(world.pairs("SELECT nonce AS a, wallet AS b FROM payout_nonces")[0].0, "1000");
    assert_eq!(world.payments(), []);
    assert!(results.iter().all(is_routine), "{results:?}");
}

/// F6b: one latest nonce that is too high stops the wallet, and nothing resumes it. Only a nonce that is used at final
/// depth should stop a wallet.
#[test]
fn f6b_one_latest_nonce_that_is_too_high_stops_the_wallet_for_ever() {
    let mut world = World::new();
    world.alice("exit-1", home(1), ETHER);
    world.finish();
    let lie = Lie { method: "eth_getTransactionCount", result: json!("0x3e8"), times: 1 };
    let _lying = LyingNode::replace(&mut world, lie);
    let second = world.alice("exit-2", home(2), ETHER);
    let foreign = StepResult::Waits(WaitReason::ForeignNonce { expected: 1, found: 1_000 });
    let results = run(&mut world, 100);
    assert_eq!(results.iter().filter(|result| **result == foreign).count(), 1);
    assert_eq!(results.last(), Some(&StepResult::Waits(WaitReason::WalletStopped)));
    assert_eq!((world.status(&second).as_str(), world.payments().len()), ("approved", 1));
    let stopped = world.pairs("SELECT chain AS a, stopped AS b FROM operation_wallet_addresses");
    assert_eq!(stopped, [pair("eip155:1337", "foreign_nonce")]);
}
