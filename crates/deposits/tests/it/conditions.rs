//! What the registry says at the commit decides, not what it said when a credit was built.

use bankroll_deposits::crediting;
use bankroll_ledger::{
    Action, Fact, Guard, GuardFailure, IdempotencyKey, Namespace, Principal, References, Rejection, Request, RowKey,
    Scope,
};
use bankroll_store::columns::{int, text};

use crate::world::{ALICE, World, name};

const ALICES: [&str; 4] =
    ["arena/funds/1/alice", "arena/developer/1", "arena/ecosystem/1", "arena/unallocated/1/alice"];

fn row() -> RowKey {
    RowKey { table: "stand_in".into(), columns: vec![("name".into(), text("arena"))] }
}

/// The owner changes the server's configuration.
fn set_version(world: &World, version: u64) {
    let guard = if version == 1 { Guard::Absent } else { Guard::Is(vec![("version".into(), int(version - 1))]) };
    let set = vec![("version".into(), int(version))];
    let text = format!("change/{version}");
    let request = Request {
        key: IdempotencyKey { namespace: Namespace::Registry, scope: Scope::House, text },
        principal: Principal::System,
        confirmation: None,
        action: Action::Legs(Vec::new()),
        references: References::default(),
        facts: vec![Fact { row: row(), guard, otherwise: GuardFailure::Conflict, set }],
        events: Vec::new(),
    };
    world.ledger().apply(request).unwrap().effects().unwrap();
}

fn is_version(version: u64) -> Fact {
    let guard = Guard::Is(vec![("version".into(), int(version))]);
    Fact { row: row(), guard, otherwise: GuardFailure::Paused, set: Vec::new() }
}

#[test]
fn a_credit_that_was_built_before_a_pause_is_not_a_buy_in_after_it() {
    let mut world = World::new();
    set_version(&world, 1);
    world.servers.values_mut().for_each(|rules| rules.is_current = Some(is_version(1)));
    world.pay(ALICE, 1_125);
    world.mine(3);
    world.scan_all();
    let built = world.with_rules(|rules| crediting::prepare_credits(rules, world.ledger(), world.rows(), 10)).unwrap();
    assert_eq!(built.requests.len(), 1);
    // The owner pauses deposits, and has the answer, before the credit is submitted.
    set_version(&world, 2);
    let outcome = crediting::submit(built, world.ledger(), world.rows()).unwrap();
    assert_eq!(outcome.refused.first().map(|(_, why)| *why), Some(Rejection::ServerPaused));
    assert_eq!(world.balances(ALICES), [0, 0, 0, 0]);
    // The flow reads the registry again: the key is free, and the money is not a buy-in.
    world.servers.values_mut().for_each(|rules| {
        rules.accepts = false;
        rules.version = 2;
        rules.is_current = Some(is_version(2));
    });
    let booked = world.book();
    assert_eq!(booked.credited.first().and_then(|deposit| deposit.reason), Some("server_paused"));
    assert_eq!(world.balances(ALICES), [0, 0, 0, 1_125]);
    world.audit();
}

#[test]
fn a_deposit_of_a_player_who_excluded_themselves_is_not_a_buy_in_and_pays_no_fees() {
    let mut world = World::new();
    world.excluded.insert(name("alice"));
    world.pay(ALICE, 1_125);
    world.settle(3);
    assert_eq!(world.balances(ALICES), [0, 0, 0, 1_125]);
    let reasons = world.pairs("SELECT invalid_reason AS a, ledger_state AS b FROM deposits");
    assert_eq!(reasons, [("player_excluded".to_owned(), "credited".to_owned())]);
    // The exclusion ends: the next deposit is a buy-in.
    world.excluded.clear();
    world.pay(ALICE, 1_125);
    world.settle(3);
    assert_eq!(world.balances(ALICES), [1_000, 25, 100, 1_125]);
    world.audit();
}
