//! Money in, around and held, through the whole store.

use bankroll_ledger::{AccountKind, Action, Amount, Leg, Namespace, Principal, Rejection, Settler};

use crate::world::{World, game_server, hold, moving, request};

#[test]
fn a_deposit_can_be_spent_once() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    assert!(world.play(vec![moving(alice, arena, 60)]).effects().is_ok());
    assert_eq!(world.play(vec![moving(alice, arena, 60)]).effects(), Err(Rejection::InsufficientFunds));
    assert_eq!(world.balances(alice), (40, 0));
    assert_eq!(world.balances(arena), (60, 0));
    let report = world.audit();
    assert_eq!(
        report.totals.into_values().map(|(debit, credit)| (debit.to_string(), credit.to_string())).collect::<Vec<_>>(),
        [("100".to_owned(), "100".to_owned())]
    );
}

#[test]
fn a_hold_keeps_money_from_being_spent_and_expires_by_the_ledgers_clock() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    world.play(vec![hold(alice, 70, Some(5_000_000), Settler::Holder)]);
    assert_eq!(world.balances(alice), (100, 70));
    assert_eq!(world.play(vec![moving(alice, arena, 31)]).effects(), Err(Rejection::InsufficientFunds));
    world.set_time(4_999_999);
    assert_eq!(world.balances(alice), (100, 70));
    world.set_time(5_000_000);
    assert_eq!(world.balances(alice), (100, 0));
    assert!(world.play(vec![moving(alice, arena, 100)]).effects().is_ok());
    world.audit();
}

#[test]
fn a_payout_hold_is_settled_by_the_system_alone() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let custody = world.account(AccountKind::Custody, Some("hot"));
    world.play(vec![moving(alice, arena, 100)]);
    world.play(vec![moving(arena, alice, 80)]);
    let held = world.system(vec![hold(alice, 80, None, Settler::System)]);
    let payout = held.effects().unwrap().holds[0].hold.id;
    assert_eq!(world.balances(alice), (80, 80));
    assert_eq!(world.play(vec![Leg::Release { hold: payout }]).effects(), Err(Rejection::NotAllowed));
    assert_eq!(world.play(vec![moving(alice, arena, 1)]).effects(), Err(Rejection::InsufficientFunds));
    let pay = |amount: u128| world.system(vec![Leg::Post { hold: payout, to: custody, amount: Amount::new(amount) }]);
    assert!(pay(50).effects().is_ok());
    assert_eq!(pay(31).effects(), Err(Rejection::HoldExceeded));
    assert!(world.system(vec![Leg::Release { hold: payout }]).effects().is_ok());
    assert_eq!(pay(30).effects(), Err(Rejection::HoldSettled));
    assert_eq!((world.balances(alice), world.balances(custody)), ((30, 0), (50, 0)));
    world.audit();
}

#[test]
fn an_orphaned_deposit_that_was_spent_becomes_a_debt_which_new_credits_repay() {
    let mut world = World::new();
    let custody = world.account(AccountKind::Custody, Some("hot"));
    let (alice, arena) = (world.account(AccountKind::Funds, Some("alice")), world.account(AccountKind::World, None));
    let deposit = world.deposit(moving(custody, alice, 100)).seq.unwrap();
    world.play(vec![moving(alice, arena, 70)]);
    let reverse = |world: &World| {
        let mut reversal = request(world.fresh_key(Namespace::Deposits), Principal::Indexer, vec![]);
        reversal.action = Action::Reverse(deposit);
        world.ledger().apply(reversal).unwrap()
    };
    assert_eq!(reverse(&world).effects(), Err(Rejection::DebtAccountNotFound));
    let debt = world.account(AccountKind::Debt, Some("alice"));
    assert!(reverse(&world).effects().is_ok());
    assert_eq!((world.balances(alice), world.balances(debt), world.balances(custody)), ((0, 0), (70, 0), (0, 0)));
    assert_eq!(reverse(&world).effects(), Err(Rejection::AlreadyReversed));
    world.reopen();
    world.play(vec![moving(arena, alice, 50)]);
    assert_eq!((world.balances(alice), world.balances(debt)), ((0, 0), (20, 0)));
    world.deposit(moving(custody, alice, 100));
    assert_eq!((world.balances(alice), world.balances(debt)), ((80, 0), (0, 0)));
    world.audit();
}

#[test]
fn many_holds_expire_in_several_batches_each_with_a_record() {
    let world = World::new();
    let alice = world.player("alice", 3_000);
    let holds = (0..200).map(|_| {
        let legs = vec![hold(alice, 1, Some(2_000_000), Settler::Holder); 15];
        request(world.fresh_key(Namespace::Client), game_server(), legs)
    });
    world.ledger().submit(holds.collect()).unwrap().wait().unwrap();
    assert_eq!(world.balances(alice), (3_000, 3_000));
    let before = world.reader().head().unwrap().seq.0;
    world.set_time(2_000_000);
    assert_eq!(world.balances(alice), (3_000, 0));
    assert_eq!(world.reader().head().unwrap().seq.0 - before, 3_000);
    world.audit();
}

#[test]
fn a_clock_that_jumps_back_does_not_take_the_journal_with_it() {
    let world = World::new();
    let alice = world.player("alice", 10);
    world.set_time(9_000_000);
    world.play(vec![hold(alice, 1, Some(9_500_000), Settler::Holder)]);
    world.set_time(5_000_000);
    world.play(vec![hold(alice, 1, Some(9_500_000), Settler::Holder)]);
    assert_eq!(world.reader().head().unwrap().at.0, 9_000_000);
    assert_eq!(
        world.play(vec![hold(alice, 1, Some(6_000_000), Settler::Holder)]).effects(),
        Err(Rejection::HoldExpired)
    );
    world.audit();
}

#[test]
fn a_transfer_can_be_reversed_in_the_call_that_made_it() {
    let world = World::new();
    let (alice, custody) = (world.player("alice", 0), world.account(AccountKind::Custody, Some("hot")));
    let next = world.reader().head().unwrap().seq.next();
    let deposit = request(world.fresh_key(Namespace::Deposits), Principal::Indexer, vec![moving(custody, alice, 5)]);
    let mut reversal = request(world.fresh_key(Namespace::Deposits), Principal::Indexer, vec![]);
    reversal.action = Action::Reverse(next);
    let mut again = request(world.fresh_key(Namespace::Deposits), Principal::Indexer, vec![]);
    again.action = Action::Reverse(next);
    let answers = world.ledger().submit(vec![deposit, reversal, again]).unwrap().wait().unwrap();
    let outcomes: Vec<_> = answers.iter().map(|answer| answer.effects().err()).collect();
    assert_eq!(outcomes, [None, None, Some(Rejection::AlreadyReversed)]);
    assert_eq!(world.balances(alice), (0, 0));
    world.audit();
}
