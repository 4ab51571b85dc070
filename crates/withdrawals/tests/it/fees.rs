//! What gas costs, who pays for it, and what is done when it is not enough.

use bankroll_ledger::{Amount, Time};
use bankroll_withdrawals::{GasPayer, Intents, StepResult, WaitReason, WithdrawalRequest};

use crate::world::{ETHER, GWEI, SECOND, TRANSFER_GAS, World, home, paid, sent};

fn raised(result: &StepResult) -> bool {
    matches!(result, StepResult::Raised { .. })
}

#[test]
fn a_stuck_payout_is_replaced_by_the_same_for_an_eighth_more() {
    let mut world = World::new();
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step_until(sent);
    // A rush: the base fee is far above what was offered.
    world.chain().set_base_fee(50 * u64::try_from(GWEI).unwrap());
    world.mine(1);
    world.step();
    assert_eq!(world.payments().len(), 0);
    world.pass(world.config.rules.stuck_after);
    world.step_until(raised);
    world.finish();
    let attempts = world.pairs("SELECT max_fee AS a, priority_fee AS b FROM payout_attempts ORDER BY number");
    let fees: Vec<(u128, u128)> =
        attempts.iter().map(|(max, tip)| (max.parse().unwrap(), tip.parse().unwrap())).collect();
    assert!(fees.len() >= 2, "{fees:?}");
    assert!(fees.windows(2).all(|pair| pair[1].0 * 8 >= pair[0].0 * 9 && pair[1].1 * 8 >= pair[0].1 * 9), "{fees:?}");
    assert_eq!(world.status(&intent), "completed");
    assert_eq!((world.paid(home(1), ETHER), world.payments().len()), (1, 1));
    world.audit_at_rest();
}

#[test]
fn above_the_ceiling_a_payout_waits_and_keeps_sending_the_same_bytes() {
    let mut world = World::new();
    world.config.rules.ceiling.max = 4 * GWEI;
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step_until(sent);
    for _ in 0..20 {
        world.chain().set_base_fee(50 * u64::try_from(GWEI).unwrap());
        world.mine(1);
        world.pass(100 * SECOND);
        world.step();
    }
    assert_eq!(world.payments().len(), 0);
    let highest = world.pairs("SELECT max(max_fee) AS a, count(*) AS b FROM payout_attempts");
    assert!(highest[0].0.parse::<u128>().map_or(true, |highest| highest <= 4 * GWEI), "{highest:?}");
    let second = world.alice("exit-2", home(2), ETHER);
    let waits = world.step_until(|result| *result == StepResult::Waits(WaitReason::FeesAboveCeiling));
    assert_eq!(waits, StepResult::Waits(WaitReason::FeesAboveCeiling));
    world.chain().set_base_fee(u64::try_from(GWEI).unwrap());
    world.finish();
    assert_eq!((world.status(&intent).as_str(), world.status(&second).as_str()), ("completed", "completed"));
    assert_eq!(world.payments().len(), 2);
    world.audit_at_rest();
}

/// The payout was signed at the ceiling. A cancellation must pay more, which is not allowed: then it is paid, and the
/// nonce is free for the payouts behind it.
#[test]
fn a_cancellation_that_nothing_may_pay_for_holds_up_no_other_payout() {
    let mut world = World::new();
    world.chain().set_base_fee(3 * u64::try_from(GWEI).unwrap());
    world.mine(1);
    world.config.rules.ceiling.max = 4 * GWEI;
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step_until(|result| matches!(result, StepResult::Signed { .. }));
    Intents::cancel(world.rows(), &intent, Time(world.now)).unwrap();
    let second = world.alice("exit-2", home(2), ETHER);
    world.finish();
    assert_eq!((world.status(&intent).as_str(), world.status(&second).as_str()), ("completed", "completed"));
    assert_eq!((world.paid(home(1), ETHER), world.payments().len()), (1, 2));
    world.audit_at_rest();
}

#[test]
fn a_fee_above_the_players_cap_is_paid_by_no_other_account() {
    let mut world = World::new();
    let cap = Amount::new(TRANSFER_GAS * GWEI / 2);
    let withdrawal = WithdrawalRequest { gas: GasPayer::Player(cap), ..world.withdrawal("exit-1", home(1), ETHER) };
    let intent = world.request(&withdrawal).unwrap();
    world.finish();
    assert_eq!((world.status(&intent.id).as_str(), world.payments().len()), ("approved", 0));
    assert!(world.jobs()[0].1.contains("the chain asks more for gas"), "{:?}", world.jobs());
}

#[test]
fn players_coins_do_not_pay_the_houses_gas() {
    let mut world = World::with_house(TRANSFER_GAS * GWEI);
    let intent = world.alice("exit-1", home(1), ETHER);
    let waits = world.step_until(|result| *result == StepResult::Waits(WaitReason::HouseShort));
    assert_eq!(waits, StepResult::Waits(WaitReason::HouseShort));
    // Until the next try, silence does not read as progress.
    assert_eq!(world.step().pop().unwrap().1, StepResult::Waits(WaitReason::PutOff));
    world.finish();
    assert_eq!((world.status(&intent).as_str(), world.jobs()[0].0.as_str()), ("approved", "waiting_funds"));
    assert_eq!(world.payments().len(), 0);
}

/// What a payout costs at worst, as it is written down when it is prepared.
fn worst_cost() -> u128 {
    let mut world = World::new();
    world.alice("exit-1", home(1), ETHER);
    world.step_until(|result| *result == StepResult::Prepared);
    TRANSFER_GAS * world.pairs("SELECT max_fee AS a, number AS b FROM payout_attempts")[0].0.parse::<u128>().unwrap()
}

#[test]
fn gas_that_is_used_and_not_booked_yet_is_not_spent_again() {
    // Enough for one payout, and not for the second after it, at any moment of the first.
    let house = worst_cost();
    let moments: [fn(&mut World); 3] = [
        |world| {
            world.step_until(sent);
        },
        |world| {
            world.step_until(sent);
            world.mine(1);
            world.step_until(|result| *result == StepResult::Mined);
        },
        |world| {
            world.step_until(sent);
            world.mine(3);
            world.step_until(paid);
        },
    ];
    for (number, moment) in moments.into_iter().enumerate() {
        let mut world = World::with_house(house);
        let first = world.alice("exit-1", home(1), ETHER);
        moment(&mut world);
        let second = world.alice("exit-2", home(2), ETHER);
        let waits = world.step_until(|result| {
            matches!(result, StepResult::Reserved { .. } | StepResult::Waits(WaitReason::HouseShort))
        });
        assert_eq!(waits, StepResult::Waits(WaitReason::HouseShort), "moment {number}");
        world.finish();
        assert_eq!((world.status(&first).as_str(), world.status(&second).as_str()), ("completed", "approved"));
        let (used, capital) = (world.standing("@house/network_fees/1").0, world.standing("@house/house/1").0);
        assert!(used <= capital, "{used} of {capital}");
        world.audit_at_rest();
    }
}

#[test]
fn a_price_that_has_risen_since_a_nonce_was_reserved_is_asked_of_the_house_again() {
    let mut world = World::with_house(worst_cost());
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step_until(|result| matches!(result, StepResult::Reserved { .. }));
    world.chain().set_base_fee(20 * u64::try_from(GWEI).unwrap());
    world.mine(1);
    world.step_until(|result| matches!(result, StepResult::Waits(WaitReason::HouseShort)));
    assert_eq!(world.pairs("SELECT job AS a, number AS b FROM payout_attempts"), []);
    world.chain().set_base_fee(u64::try_from(GWEI).unwrap());
    world.mine(1);
    world.pass(3_600 * SECOND);
    world.finish();
    assert_eq!(world.status(&intent), "completed");
}

#[test]
fn a_replacement_waits_for_the_houses_capital_too() {
    let mut world = World::with_house(worst_cost());
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step_until(sent);
    for _ in 0..10 {
        world.chain().set_base_fee(20 * u64::try_from(GWEI).unwrap());
        world.mine(1);
        world.pass(world.config.rules.stuck_after);
        world.step();
    }
    assert_eq!(world.step().pop().unwrap().1, StepResult::Waits(WaitReason::HouseShort));
    assert_eq!(world.pairs("SELECT job AS a, number AS b FROM payout_attempts").len(), 1);
    world.chain().set_base_fee(u64::try_from(GWEI).unwrap());
    world.finish();
    assert_eq!((world.status(&intent).as_str(), world.paid(home(1), ETHER)), ("completed", 1));
}
