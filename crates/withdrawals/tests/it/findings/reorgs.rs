//! Reorganisations deeper than payouts are watched, or than an outcome allows for.

use bankroll_chains_simulated::{B256, Fate, Reorg};
use bankroll_ledger::{Amount, BlockRef, Time};
use bankroll_orders::{Gas, Price};
use bankroll_withdrawals::{
    ChainStatus, JobStage, MinedTransaction, PayoutAttempt, PayoutJob, PayoutOutcome, StepResult,
    job::{JobAction, next},
};

use super::{is_routine, pair, run};
use crate::world::{ETHER, World, home, sent};

/// F4: a reverted payout is refunded, and when its block is orphaned the same payment is sent again. Its nonce should
/// be filled with a cancel, never with the payment.
#[test]
fn f4_a_reverted_payout_is_sent_again_after_its_refund() {
    let mut world = World::new();
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step();
    world.prepare_for_refusing_contract();
    world.step_until(sent);
    world.mine(3);
    world.step_until(|result| *result == StepResult::Ended(PayoutOutcome::Reverted));
    world.settle();
    let alice = world.standing("arena/funds/1/alice");
    assert_eq!((world.status(&intent).as_str(), alice), ("failed reverted", (10 * ETHER, 0)));
    world.chain().reorg(Reorg { depth: 3, length: 4, fate: Fate::Dropped });
    world.pass(world.config.rules.resend_after);
    let results: Vec<StepResult> = world.step().into_iter().map(|(_, result)| result).collect();
    assert!(matches!(results[..], [StepResult::Sent { attempt: 1, .. }]), "{results:?}");
}

/// F4: a refunded payout that succeeds after all, and a settled one that reverts after all, wait like any other. Both
/// should be `Contradict`, so that a person looks.
#[test]
fn f4_an_outcome_that_turns_around_on_the_chain_raises_no_alarm() {
    let rules = World::new().config.rules;
    let hash = B256::repeat_byte(1);
    let price = Price::Dynamic { max: 10, priority: 1 };
    let attempt = PayoutAttempt {
        number: 1,
        is_cancel: false,
        gas: Gas { limit: 100_000, price },
        signed: Some((vec![1], hash)),
        is_refused: false,
        created_at: Time(0),
        last_sent_at: Some(Time(0)),
    };
    for (stage, succeeded) in [(JobStage::Reverted, true), (JobStage::Final, false)] {
        let job = PayoutJob {
            id: "job-1".into(),
            intent: bankroll_orders::IntentId("wd-1".parse().unwrap()),
            to: home(1),
            amount: Amount::new(ETHER),
            fee_cap: None,
            stage,
            nonce: Some(0),
            cancel_requested: false,
            attempts: vec![attempt.clone()],
            block: None,
            retries: 0,
            scheduled_at: Time(0),
            version: 1,
        };
        let mined = MinedTransaction {
            attempt: 1,
            hash,
            block: BlockRef { number: 9, hash: "0xb9".into() },
            confirmations: rules.confirmations,
            succeeded,
            is_as_ordered: true,
            gas_used: 30_000,
            gas_price: 10,
        };
        assert_eq!(next(&job, &ChainStatus::Mined(mined), &rules, Time(1)), JobAction::Wait, "{stage:?}");
    }
}

/// F11: a payout that is orphaned after the watch horizon is never sent again. Its nonce is a hole, every later payout
/// waits above it, and nothing reports it. The final payout should be sent again, and the hole should raise an alarm.
#[test]
fn f11_a_payout_orphaned_after_the_watch_horizon_leaves_a_hole_without_an_alarm() {
    let mut world = World::new();
    let first = world.alice("exit-1", home(1), ETHER);
    world.finish();
    let head = world.chain().head().number();
    assert!(head > 2 * world.config.rules.horizon, "the payout is no longer watched");
    world.chain().reorg(Reorg { depth: head - 1, length: head + 2, fate: Fate::Dropped });
    let second = world.alice("exit-2", home(2), ETHER);
    let results = run(&mut world, 100);
    assert_eq!((world.status(&first).as_str(), world.status(&second).as_str()), ("completed", "approved"));
    assert_eq!((world.payments(), world.jobs()), (vec![], vec![pair("final", ""), pair("broadcast", "")]));
    assert!(results.iter().all(is_routine), "{results:?}");
}
