//! Answers that are lost, nodes that lie, signers that die: one payment, in the end.

use bankroll_chains_simulated::NodeFault;
use bankroll_orders::{SignerRefusal, StopReason};
use bankroll_withdrawals::{StepResult, WaitReason, WithdrawalRequest};

use crate::world::{Between, ETHER, GWEI, SECOND, World, home, name, sent, wallet};

#[test]
fn whatever_a_node_does_with_a_transaction_it_is_paid_once() {
    let mut met = 0;
    for fault in NodeFault::ALL {
        let mut world = World::new();
        let intent = world.alice("exit-1", home(1), ETHER);
        world.step();
        world.step();
        world.step();
        world.chain().inject(0, *fault, 3);
        for _ in 0..12 {
            world.step();
            world.mine(1);
            world.pass(20 * SECOND);
        }
        met += usize::from(world.chain().faults().of(*fault) > 0);
        world.chain().clear_faults(0);
        world.finish();
        assert_eq!(world.status(&intent), "completed", "{fault:?}: {:?}", world.jobs());
        assert_eq!((world.paid(home(1), ETHER), world.payments().len()), (1, 1), "{fault:?}");
        world.audit_at_rest();
    }
    assert!(met >= 25, "{met} faults were met");
}

#[test]
fn a_signer_that_loses_answers_or_dies_at_any_write_signs_once() {
    let mut plans = vec![vec![Between::RequestLost; 3], vec![Between::AnswerLost; 3]];
    for write in 0..3 {
        plans.extend([vec![Between::Dies(write, false)], vec![Between::Dies(write, true)]]);
        plans.push(vec![Between::AnswerLost, Between::Dies(write, true), Between::RequestLost]);
    }
    for plan in plans {
        let mut world = World::new();
        let intent = world.alice("exit-1", home(1), ETHER);
        world.step();
        world.step();
        world.signer().plan = plan.clone().into();
        world.finish();
        assert_eq!(world.status(&intent), "completed", "{plan:?}: {:?}", world.jobs());
        assert_eq!((world.paid(home(1), ETHER), world.payments().len()), (1, 1), "{plan:?}");
        assert_eq!(world.pairs("SELECT number AS a, refused AS b FROM payout_attempts").len(), 1, "{plan:?}");
        world.audit_at_rest();
    }
}

#[test]
fn a_lost_answer_after_the_order_expired_is_still_the_same_order() {
    let mut world = World::new();
    world.alice("exit-1", home(1), ETHER);
    world.step();
    world.step();
    world.signer().plan = [Between::Dies(0, true)].into();
    world.step();
    // A day later: the promise is in the signer's memory, its signature is not.
    world.pass(86_400 * SECOND);
    world.finish();
    assert_eq!((world.paid(home(1), ETHER), world.payments().len()), (1, 1));
    assert_eq!(world.pairs("SELECT number AS a, refused AS b FROM payout_attempts").len(), 1);
}

#[test]
fn a_signer_that_refuses_is_asked_again_until_it_signs() {
    let mut world = World::new();
    world.signer().limits = ETHER / 2;
    let intent = world.alice("exit-1", home(1), ETHER);
    let refused = world.step_until(|result| matches!(result, StepResult::Waits(WaitReason::SignerRefuses(_))));
    assert_eq!(refused, StepResult::Waits(WaitReason::SignerRefuses(SignerRefusal::AmountAboveLimit)));
    assert_eq!(world.status(&intent), "approved");
    world.signer().limits = 2 * ETHER;
    world.signer().restart();
    world.finish();
    assert_eq!(world.status(&intent), "completed");
}

#[test]
fn a_signer_whose_memory_was_restored_is_shown_its_own_answers_and_stops() {
    let mut world = World::new();
    let yesterdays = world.signer().memory();
    let first = world.alice("exit-1", home(1), ETHER);
    world.finish();
    assert_eq!(world.status(&first), "completed");
    world.signer().put_back(&yesterdays);
    let second = world.alice("exit-2", home(2), ETHER);
    let result = world.step_until(|result| {
        matches!(result, StepResult::Signed { .. } | StepResult::Waits(WaitReason::SignerRefuses(_)))
    });
    let older = SignerRefusal::Stopped(StopReason::MemoryOlder);
    assert_eq!(result, StepResult::Waits(WaitReason::SignerRefuses(older)));
    world.finish();
    assert_eq!((world.status(&second).as_str(), world.payments().len()), ("approved", 1));
}

#[test]
fn foreign_use_of_the_wallet_stops_it() {
    let mut world = World::new();
    let first = world.alice("exit-1", home(1), ETHER);
    world.step_until(sent);
    // The same nonce, at a price that wins.
    world.foreign_payment(0, 400 * GWEI);
    world.finish();
    assert_eq!((world.status(&first).as_str(), world.jobs()[0].0.as_str()), ("approved", "unknown"));
    assert_eq!(world.paid(home(1), ETHER), 0);
    assert_eq!(world.standing("arena/funds/1/alice"), (10 * ETHER, ETHER), "held until a person has looked");
    // And the next nonce, too: nothing new is paid from here.
    world.foreign_payment(1, 400 * GWEI);
    world.mine(1);
    world.alice("exit-2", home(2), ETHER);
    let stopped = world.step_until(|result| matches!(result, StepResult::Waits(WaitReason::ForeignNonce { .. })));
    assert_eq!(stopped, StepResult::Waits(WaitReason::ForeignNonce { expected: 1, found: 2 }));
    world.finish();
    assert_eq!(world.paid(home(2), ETHER), 0);
    assert_eq!(world.chain().nonce(wallet().0.into()), 2);
}

#[test]
fn a_payment_that_the_node_expects_to_fail_is_not_signed() {
    let mut world = World::new();
    let refusing = bankroll_orders::Address(bankroll_chains_simulated::contracts::REFUSING.into_array());
    let intent = world.alice("exit-1", refusing, ETHER);
    world.finish();
    assert_eq!((world.status(&intent).as_str(), world.payments().len()), ("approved", 0));
    assert!(world.jobs()[0].1.contains("the payment would fail"), "{:?}", world.jobs());
}

#[test]
fn without_coins_it_waits_for_them() {
    let mut world = World::new();
    // More is owed than the wallet has.
    world.drain(ETHER - ETHER / 1_000);
    let intent = world.alice("exit-1", home(1), 10 * ETHER);
    let bob = WithdrawalRequest {
        wallet: name("bob"),
        account: "arena/funds/1/bob".parse().unwrap(),
        ..world.withdrawal("exit-2", home(2), 5 * ETHER)
    };
    let bob = world.request(&bob).unwrap().id;
    world.finish();
    let mut ends = [world.status(&intent), world.status(&bob)];
    ends.sort();
    assert_eq!(ends, ["approved", "completed"], "{:?}", world.jobs());
    assert!(
        world.jobs().iter().any(|(stage, why)| stage == "waiting_funds" && why == "the wallet does not have enough"),
        "{:?}",
        world.jobs()
    );
    world.refill(ETHER);
    world.pass(3_600 * SECOND);
    world.finish();
    assert_eq!((world.status(&intent).as_str(), world.status(&bob).as_str()), ("completed", "completed"));
    assert_eq!((world.paid(home(1), 10 * ETHER), world.paid(home(2), 5 * ETHER)), (1, 1));
}
