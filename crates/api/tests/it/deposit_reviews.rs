//! Deposits that wait for people: one holds, several release, refuse or assign.

use bankroll_deposits::review;
use bankroll_registry::check_overrides;
use bankroll_store::{Audit, Reader};
use serde_json::{Value, json};

use crate::world::{Reply, World, player};

/// One person of each role, and a deposit in this state.
fn world(state: &str) -> World {
    let world = World::new();
    world.hire_all();
    world.deposit_in(state, "dep-1", "stranger", 250);
    world
}

fn hold(world: &World, of: &str, key: &str) -> Reply {
    world.sign_with(of, "POST", "/v1/deposits/dep-1/hold", key, json!({ "reason": "a list" }))
}

fn seen(world: &World) -> Value {
    world.look("olga", "/v1/deposits/dep-1").expect(200)
}

fn content(kind: &str) -> Value {
    json!({ "kind": kind, "deposit": "dep-1", "inclusion": 1, "reason": "ticket 712" })
}

fn assign(to: &str) -> Value {
    let mut content = content("assign_deposit");
    content["amount"] = json!("250");
    content["server"] = json!("arena");
    content["player"] = json!(player(to));
    content
}

/// The player's unallocated money at the arena.
fn unallocated(world: &World, name: &str) -> u128 {
    balance(world, &format!("arena/unallocated/1/{}", player(name)))
}

fn balance(world: &World, account: &str) -> u128 {
    let reader = Reader::open(world.ledger.location().clone()).unwrap();
    reader.account_named(&account.parse().unwrap()).unwrap().map_or(0, |account| account.balance.units())
}

/// The journal again, and every override compared with what people signed. The rows have no scanner's log here.
fn audit(world: &World) {
    let reader = Reader::open(world.ledger.location().clone()).unwrap();
    let (report, _) = Audit::new(Reader::open(world.ledger.location().clone()).unwrap()).run(|_| {}).unwrap();
    let people = bankroll_registry::audit_operators(&reader).unwrap().unwrap();
    let is_shaped = |reader: &Reader, content: &_, request: &bankroll_ledger::Request| {
        // The amount is compared with the log, which stories of the API have none of.
        let is_assignment = matches!(content, bankroll_operators::ProposalContent::AssignDeposit { .. });
        Ok(is_assignment || review::is_carried_out_by(reader, content, request)?)
    };
    check_overrides(&reader, &people, &report.overrides, &is_shaped).unwrap();
    let refused = check_overrides(&reader, &people, &report.overrides, &|_, _, _| Ok(false));
    assert_eq!(refused.is_err(), !report.overrides.is_empty(), "each is asked about");
}

#[test]
fn one_person_holds_a_deposit_and_two_let_it_through() {
    let world = world("none");
    assert_eq!(seen(&world)["stage"], json!("final"));
    assert_eq!(hold(&world, "vera", "k1").code(), "forbidden");
    assert_eq!(hold(&world, "paul", "k1").code(), "forbidden");
    let held = hold(&world, "otto", "k1").expect(200);
    assert_eq!((&held["stage"], &held["review"]), (&json!("held"), &json!("held")));
    assert!(hold(&world, "otto", "k1").replayed);
    assert_eq!(hold(&world, "anna", "k1").code(), "conflict", "it is held already");
    let list = world.look("vera", "/v1/deposits?stage=held").expect(200);
    assert_eq!(list["deposits"][0]["deposit"], json!("dep-1"));
    assert!(!list.to_string().contains(&player("stranger")), "a viewer sees redacted wallets: {list}");
    let log = world.look("olga", "/v1/audit-log").expect(200)["entries"][0].clone();
    assert_eq!(log["act"], json!({ "act": "hold_deposit", "deposit": "dep-1", "reason": "a list" }));
    assert!(world.events().contains(&"deposit.held".to_owned()));
    audit(&world);

    let released = content("release_deposit");
    let proposal = world.propose("otto", &released).expect(200);
    assert_eq!((&proposal["status"], &seen(&world)["review"]), (&json!("open"), &json!("held")));
    assert_eq!(world.confirm("otto", &proposal, &released).code(), "forbidden");
    let other = content("refuse_deposit");
    assert_eq!(world.confirm("anna", &proposal, &other).code(), "proposal_other_content");
    let done = world.confirm("anna", &proposal, &released).expect(200);
    assert_eq!((&done["outcome"]["state"], &seen(&world)["review"]), (&json!("executed"), &json!("released")));
    assert_eq!(seen(&world)["stage"], json!("final"));
    assert_eq!(world.propose("otto", &released).code(), "conflict", "it waits for nobody any more");
    assert_eq!(hold(&world, "otto", "k2").code(), "conflict", "people have decided");
    assert!(world.events().contains(&"deposit.released".to_owned()));
    audit(&world);
}

#[test]
fn two_people_give_a_deposit_in_suspense_to_its_player_once() {
    let world = world("suspense");
    assert_eq!(hold(&world, "otto", "k1").code(), "conflict", "it is booked");
    let to_alice = assign("alice");
    let proposal = world.propose("olga", &to_alice).expect(200);
    let second = world.propose("otto", &assign("bob")).expect(200);
    assert_eq!(world.confirm("olga", &proposal, &to_alice).code(), "already_signed");
    assert_eq!((unallocated(&world, "alice"), balance(&world, "@house/suspense/1")), (0, 250));
    let path = format!("/v1/proposals/{}/confirm", proposal["proposal"].as_str().unwrap());
    let confirm = || world.sign_with("anna", "POST", &path, "c1", json!({ "content": to_alice }));
    let done = confirm();
    assert_eq!(done.body["outcome"]["state"], json!("executed"), "{done:?}");
    assert!(done.body["outcome"]["record"].is_string());
    assert_eq!((unallocated(&world, "alice"), balance(&world, "@house/suspense/1")), (250, 0));
    assert!(confirm().replayed);
    let found = seen(&world);
    assert_eq!(
        (&found["stage"], &found["server"], &found["player"]),
        (&json!("credited"), &json!("arena"), &json!(player("alice")))
    );
    // What was proposed meanwhile comes too late, for ever.
    let late = world.confirm("anna", &second, &assign("bob")).expect(200);
    assert_eq!((&late["outcome"]["state"], &late["outcome"]["reason"]), (&json!("failed"), &json!("guard_failed")));
    assert_eq!(world.propose("olga", &to_alice).code(), "conflict");
    assert_eq!((unallocated(&world, "alice"), unallocated(&world, "bob")), (250, 0));
    assert!(world.events().contains(&"deposit.assigned".to_owned()));
    audit(&world);
}

#[test]
fn what_could_not_be_carried_out_is_not_proposed() {
    let world = world("suspense");
    let with = |field: &str, value: Value| {
        let mut content = assign("alice");
        content[field] = value;
        content
    };
    for (content, code) in [
        (with("deposit", json!("dep-9")), "body_invalid"),
        (with("server", json!("nowhere")), "body_invalid"),
        (with("player", json!(player("nobody"))), "body_invalid"),
        (with("amount", json!("251")), "conflict"),
        (with("amount", json!("0")), "conflict"),
        (with("inclusion", json!(2)), "conflict"),
        (with("inclusion", json!(0)), "conflict"),
        (with("extra", json!(1)), "body_invalid"),
        (content("release_deposit"), "conflict"),
    ] {
        assert_eq!(world.propose("olga", &content).code(), code, "{content}");
    }
    assert_eq!(world.look("olga", "/v1/deposits/dep-9").code(), "not_found");
    assert_eq!(world.look("olga", "/v1/deposits?stage=lost").code(), "query_invalid");
}

#[test]
fn a_refused_deposit_stays_in_suspense_and_is_released_before_it_is_assigned() {
    let world = world("suspense");
    let refused = world.agree(&content("refuse_deposit"));
    assert_eq!(refused["outcome"]["state"], json!("executed"));
    assert_eq!((&seen(&world)["stage"], &seen(&world)["review"]), (&json!("suspense"), &json!("refused")));
    assert_eq!(world.propose("olga", &assign("alice")).code(), "conflict");
    assert_eq!(world.agree(&content("release_deposit"))["outcome"]["state"], json!("executed"));
    assert_eq!(world.agree(&assign("alice"))["outcome"]["state"], json!("executed"));
    assert_eq!(unallocated(&world, "alice"), 250);
    audit(&world);
}
