//! Money in, around and held, through the whole store.

use bankroll_ledger::{Kind, Rejection, Settler};

use crate::world::{World, hold, moving};

#[test]
fn a_deposit_can_be_spent_once() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(Kind::World, None));
    assert!(world.play(vec![moving(alice, arena, 60)]).effects().is_ok());
    assert_eq!(world.play(vec![moving(alice, arena, 60)]).effects(), Err(Rejection::InsufficientFunds));
    assert_eq!(world.standing(alice), (40, 0));
    assert_eq!(world.standing(arena), (60, 0));
    let report = world.audit();
    assert_eq!(
        report.totals.into_values().map(|(debit, credit)| (debit.units(), credit.units())).collect::<Vec<_>>(),
        [(100, 100)]
    );
}

#[test]
fn a_hold_keeps_money_from_being_spent_and_expires_by_the_ledgers_clock() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(Kind::World, None));
    world.play(vec![hold(alice, 70, Some(5_000_000), Settler::Holder)]);
    assert_eq!(world.standing(alice), (100, 70));
    assert_eq!(world.play(vec![moving(alice, arena, 31)]).effects(), Err(Rejection::InsufficientFunds));
    world.set_time(4_999_999);
    assert_eq!(world.standing(alice), (100, 70));
    world.set_time(5_000_000);
    assert_eq!(world.standing(alice), (100, 0));
    assert!(world.play(vec![moving(alice, arena, 100)]).effects().is_ok());
    world.audit();
}
