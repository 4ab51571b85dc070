//! Money moves between accounts of one server, and nowhere else.

use serde_json::json;

use crate::world::{World, funds_of};

#[test]
fn a_transfer_moves_money_and_says_what_it_did() {
    let world = World::new();
    let alice = funds_of("arena", "alice");
    let body = json!({ "from": alice, "to": "arena/world/1", "amount": "250" });
    let done = world.post("arena", "/v1/servers/arena/transfer", body).expect(200);
    let posting = &done["postings"][0];
    assert_eq!(posting["from"], json!(alice));
    assert_eq!(
        (&posting["amount"], &posting["from_balance"], &posting["to_balance"]),
        (&json!("250"), &json!("750"), &json!("250"))
    );
    assert_eq!(world.balance("arena", &alice), ("750".into(), "750".into()));
    let lines = world.get("arena", &format!("/v1/servers/arena/accounts/{}/statement", alice.replace('/', "%2F")));
    let lines = lines.expect(200)["lines"].clone();
    assert_eq!(
        (&lines[1]["change"], &lines[1]["other"], &lines[1]["balance"]),
        (&json!("out"), &json!("arena/world/1"), &json!("750"))
    );
}

#[test]
fn deposit_and_withdraw_have_the_world_on_the_other_side() {
    let world = World::new();
    let alice = funds_of("arena", "alice");
    let money = |amount: &str| json!({ "account": alice, "amount": amount });
    world.post("arena", "/v1/servers/arena/withdraw", money("400")).expect(200);
    world.post("arena", "/v1/servers/arena/deposit", money("150")).expect(200);
    assert_eq!(world.balance("arena", &alice).0, "750");
    assert_eq!(world.balance("arena", "arena/world/1").0, "250");
    let refused = world.post("arena", "/v1/servers/arena/deposit", money("251"));
    assert_eq!((refused.status, refused.code()), (422, "insufficient_funds"));
    // The route table has no way from a player's funds to the developer.
    let body = json!({ "account": alice, "amount": "1", "counter": "arena/developer/1" });
    let refused = world.post("arena", "/v1/servers/arena/withdraw", body);
    assert_eq!((refused.status, refused.code()), (403, "route_not_allowed"));
}

#[test]
fn pellets_come_from_the_ecosystem_and_go_back() {
    let world = World::new();
    world.post("arena", "/v1/servers/arena/pellets", json!({ "amount": "120" })).expect(200);
    world.post("arena", "/v1/servers/arena/recycle", json!({ "amount": "20" })).expect(200);
    assert_eq!(world.balance("arena", "arena/ecosystem/1").0, "200");
    assert_eq!(world.balance("arena", "arena/world/1").0, "100");
}

#[test]
fn a_hold_is_posted_in_part_and_released() {
    let world = World::new();
    let alice = funds_of("arena", "alice");
    let held = world.post("arena", "/v1/servers/arena/holds", json!({ "account": alice, "amount": "600" })).expect(200);
    let hold = held["holds"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(world.balance("arena", &alice), ("1000".into(), "400".into()));
    let post = json!({ "to": "arena/world/1", "amount": "100" });
    world.post("arena", &format!("/v1/servers/arena/holds/{hold}/post"), post.clone()).expect(200);
    // To another server the hold does not exist, whatever its state.
    let foreign = world.post("rival", &format!("/v1/servers/rival/holds/{hold}/release"), json!({}));
    assert_eq!((foreign.status, foreign.code()), (404, "not_found"));
    world.post("arena", &format!("/v1/servers/arena/holds/{hold}/release"), json!({})).expect(200);
    assert_eq!(world.balance("arena", &alice), ("900".into(), "900".into()));
    let foreign = world.post("rival", &format!("/v1/servers/rival/holds/{hold}/release"), json!({}));
    assert_eq!((foreign.status, foreign.code()), (404, "not_found"));
    let again = world.post("arena", &format!("/v1/servers/arena/holds/{hold}/post"), post);
    assert_eq!((again.status, again.code()), (422, "hold_settled"));
}

#[test]
fn another_servers_account_does_not_exist() {
    let world = World::new();
    let bob = funds_of("rival", "bob");
    let missing = funds_of("arena", "stranger");
    let ask = |from: &str| {
        let body = json!({ "from": from, "to": "arena/world/1", "amount": "1" });
        let reply = world.post("arena", "/v1/servers/arena/transfer", body);
        (reply.status, reply.body)
    };
    assert_eq!(ask(&bob), ask(&missing), "foreign and missing have the same answer, byte for byte");
    assert_eq!(ask(&bob).0, 404);
    assert_eq!(world.balance("rival", &bob).0, "500");
}

#[test]
fn each_operation_of_a_batch_has_its_own_result() {
    let world = World::new();
    let alice = funds_of("arena", "alice");
    let operations = json!({ "operations": [
        { "key": "a", "type": "withdraw", "account": alice, "amount": "300" },
        { "key": "b", "type": "transfer", "from": alice, "to": "arena/world/1", "amount": "701" },
        { "key": "c", "type": "transfer", "from": alice, "to": "arena/world/1", "amount": "07" },
        { "key": "d", "type": "pellets", "amount": "10" },
        { "key": "e", "type": "release", "hold": "hold_16" },
        { "key": "a", "type": "withdraw", "account": alice, "amount": "300" },
        { "key": "f", "type": "transfer", "from": funds_of("rival", "bob"), "to": "arena/world/1", "amount": "1" },
        { "key": "g", "type": "pellets", "amount": "10", "from": alice },
    ] });
    let done = world.post("arena", "/v1/servers/arena/batch", operations.clone()).expect(200);
    let codes: Vec<_> = done["results"].as_array().unwrap().iter().map(|one| one["error"]["code"].clone()).collect();
    let expected =
        json!([null, "insufficient_funds", "amount_malformed", null, "not_found", null, "not_found", "body_invalid"]);
    assert_eq!(json!(codes), expected, "{done}");
    assert_eq!(done["results"][5]["replayed"], json!(true));
    assert_eq!(world.balance("arena", &alice).0, "700", "one effect for one key");
    let again = world.post("arena", "/v1/servers/arena/batch", operations).expect(200);
    assert_eq!(again["results"][0]["applied"], done["results"][0]["applied"], "the same answer");
    assert_eq!(world.balance("arena", &alice).0, "700");
}
