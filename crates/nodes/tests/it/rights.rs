//! Rights by the roles of a certificate: the table, and its enforcement.

use bankroll_ledger::{
    AccountKind, Amount, ColumnValue, Event, Fact, Guard, GuardFailure, Leg, Namespace, Principal, RowKey,
};
use bankroll_nodes::{CallError, CallRefusal, NodeRole, NodeRoles, PrincipalClaim, Rights};

use crate::world::{PATIENCE, World, account, name, request};

/// Every principal, with the keys that it may use.
fn all_principals() -> Vec<(&'static str, Principal, Namespace)> {
    vec![
        ("indexer", Principal::Indexer, Namespace::Deposits),
        ("admin", Principal::Admin(name("olga")), Namespace::Client),
        ("developer", Principal::Developer(name("arena")), Namespace::Client),
        ("game server", Principal::GameServer(name("arena")), Namespace::Client),
        ("user", Principal::User(name("alice")), Namespace::Player),
        ("tables", Principal::Tables, Namespace::Tables),
        ("payouts", Principal::System, Namespace::Payouts),
        ("hot accounts", Principal::System, Namespace::Hot),
        ("system", Principal::System, Namespace::System),
    ]
}

fn allowed_principals(roles: NodeRoles) -> Vec<&'static str> {
    let leg = Leg::Release { hold: bankroll_ledger::HoldId(1) };
    let may = |(_, principal, namespace): &(&str, Principal, Namespace)| {
        Rights::default().check(roles, &[request(*namespace, "k", principal.clone(), leg.clone())]).is_ok()
    };
    all_principals().into_iter().filter(may).map(|(who, _, _)| who).collect()
}

#[test]
fn each_role_acts_only_for_its_own_principals() {
    for role in NodeRole::ALL {
        let expected: &[&str] = if role == NodeRole::Api { &["game server", "user"] } else { &[] };
        assert_eq!(allowed_principals(NodeRoles::of(&[role])), expected, "{role}");
        let relays = Rights::default().check_relay(NodeRoles::of(&[role]));
        assert_eq!(relays.is_ok(), role == NodeRole::Api, "{role}");
    }
    assert_eq!(allowed_principals(NodeRoles::ALL), ["game server", "user"]);
}

#[test]
fn facts_and_events_belong_to_the_books_unless_a_flow_lists_them() {
    let leg = Leg::Release { hold: bankroll_ledger::HoldId(1) };
    let plain = || request(Namespace::Client, "k", Principal::GameServer(name("arena")), leg.clone());
    let mut with_fact = plain();
    with_fact.facts.push(Fact {
        row: RowKey { table: "payout_intents".into(), columns: vec![("id".into(), ColumnValue::Text("a".into()))] },
        guard: Guard::Is(Vec::new()),
        otherwise: GuardFailure::Conflict,
        set: vec![("state".into(), ColumnValue::Text("new".into()))],
    });
    let mut with_event = plain();
    with_event.events.push(Event { kind: name("payout.requested"), resource: "d".into(), body: "{}".into() });
    let api = NodeRoles::of(&[NodeRole::Api]);
    let check = |rights: &Rights, request| rights.check(api, std::slice::from_ref(request));
    let none = Rights::default();
    assert_eq!(check(&none, &with_fact), Err(PrincipalClaim::Fact { table: "payout_intents".into() }));
    assert_eq!(check(&none, &with_event), Err(PrincipalClaim::Event { kind: "payout.requested".into() }));
    let others =
        none.clone().with_facts(NodeRole::Indexer, "payout_intents").with_events(NodeRole::Indexer, "payout.requested");
    assert!(check(&others, &with_fact).is_err() && check(&others, &with_event).is_err());
    let own = none.with_facts(NodeRole::Api, "payout_intents").with_events(NodeRole::Api, "payout.requested");
    assert_eq!((check(&own, &with_fact), check(&own, &with_event)), (Ok(()), Ok(())));
}

#[test]
fn the_books_refuse_a_principal_that_the_roles_do_not_allow() {
    let world = World::new();
    let address = world.server.address().to_string();
    let api = world.caller("api-1", "api", &address);
    let outcome = api.apply(vec![world.credit("k")], PATIENCE).unwrap().wait();
    let refused = CallRefusal::NotAllowed(PrincipalClaim::Principal { request: 0 });
    assert_eq!(outcome, Err(CallError::Refused(refused.clone())));
    // One wrong request among good ones: the whole call is refused.
    let leg = Leg::Move { from: world.alice, to: world.custody, amount: Amount::new(1) };
    let good = request(Namespace::Client, "g", Principal::GameServer(name("arena")), leg);
    let outcome = api.apply(vec![good, world.credit("k")], PATIENCE).unwrap().wait();
    assert_eq!(outcome, Err(CallError::Refused(CallRefusal::NotAllowed(PrincipalClaim::Principal { request: 1 }))));
    assert_eq!(world.journal().len(), 0);

    let names = vec![bankroll_ledger::AccountName { owner: Some(name("bob")), ..account(AccountKind::Funds) }];
    let game = Principal::GameServer(name("arena"));
    let opened = api.open_accounts(game, names.clone(), PATIENCE).unwrap().wait().unwrap();
    assert!(opened[0].is_ok(), "{opened:?}");
    let outcome = api.open_accounts(Principal::System, names, PATIENCE).unwrap().wait();
    assert_eq!(outcome, Err(CallError::Refused(refused)));
}
