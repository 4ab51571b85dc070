//! What a person must look at, as alerts count it.

use bankroll_ledger::Time;
use bankroll_store::{PAYOUT_EVENTS, columns::any};
use bankroll_withdrawals::{
    PayoutOutcome, StepResult, WaitReason,
    attention::{self, WaitingPayouts},
};

use crate::world::{ETHER, GWEI, SECOND, World, home, wallet};

const CHAIN: &str = "eip155:1337";
const MINUTE: u64 = 60 * SECOND;

fn counts(groups: &[WaitingPayouts]) -> Vec<(&str, u64)> {
    groups.iter().map(|group| (group.of.as_str(), group.count)).collect()
}

fn hot() -> String {
    format!("{CHAIN}/{}", wallet())
}

#[test]
fn a_payout_that_goes_its_way_needs_no_person() {
    let mut world = World::new();
    world.alice("exit-1", home(1), ETHER);
    let reader = world.rows().reader();
    assert_eq!(counts(&attention::not_begun(reader).unwrap()), [("arena", 1)], "until a payouts process has begun it");
    world.finish();
    let reader = world.rows().reader();
    assert_eq!(attention::not_begun(reader).unwrap(), []);
    assert_eq!(attention::stopped_wallets(reader).unwrap(), []);
    assert_eq!(attention::unknown_payouts(reader).unwrap(), []);
    assert_eq!(attention::contradicted_payouts(reader).unwrap(), []);
    assert_eq!(attention::short_of_funds(reader).unwrap(), []);
    assert_eq!(attention::not_mined_since(reader, Time(u64::MAX)).unwrap(), []);
    assert_eq!(attention::awaiting_approval(reader).unwrap(), []);
    assert_eq!(PAYOUT_EVENTS.refused(reader, 10).unwrap(), []);
}

#[test]
fn foreign_use_of_the_wallet_is_a_payout_and_a_wallet_that_need_a_person() {
    let mut world = World::new();
    let first = world.alice("exit-1", home(1), ETHER);
    world.step_until(|result| matches!(result, StepResult::Sent { .. }));
    world.foreign_payment(0, 400 * GWEI);
    world.finish();
    let unknown = attention::unknown_payouts(world.rows().reader()).unwrap();
    assert_eq!(
        unknown.iter().map(|it| (it.intent.as_str(), it.nonce)).collect::<Vec<_>>(),
        [(first.0.as_str(), Some(0))]
    );
    world.foreign_payment(1, 400 * GWEI);
    world.mine(1);
    world.alice("exit-2", home(2), ETHER);
    world.step_until(|result| matches!(result, StepResult::Waits(WaitReason::ForeignNonce { .. })));
    let stopped = attention::stopped_wallets(world.rows().reader()).unwrap();
    let shown: Vec<String> = stopped.iter().map(|it| format!("{}/{}: {}", it.chain, it.wallet, it.reason)).collect();
    assert_eq!(shown, [format!("{}: foreign_nonce", hot())]);
}

#[test]
fn payouts_that_wait_for_funds_or_are_late_are_counted_by_wallet() {
    let mut world = World::new();
    world.drain(15 * ETHER);
    world.alice("exit-1", home(1), ETHER);
    world.alice("exit-2", home(2), ETHER);
    world.finish();
    let begun = world.now;
    let short = attention::short_of_funds(world.rows().reader()).unwrap();
    assert_eq!(counts(&short), [(hot().as_str(), 2)]);
    assert_eq!(short[0].reason.as_deref(), Some("the wallet does not have enough"));
    assert_eq!(attention::not_mined_since(world.rows().reader(), Time(begun)).unwrap(), [], "that is not late");

    let mut world = World::new();
    world.alice("exit-1", home(1), ETHER);
    world.step_until(|result| matches!(result, StepResult::Sent { .. }));
    let late = |world: &World| {
        let before = Time(world.now.saturating_sub(30 * MINUTE));
        attention::not_mined_since(world.rows().reader(), before).unwrap()
    };
    assert_eq!(late(&world), []);
    world.pass(31 * MINUTE);
    assert_eq!(counts(&late(&world)), [(hot().as_str(), 1)]);
}

#[test]
fn a_payout_above_the_policy_waits_for_a_person() {
    let mut world = World::new();
    world.policy = bankroll_withdrawals::ApprovalPolicy { at_once: bankroll_ledger::Amount::new(1) };
    world.alice("exit-1", home(1), ETHER);
    let waiting = attention::awaiting_approval(world.rows().reader()).unwrap();
    assert_eq!(counts(&waiting), [("arena", 1)]);
}

/// What was settled as paid is a cancellation on the chain: noted once, and kept after the payout is no longer watched.
#[test]
fn a_settled_payout_whose_final_transaction_means_something_else_needs_a_person() {
    let mut world = World::new();
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step_until(|result| matches!(result, StepResult::Sent { .. }));
    world.mine(10);
    world.step_until(|result| *result == StepResult::Ended(PayoutOutcome::Paid));
    world.settle();
    assert_eq!(attention::contradicted_payouts(world.rows().reader()).unwrap(), []);
    // As if another attempt of the same nonce had been settled.
    world.rows().write(vec![any("UPDATE payout_attempts SET meaning = 'cancel'", vec![])]).unwrap();
    for _ in 0..2 {
        world.step_until(|result| *result == StepResult::Waits(WaitReason::Contradicted));
        let found = attention::contradicted_payouts(world.rows().reader()).unwrap();
        assert_eq!(found.iter().map(|it| it.intent.as_str()).collect::<Vec<_>>(), [intent.0.as_str()]);
    }
}
