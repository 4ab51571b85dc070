//! Money back: only with proof that nothing was paid, and nothing can be.

use bankroll_ledger::{Amount, Time};
use bankroll_store::columns::one;
use bankroll_withdrawals::{CancelError, GasPayer, Intents, PayoutOutcome, StepResult, WithdrawalRequest};

use crate::world::{Between, ETHER, GWEI, TRANSFER_GAS, World, home, paid, sent, wallet};

const ALICE: &str = "arena/funds/1/alice";

fn stop(world: &World, intent: &bankroll_orders::IntentId) {
    Intents::cancel(world.rows(), intent, Time(world.now)).unwrap();
}

#[test]
fn before_it_is_signed_the_signers_promise_is_the_proof() {
    for steps in 0..3 {
        let mut world = World::new();
        let intent = world.alice("exit-1", home(1), ETHER);
        world.step();
        // The signer does not answer; it is not known whether it was asked.
        world.signer().plan = vec![Between::RequestLost; steps].into();
        for _ in 0..steps {
            world.step();
        }
        stop(&world, &intent);
        world.step_until(|result| *result == StepResult::Ended(PayoutOutcome::NeverSigned));
        world.settle();
        assert_eq!((world.status(&intent).as_str(), world.standing(ALICE)), ("failed never_signed", (10 * ETHER, 0)));
        // Its nonce is free, and the next payout takes it: no hole.
        let next = world.alice("exit-2", home(2), ETHER);
        world.finish();
        assert_eq!((world.status(&next).as_str(), world.paid(home(1), ETHER)), ("completed", 0));
        assert_eq!(world.chain().nonce(wallet().0.into()), 1);
        world.audit_at_rest();
        assert!(matches!(Intents::cancel(world.rows(), &intent, Time(1)), Err(CancelError::NotFound)));
    }
}

#[test]
fn a_lost_answer_is_not_taken_for_a_refusal() {
    let mut world = World::new();
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step();
    world.step();
    world.signer().plan = [Between::AnswerLost].into();
    world.step();
    // It was signed, and we do not have the bytes. A cancellation comes: the signer cannot promise any more.
    stop(&world, &intent);
    world.finish();
    assert_eq!((world.status(&intent).as_str(), world.standing(ALICE)), ("failed cancelled", (10 * ETHER, 0)));
    assert_eq!(world.paid(home(1), ETHER), 0);
    let cancels: Vec<_> = world.payments().into_iter().map(|(to, value, _)| (to == wallet(), value)).collect();
    assert_eq!(cancels, [(true, 0)]);
    world.audit_at_rest();
}

#[test]
fn after_it_was_sent_nothing_on_its_nonce_must_be_final() {
    let mut world = World::new();
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step_until(sent);
    stop(&world, &intent);
    world.step_until(|result| matches!(result, StepResult::Sent { attempt: 2, .. }));
    world.mine(1);
    world.step();
    world.settle();
    assert_eq!((world.status(&intent).as_str(), world.standing(ALICE)), ("approved", (10 * ETHER, ETHER)));
    world.mine(2);
    world.step_until(|result| *result == StepResult::Ended(PayoutOutcome::Cancelled));
    world.settle();
    assert_eq!((world.status(&intent).as_str(), world.standing(ALICE)), ("failed cancelled", (10 * ETHER, 0)));
    assert_eq!(world.paid(home(1), ETHER), 0);
    assert!(world.standing("@house/network_fees/1").0 > 0);
    world.audit_at_rest();
}

#[test]
fn a_cancel_that_comes_too_late_changes_nothing() {
    let mut world = World::new();
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step_until(sent);
    world.mine(1);
    stop(&world, &intent);
    world.finish();
    assert_eq!((world.status(&intent).as_str(), world.paid(home(1), ETHER)), ("completed", 1));
    world.audit_at_rest();
}

#[test]
fn an_intent_that_was_revoked_elsewhere_is_refunded() {
    let mut world = World::new();
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step_until(|result| *result == StepResult::Prepared);
    // As after rows were restored to before a cancellation.
    world.revoke_elsewhere(&intent);
    world.step_until(|result| *result == StepResult::Ended(PayoutOutcome::NeverSigned));
    world.settle();
    assert_eq!((world.status(&intent).as_str(), world.standing(ALICE)), ("failed never_signed", (10 * ETHER, 0)));
    let next = world.alice("exit-2", home(2), ETHER);
    world.finish();
    assert_eq!((world.status(&next).as_str(), world.paid(home(1), ETHER)), ("completed", 0));
    world.audit_at_rest();
}

#[test]
fn a_destination_that_the_signer_never_pays_is_refunded_and_holds_up_no_other_payout() {
    // A player types in the address that they paid to.
    for forbidden in [wallet(), bankroll_orders::Address::ZERO] {
        let mut world = World::new();
        let intent = world.alice("exit-1", forbidden, ETHER);
        world.step_until(|result| matches!(result, StepResult::Prepared));
        let next = world.alice("exit-2", home(2), ETHER);
        world.finish();
        assert_eq!(
            (world.status(&intent).as_str(), world.status(&next).as_str()),
            ("failed never_signed", "completed")
        );
        assert_eq!((world.standing(ALICE), world.payments().len()), ((9 * ETHER, 0), 1));
        world.audit_at_rest();
    }
}

#[test]
fn a_final_revert_is_a_proof_and_costs_gas() {
    for player_pays in [false, true] {
        let mut world = World::new();
        let cap = Amount::new(100_000 * 100 * GWEI);
        let gas = if player_pays { GasPayer::Player(cap) } else { GasPayer::House };
        let intent =
            world.request(&WithdrawalRequest { gas, ..world.withdrawal("exit-1", home(1), ETHER) }).unwrap().id;
        world.step();
        world.prepare_for_refusing_contract();
        world.step_until(sent);
        world.mine(3);
        world.step_until(|result| *result == StepResult::Ended(PayoutOutcome::Reverted));
        world.settle();
        assert_eq!(world.status(&intent), "failed reverted");
        assert_eq!(world.payments().len(), 0);
        let gas = 16 * ETHER - u128::try_from(world.chain().balance(wallet().0.into())).unwrap();
        assert!(gas >= TRANSFER_GAS * GWEI);
        let (alice, house) = if player_pays { (10 * ETHER - gas, 0) } else { (10 * ETHER, gas) };
        assert_eq!((world.standing(ALICE), world.standing("@house/network_fees/1")), ((alice, 0), (house, 0)));
        world.audit_at_rest();
    }
}

#[test]
fn an_outcome_is_reported_once_whatever_comes_later() {
    let mut world = World::new();
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step_until(sent);
    world.mine(3);
    world.step_until(paid);
    // An edit makes the job live again, and another outcome is reported: the inbox keeps the first one.
    let again = "UPDATE withdrawal_queue SET status = 'broadcast'";
    world.rows().write(vec![one(again, vec![])]).unwrap();
    world.mine(1);
    world.step();
    world.settle();
    assert_eq!(world.status(&intent), "completed");
    assert_eq!(world.pairs("SELECT id AS a, state AS b FROM payout_events").len(), 1);
}
