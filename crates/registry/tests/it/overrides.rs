//! Overrides of the books against a process with the login of `books` and no key of a person: the ledger takes a second
//! name on trust, the audit asks the log for the signatures.

use bankroll_ledger::{
    Action, Amount, ColumnValue, Confirmation, Fact, Guard, GuardFailure, IdempotencyKey, Leg, Namespace, Principal,
    References, Request, RowKey, Scope,
};
use bankroll_operators::ProposalId;

use crate::world::{OWNER, STRANGER, World, address, name};

const FROM: &str = "arena/ecosystem/1";
const TO: &str = "arena/developer/1";

/// Olga and Ann, and 100 in the game's budget.
fn house() -> World {
    let mut world = World::with_server();
    let ann = address(STRANGER);
    let add = format!(r#"{{"content":{{"kind":"add_person","person":"ann","roles":["approver"],"address":"{ann}"}}}}"#);
    world.act(OWNER, "POST", "/v1/proposals", &add).unwrap();
    let accounts = [FROM, TO, "@house/custody/1/hot"].map(|name| name.parse().unwrap()).to_vec();
    world.ledger.open_accounts(&Principal::System, accounts).unwrap();
    let credit = Leg::Move {
        from: account(&world, "@house/custody/1/hot"),
        to: account(&world, FROM),
        amount: Amount::new(100),
    };
    let key = IdempotencyKey { namespace: Namespace::Deposits, scope: Scope::House, text: "gift".into() };
    send(&world, request(key, Principal::Indexer, None, vec![credit]));
    world
}

fn account(world: &World, text: &str) -> bankroll_ledger::AccountId {
    world.reader().account_named(&text.parse().unwrap()).unwrap().unwrap().id
}

fn request(key: IdempotencyKey, principal: Principal, confirmation: Option<Confirmation>, legs: Vec<Leg>) -> Request {
    let (references, action) = (References::default(), Action::Legs(legs));
    Request { key, principal, confirmation, action, references, facts: Vec::new(), events: Vec::new() }
}

fn send(world: &World, request: Request) {
    world.ledger.apply(request).unwrap().effects().unwrap();
}

/// A transfer by Olga that claims this proposal, and that this person confirmed it.
fn claim(world: &World, text: &str, amount: u128, proposal: &str, by: &str) {
    let key = IdempotencyKey { namespace: Namespace::Client, scope: Scope::House, text: format!("admin/olga/{text}") };
    let second = Confirmation { proposal: name(proposal), by: name(by) };
    let leg = Leg::Move { from: account(world, FROM), to: account(world, TO), amount: Amount::new(amount) };
    send(world, request(key, Principal::Admin(name("olga")), Some(second), vec![leg]));
}

/// Olga proposes to move 5; Ann confirms it, if she is asked to.
fn transfer_of_5(world: &mut World, is_confirmed: bool) -> ProposalId {
    let content =
        format!(r#"{{"content":{{"kind":"transfer","from":"{FROM}","to":"{TO}","amount":"5","reason":"a bonus"}}}}"#);
    world.act(OWNER, "POST", "/v1/proposals", &content).unwrap();
    let found = world.registry.operators().proposals().find(|found| found.content.kind() == "transfer").unwrap();
    let id = found.id;
    if is_confirmed {
        world.act(STRANGER, "POST", &format!("/v1/proposals/{id}/confirm"), &content).unwrap();
    }
    id
}

fn said(world: &World) -> String {
    world.check_overrides().err().map_or_else(String::new, |error| error.to_string())
}

#[test]
fn a_proposal_that_two_people_signed_is_carried_out_once() {
    let mut world = house();
    let id = transfer_of_5(&mut world, true).to_string();
    claim(&world, "proposal", 5, &id, "ann");
    assert_eq!(said(&world), "");
    claim(&world, "again", 5, &id, "ann");
    assert!(said(&world).ends_with("overrides the rules, and is no proposal that people have signed"));
}

#[test]
fn what_people_have_not_signed_is_named_by_its_record() {
    type Forgery = fn(&World, &str);
    let forgeries: [(bool, Forgery); 4] = [
        // Made up as a whole.
        (true, |world, _| claim(world, "forged", 5, "prp_00000000000000000000000000000000", "ann")),
        // Signed by one.
        (false, |world, id| claim(world, "forged", 5, id, "ann")),
        // With another content.
        (true, |world, id| claim(world, "forged", 50, id, "ann")),
        // With another second person.
        (true, |world, id| claim(world, "forged", 5, id, "eve")),
    ];
    for (number, (is_confirmed, forge)) in forgeries.into_iter().enumerate() {
        let mut world = house();
        let id = transfer_of_5(&mut world, is_confirmed).to_string();
        assert_eq!(said(&world), "");
        forge(&world, &id);
        let record = world.reader().head().unwrap().seq;
        let expected = format!("record {record} overrides the rules, and is no proposal that people have signed");
        assert_eq!(said(&world), expected, "forgery {number}");
    }
}

/// What moves no money may let money be moved: a decision about a deposit counts as an override, too.
#[test]
fn a_decision_about_a_deposit_is_compared_by_the_flow_that_knows_its_rows() {
    let mut world = house();
    let content = r#"{"content":{"kind":"release_deposit","deposit":"dep-1","inclusion":1,"reason":"checked"}}"#;
    world.act(OWNER, "POST", "/v1/proposals", content).unwrap();
    let id = world.registry.operators().proposals().find(|found| found.content.deposit().is_some()).unwrap().id;
    world.act(STRANGER, "POST", &format!("/v1/proposals/{id}/confirm"), content).unwrap();
    let check = |world: &World, is_so: bool| {
        let (report, _) = bankroll_store::Audit::new(world.reader()).run(|_| {}).unwrap();
        let people = bankroll_registry::audit_operators(&world.reader()).unwrap().unwrap();
        bankroll_registry::check_overrides(&world.reader(), &people, &report.overrides, &|_, _, _| Ok(is_so)).is_ok()
    };
    let decide = |world: &World, text: &str, proposal: &str| {
        let row = RowKey { table: "chains".into(), columns: vec![("name".into(), ColumnValue::Text(text.into()))] };
        let text = format!("admin/olga/{text}");
        let key = IdempotencyKey { namespace: Namespace::Client, scope: Scope::House, text };
        let second = Confirmation { proposal: name(proposal), by: name("ann") };
        let numbers = ["chain_id", "created_at", "revision"].map(|column| (column.to_owned(), ColumnValue::Int(1)));
        let set = numbers.into_iter().chain([("label".to_owned(), ColumnValue::Text("x".into()))]).collect();
        let fact = Fact { row, guard: Guard::Absent, otherwise: GuardFailure::Conflict, set };
        let request = request(key, Principal::Admin(name("olga")), Some(second), Vec::new());
        send(world, Request { facts: vec![fact], ..request });
    };
    assert!(check(&world, false), "nothing was decided");
    decide(&world, "proposal", &id.to_string());
    assert_eq!((check(&world, true), check(&world, false)), (true, false), "the flow says whether it is that");
    decide(&world, "again", &id.to_string());
    assert!(!check(&world, true), "once");
    let mut forged = house();
    forged.act(OWNER, "POST", "/v1/proposals", content).unwrap();
    decide(&forged, "forged", "prp_00000000000000000000000000000000");
    assert!(!check(&forged, true), "nobody has signed it");
}
