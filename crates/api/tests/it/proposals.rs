//! Acts that need several people: proposed, confirmed, rejected, expired, carried out once.

use serde_json::{Value, json};

use crate::{
    people::signed,
    world::{Reply, World, address, funds_of, player, send},
};

/// The arena has taken 300 from Alice; the record of it.
fn taken(world: &World) -> Value {
    let body = json!({ "account": funds_of("arena", "alice"), "amount": "300" });
    world.post("arena", "/v1/servers/arena/withdraw", body).expect(200)["record"].clone()
}

fn reverse(record: &Value) -> Value {
    json!({ "kind": "reverse", "record": record, "reason": "booked twice" })
}

fn alices(world: &World) -> String {
    world.balance("arena", &funds_of("arena", "alice")).0
}

fn show(world: &World, of: &str, proposal: &Value) -> Value {
    world.look(of, &format!("/v1/proposals/{}", proposal["proposal"].as_str().unwrap())).expect(200)
}

#[test]
fn two_people_reverse_a_record_and_neither_can_alone() {
    let world = World::new();
    world.hire_all();
    let record = taken(&world);
    assert_eq!(alices(&world), "700");
    let path = format!("/v1/servers/arena/records/{}/reverse", record.as_str().unwrap());
    let alone = world.sign("olga", "POST", &path, json!({}));
    assert_eq!(alone.code(), "confirmation_needed");
    assert!(alone.body["detail"].as_str().unwrap().contains("propose reverse"), "{alone:?}");

    let proposal = world.propose("otto", &reverse(&record)).expect(200);
    assert_eq!((&proposal["status"], &proposal["needed"]), (&json!("open"), &json!(2)));
    assert_eq!(world.confirm("otto", &proposal, &reverse(&record)).code(), "forbidden", "an operator does not confirm");
    assert_eq!(world.confirm("vera", &proposal, &reverse(&record)).code(), "forbidden");
    assert_eq!(alices(&world), "700");

    let done = world.confirm("anna", &proposal, &reverse(&record)).expect(200);
    assert_eq!((&done["status"], &done["outcome"]["state"]), (&json!("confirmed"), &json!("executed")));
    assert_eq!(alices(&world), "1000");
    let statement = format!("/v1/servers/arena/accounts/{}/statement", funds_of("arena", "alice").replace('/', "%2F"));
    let lines = world.get("arena", &statement).expect(200)["lines"].clone();
    let last = lines.as_array().unwrap().last().unwrap();
    assert_eq!((&last["record"], &last["reverses"]), (&done["outcome"]["record"], &record));
    let events = world.events();
    let about: Vec<&str> = events.iter().map(String::as_str).filter(|kind| kind.starts_with("proposal.")).collect();
    assert!(about.ends_with(&["proposal.opened", "proposal.confirmed", "proposal.executed"]), "{about:?}");
    assert_eq!(world.confirm("olga", &proposal, &reverse(&record)).code(), "proposal_ended");
    assert_eq!(alices(&world), "1000");
}

#[test]
fn an_owner_with_every_right_counts_once_whatever_keys_they_have() {
    let world = World::new();
    world.hire("omar", &["owner"]);
    let second = json!({ "kind": "add_key", "person": "olga", "address": address("olga's second") });
    let proposed = world.propose("olga", &second).expect(200);
    assert_eq!(world.confirm("olga", &proposed, &second).code(), "already_signed");
    world.confirm("omar", &proposed, &second).expect(200);
    let record = taken(&world);
    let proposal = world.propose("olga", &reverse(&record)).expect(200);
    assert_eq!(world.confirm("olga's second", &proposal, &reverse(&record)).code(), "already_signed");
    assert_eq!(alices(&world), "700");
}

#[test]
fn a_studio_of_one_says_so_first() {
    let world = World::new();
    let record = taken(&world);
    let open = world.propose("olga", &reverse(&record)).expect(200);
    assert_eq!(open["status"], json!("open"), "two by default, although there is one person");
    world.set_quorum_of_one();
    let done = world.propose("olga", &reverse(&record)).expect(200);
    assert_eq!((&done["status"], &done["outcome"]["state"]), (&json!("confirmed"), &json!("executed")));
    assert_eq!(alices(&world), "1000");
    assert_eq!(show(&world, "olga", &open)["status"], json!("open"), "what was open needs its signature all the same");
}

#[test]
fn the_same_signed_request_again_is_answered_and_has_no_second_effect() {
    let world = World::new();
    world.hire("omar", &["owner"]);
    let record = taken(&world);
    let body = json!({ "content": reverse(&record) });
    let propose = |body: &Value| world.sign_with("olga", "POST", "/v1/proposals", "p1", body.clone());
    let first = propose(&body);
    let again = propose(&body);
    assert_eq!((again.replayed, &again.body), (true, &first.body));
    let other = json!({ "content": reverse(&json!("rec_1")) });
    assert_eq!(propose(&other).code(), "idempotency_mismatch");
    let chain = json!({ "name": "eip155:1", "label": "Ethereum" });
    let elsewhere = world.sign_with("olga", "POST", "/v1/registry/chains", "p1", chain);
    assert_eq!(elsewhere.code(), "idempotency_mismatch", "one key is for one request, of whatever kind");

    let path = format!("/v1/proposals/{}/confirm", first.body["proposal"].as_str().unwrap());
    let confirm = || world.sign_with("omar", "POST", &path, "c1", body.clone());
    let done = confirm();
    assert_eq!(done.body["outcome"]["state"], json!("executed"));
    let again = confirm();
    assert_eq!((again.replayed, &again.body), (true, &done.body));
    assert_eq!(alices(&world), "1000");
}

#[test]
fn confirmations_at_the_same_time_carry_a_proposal_out_once() {
    let world = World::new();
    world.hire_all();
    let record = taken(&world);
    let proposal = world.propose("otto", &reverse(&record)).expect(200);
    let path = format!("/v1/proposals/{}/confirm", proposal["proposal"].as_str().unwrap());
    let body = json!({ "content": reverse(&record) }).to_string().into_bytes();
    let replies = world.runtime.block_on(async {
        let one = |number: usize| {
            let of = ["anna", "olga", "omar"][number % 3];
            let ask = signed(&world, of, ("POST", &path), Some("same"), Some(body.clone()));
            tokio::spawn(send(world.router.clone(), ask.request()))
        };
        let all: Vec<_> = (0..24).map(one).collect();
        let mut replies = Vec::new();
        for reply in all {
            replies.push(reply.await.unwrap());
        }
        replies
    });
    let first = replies.iter().filter(|reply| reply.status == 200 && !reply.replayed).count();
    assert_eq!(first, 1, "{replies:?}");
    assert!(replies.iter().all(|reply| reply.status == 200 || reply.code() == "proposal_ended"), "{replies:?}");
    assert_eq!(alices(&world), "1000");
}

#[test]
fn another_content_than_the_signed_one_is_confirmed_by_no_signature() {
    let world = World::new();
    world.hire("omar", &["owner"]);
    let record = taken(&world);
    let proposal = world.propose("olga", &reverse(&record)).expect(200);
    let changed = json!({ "kind": "reverse", "record": record, "reason": "booked thrice" });
    assert_eq!(world.confirm("omar", &proposal, &changed).code(), "proposal_other_content");
    assert_eq!(show(&world, "omar", &proposal)["signed_by"].as_array().unwrap().len(), 1);
}

#[test]
fn a_proposal_expires_is_rejected_or_loses_its_author() {
    let world = World::new();
    world.hire_all();
    let record = taken(&world);
    let content = reverse(&record);
    let short = json!({ "content": content, "lifetime_seconds": 60 });
    let expiring = world.sign("otto", "POST", "/v1/proposals", short).expect(200);
    world.pass(60);
    assert_eq!(show(&world, "anna", &expiring)["status"], json!("expired"));
    assert_eq!(world.confirm("anna", &expiring, &content).code(), "proposal_ended");

    let rejected = world.propose("otto", &content).expect(200);
    let path = format!("/v1/proposals/{}/reject", rejected["proposal"].as_str().unwrap());
    assert_eq!(world.sign("vera", "POST", &path, json!({})).code(), "forbidden");
    assert_eq!(world.sign("anna", "POST", &path, json!({})).expect(200)["status"], json!("rejected"));
    assert_eq!(world.confirm("anna", &rejected, &content).code(), "proposal_ended");

    let orphaned = world.propose("otto", &content).expect(200);
    world.sign("olga", "POST", "/v1/operators/otto/suspend", json!({})).expect(200);
    let confirmed = world.confirm("anna", &orphaned, &content).expect(200);
    assert_eq!(confirmed["status"], json!("open"), "what a suspended person signed counts for nothing");
    assert_eq!(world.confirm("olga", &orphaned, &content).expect(200)["status"], json!("open"));
    assert_eq!(alices(&world), "700");
    let open = world.look("vera", "/v1/proposals?status=open").expect(200)["proposals"].clone();
    assert_eq!(open.as_array().unwrap().len(), 1, "{open}");
}

#[test]
fn people_grant_only_rights_that_they_have() {
    let world = World::new();
    world.hire_all();
    let person =
        |roles: Value| json!({ "kind": "add_person", "person": "mia", "roles": roles, "address": address("mia") });
    assert_eq!(world.propose("otto", &person(json!(["viewer"]))).code(), "forbidden");
    assert_eq!(world.propose("anna", &person(json!(["viewer"]))).code(), "forbidden");
    assert_eq!(world.propose("paul", &person(json!(["viewer"]))).code(), "forbidden");
    let viewer = world.propose("olga", &person(json!(["viewer"]))).expect(200);
    assert_eq!(world.confirm("anna", &viewer, &person(json!(["viewer"]))).expect(200)["status"], json!("confirmed"));
    let program = json!({ "label": "bot", "rights": ["change_registry"] });
    assert_eq!(world.sign("olga", "POST", "/v1/program-keys", program).code(), "body_invalid", "programs read");
    let reserved = json!({
        "kind": "add_person", "person": "quorum-of-one", "roles": ["viewer"], "address": address("ghost")
    });
    assert_eq!(world.propose("olga", &reserved).code(), "body_invalid");
}

#[test]
fn what_the_ledger_rejects_has_failed_for_ever_and_says_why() {
    let world = World::new();
    world.set_quorum_of_one();
    let content = json!({
        "kind": "transfer", "from": funds_of("arena", "alice"), "to": "arena/ecosystem/1", "amount": "5000",
        "reason": "correction",
    });
    let failed = world.propose("olga", &content).expect(200);
    assert_eq!(failed["outcome"], json!({ "state": "failed", "reason": "insufficient_funds" }), "{failed}");
    world.give(&funds_of("arena", "alice"), 10_000);
    assert_eq!(show(&world, "olga", &failed)["outcome"]["state"], json!("failed"));
    assert_eq!(world.events().iter().filter(|kind| *kind == "proposal.failed").count(), 1);
    assert_eq!(alices(&world), "11000");
    let unknown = json!({
        "kind": "transfer", "from": "arena/funds/1/0x00", "to": "arena/world/1", "amount": "1", "reason": "x"
    });
    assert_eq!(world.propose("olga", &unknown).code(), "body_invalid");
}

/// The confirmation is in the books, and the process ends before the ledger has moved the money.
#[test]
fn what_was_confirmed_before_a_crash_is_carried_out_after_it() {
    let world = World::new();
    world.hire("omar", &["owner"]);
    let record = taken(&world);
    let content = reverse(&record);
    let proposal = world.propose("olga", &content).expect(200);
    world.confirm_without_money("omar", &proposal, &content);
    assert_eq!(alices(&world), "700", "the process has ended between the two steps");
    world.funds.release();
    world.funds.acquire(world.ledger.clone()).unwrap();
    assert_eq!(alices(&world), "1000", "carried out when the books were acquired again");
    world.funds.release();
    world.funds.acquire(world.ledger.clone()).unwrap();
    assert_eq!(alices(&world), "1000", "once");
    let shown = show(&world, "olga", &proposal);
    assert_eq!(shown["outcome"]["state"], json!("executed"));
}

#[test]
fn a_pause_is_added_by_one_person_and_lifted_by_two() {
    let world = World::new();
    world.hire_all();
    let pauses = |spawns: bool, deposits: bool| json!({ "deposits": deposits, "spawns": spawns, "withdrawals": false, "disabled": false });
    let put = |of: &str, body: Value| world.sign(of, "PUT", "/v1/servers/arena/pauses", body);
    put("otto", pauses(true, false)).expect(200);
    put("anna", pauses(true, true)).expect(200);
    let lifted = put("olga", pauses(false, true));
    assert_eq!((lifted.status, lifted.code()), (403, "confirmation_needed"));
    let resume = json!({
        "kind": "resume_server", "server": "arena", "deposits": false, "spawns": false, "withdrawals": false,
        "disabled": false,
    });
    let proposal = world.propose("otto", &resume).expect(200);
    assert_eq!(world.get("arena", "/v1/servers/arena").expect(200)["pauses"], pauses(true, true));
    world.confirm("anna", &proposal, &resume).expect(200);
    assert_eq!(world.get("arena", "/v1/servers/arena").expect(200)["pauses"], pauses(false, false));
}

#[test]
fn a_player_is_frozen_by_one_person_and_unfrozen_by_two() {
    let world = World::new();
    world.hire_all();
    let path = format!("/v1/players/{}/freeze", address("alice"));
    let freeze = |of: &str| world.sign(of, "POST", &path, json!({ "reason": "stolen wallet" }));
    assert_eq!(freeze("sam").code(), "forbidden");
    assert_eq!(freeze("otto").expect(200)["player"], json!(player("alice")), "one spelling, whatever the path has");
    assert_eq!(freeze("anna").code(), "conflict");
    let shown = world.look("olga", &format!("/v1/players/{}", player("alice"))).expect(200);
    assert_eq!(shown["frozen"], json!("stolen wallet"));
    let content = json!({ "kind": "unfreeze_player", "player": player("alice") });
    let proposal = world.propose("otto", &content).expect(200);
    world.confirm("anna", &proposal, &content).expect(200);
    let shown = world.look("olga", &format!("/v1/players/{}", player("alice"))).expect(200);
    assert_eq!(shown["frozen"], Value::Null);
    let events = world.events();
    let count = |kind: &str| events.iter().filter(|found| *found == kind).count();
    assert_eq!((count("player.frozen"), count("player.unfrozen")), (1, 1));
    let unknown: Reply = world.propose("otto", &content);
    assert_eq!(unknown.code(), "not_found", "they are not frozen");
}
