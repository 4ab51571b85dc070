//! Frozen players: nothing of theirs is signed any more, nothing of others waits for them, and it goes on by itself.

use bankroll_withdrawals::{StepResult, WaitReason};

use crate::world::{Between, ETHER, World, home, name};

const ALICE: &str = "arena/funds/1/alice";

fn frozen() -> StepResult {
    StepResult::Waits(WaitReason::Frozen)
}

/// A payout of Bob's, from the same wallet of ours.
fn bob(world: &World, request: &str, amount: u128) {
    let mut withdrawal = world.withdrawal(request, home(2), amount);
    withdrawal.wallet = name("bob");
    withdrawal.account = "arena/funds/1/bob".parse().unwrap();
    world.request(&withdrawal).unwrap();
}

#[test]
fn a_frozen_player_is_not_paid_and_the_payout_goes_on_when_the_freeze_is_lifted() {
    let mut world = World::new();
    let intent = world.alice("w1", home(1), ETHER);
    world.frozen.insert(name("alice"));
    assert_eq!(world.step_until(|result| *result == frozen()), frozen());
    bob(&world, "w2", ETHER);
    world.finish();
    assert_eq!((world.paid(home(1), ETHER), world.paid(home(2), ETHER)), (0, 1));
    let (status, waits) = world.jobs().remove(0);
    assert_eq!(status, "pending");
    assert!(waits.starts_with("frozen: "), "{waits}");
    assert_eq!(world.standing(ALICE), (10 * ETHER, ETHER), "the money is still held for it");

    world.frozen.clear();
    world.finish();
    assert_eq!((world.paid(home(1), ETHER), world.status(&intent)), (1, "completed".into()));
}

/// The owner of the account counts, whatever wallet asked for the payout.
#[test]
fn the_owner_of_the_account_is_frozen_and_so_is_the_wallet_that_asks() {
    for frozen_name in ["alice", "arena-dev"] {
        let mut world = World::new();
        world.give("arena/developer/1", 2 * ETHER, "fees");
        world.alice("w1", home(1), ETHER);
        let mut developers = world.withdrawal("w2", home(3), ETHER);
        developers.principal = bankroll_ledger::Principal::Developer(name("arena"));
        developers.wallet = name("arena-dev");
        developers.account = "arena/developer/1".parse().unwrap();
        developers.gas = bankroll_withdrawals::GasPayer::Player(bankroll_ledger::Amount::new(ETHER / 10));
        developers.consent = Some(bankroll_withdrawals::PayoutConsent {
            wallet: home(3),
            audience: "funds.example".into(),
            asset: "SIM".into(),
            expires: 1,
            signature: vec![0; 65],
        });
        world.request(&developers).unwrap();
        world.frozen.insert(name(frozen_name));
        world.finish();
        let is_alice = frozen_name == "alice";
        let expected = (usize::from(!is_alice), usize::from(is_alice));
        assert_eq!((world.paid(home(1), ETHER), world.paid(home(3), ETHER)), expected, "{frozen_name} is frozen");
    }
}

/// The freeze may come between any two steps of a payout. Until the signer has signed, nothing is signed after it.
#[test]
fn whenever_the_freeze_comes_nothing_is_signed_after_it_and_no_other_payout_waits() {
    for steps in 0..12 {
        let mut world = World::new();
        let intent = world.alice("w1", home(1), ETHER);
        let mut was_signed = false;
        for _ in 0..steps {
            was_signed |= world.step().iter().any(|(_, result)| matches!(result, StepResult::Signed { .. }));
        }
        world.frozen.insert(name("alice"));
        let mut signed_later = false;
        for _ in 0..5 {
            let results = world.step();
            signed_later |= results.iter().any(|(_, result)| matches!(result, StepResult::Signed { .. }));
        }
        assert!(!signed_later, "after {steps} steps");
        bob(&world, "w2", ETHER);
        world.finish();
        assert_eq!(world.paid(home(2), ETHER), 1, "after {steps} steps");
        assert_eq!(world.paid(home(1), ETHER), usize::from(was_signed), "after {steps} steps");
        let status = world.status(&intent);
        // An order that was written down and not signed is revoked: the money is Alice's again, and stays in the books.
        let expected = if was_signed { "completed" } else { status.as_str() };
        assert_eq!(status, expected);
        if status.starts_with("failed") {
            assert_eq!(world.standing(ALICE), (10 * ETHER, 0));
        }
        world.audit();
    }
}

/// The signer has signed, and its answer was lost before the freeze: those very bytes are finished, and nothing else.
#[test]
fn bytes_that_exist_are_finished_when_their_answer_was_lost_before_the_freeze() {
    for between in [Between::AnswerLost, Between::RequestLost] {
        let mut world = World::new();
        let intent = world.alice("w1", home(1), ETHER);
        world.step_until(|result| *result == StepResult::Prepared);
        world.signer().plan.push_back(between);
        world.step_until(|result| matches!(result, StepResult::Waits(WaitReason::Signer(_))));
        world.frozen.insert(name("alice"));
        world.finish();
        let is_signed = between == Between::AnswerLost;
        assert_eq!(world.paid(home(1), ETHER), usize::from(is_signed), "{between:?}");
        let expected = if is_signed { "completed" } else { "failed" };
        assert!(world.status(&intent).starts_with(expected), "{between:?}");
        world.audit();
    }
}
