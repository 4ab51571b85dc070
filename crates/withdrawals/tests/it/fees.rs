//! What gas costs, who pays for it, and what is done when it is not enough.

use bankroll_ledger::Amount;
use bankroll_withdrawals::{GasPayer, Happened, Wanted, Why};

use crate::world::{ETHER, GWEI, SECOND, TRANSFER_GAS, World, home, sent};

fn raised(happened: &Happened) -> bool {
    matches!(happened, Happened::Raised { .. })
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
    world.pass(world.paying.rules.stuck_after);
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
fn above_the_ceiling_it_waits_and_goes_on_sending_the_same() {
    let mut world = World::new();
    world.paying.rules.ceiling.max = 4 * GWEI;
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
    let waits = world.step_until(|happened| *happened == Happened::Waits(Why::FeesAboveCeiling));
    assert_eq!(waits, Happened::Waits(Why::FeesAboveCeiling));
    world.chain().set_base_fee(u64::try_from(GWEI).unwrap());
    world.finish();
    assert_eq!((world.status(&intent).as_str(), world.status(&second).as_str()), ("completed", "completed"));
    assert_eq!(world.payments().len(), 2);
    world.audit_at_rest();
}

#[test]
fn a_fee_above_what_the_player_set_aside_is_not_paid_by_anybody_else() {
    let mut world = World::new();
    let cap = Amount::new(TRANSFER_GAS * GWEI / 2);
    let wanted = Wanted { gas: GasPayer::Player(cap), ..world.wanted("exit-1", home(1), ETHER) };
    let intent = world.want(&wanted).unwrap();
    world.finish();
    assert_eq!((world.status(&intent.id).as_str(), world.payments().len()), ("approved", 0));
    assert!(world.jobs()[0].1.contains("FeesAboveCeiling"), "{:?}", world.jobs());
}

#[test]
fn players_coins_do_not_pay_the_houses_gas() {
    let mut world = World::with_house(TRANSFER_GAS * GWEI);
    let intent = world.alice("exit-1", home(1), ETHER);
    let waits = world.step_until(|happened| *happened == Happened::Waits(Why::HouseShort));
    assert_eq!(waits, Happened::Waits(Why::HouseShort));
    world.finish();
    assert_eq!((world.status(&intent).as_str(), world.jobs()[0].0.as_str()), ("approved", "waiting_funds"));
    assert_eq!(world.payments().len(), 0);
}
