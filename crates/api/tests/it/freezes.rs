//! Frozen players: nothing of theirs enters the world and nothing is paid out, by whatever way; what is theirs still
//! comes to them. It begins with the answer to one signed request, and ends with a proposal.

use std::sync::Arc;

use bankroll_orders::typed_data::{self, Payout, U256, WalletSignature};
use serde_json::{Value, json};

use crate::{
    people::signed,
    spawns::payout_of,
    world::{AUDIENCE, Ask, CHAIN, Reply, World, address, funds_of, key, player, send},
};

/// Olga freezes, and Omar is there to lift it with her.
fn house() -> World {
    let world = World::new();
    world.hire("omar", &["owner"]);
    world
}

impl World {
    fn freeze(&self, name: &str) {
        let path = format!("/v1/players/{}/freeze", player(name));
        self.sign("olga", "POST", &path, json!({ "reason": "two accounts" })).expect(200);
    }

    fn lift(&self, name: &str) {
        let lifted = self.agree(&json!({ "kind": "unfreeze_player", "player": player(name) }));
        assert_eq!(lifted["status"], json!("confirmed"));
    }

    fn at_arena(&self, path: &str, body: Value) -> Reply {
        self.post("arena", &format!("/v1/servers/arena/{path}"), body)
    }

    fn spawn(&self, key: &str, name: &str) -> Reply {
        self.post_with("arena", "/v1/servers/arena/spawns", key, json!({ "player": player(name) }))
    }

    fn end_spawn(&self, spawn: &Value, how: &str) -> Reply {
        self.at_arena(&format!("spawns/{}/{how}", spawn["spawn"].as_str().unwrap()), json!({}))
    }
}

const FROZEN: &str = "player_frozen";

#[test]
fn every_way_into_the_world_is_closed_and_reopens_when_the_freeze_is_lifted() {
    let world = house();
    let (alice, bob) = (funds_of("arena", "alice"), funds_of("arena", "bob"));
    let held = world.at_arena("holds", json!({ "account": alice, "amount": "10" })).expect(200);
    let hold = held["holds"][0]["id"].clone();
    let (first, second) = (world.spawn("s1", "alice").expect(200), world.spawn("s2", "alice").expect(200));
    world.freeze("alice");

    let eligibility = format!("/v1/servers/arena/players/{}/eligibility", player("alice"));
    let seen = world.get("arena", &eligibility).expect(200);
    assert_eq!((&seen["eligible"], &seen["reason"]), (&json!(false), &json!("frozen")));
    assert_eq!(world.get("alice", "/v1/me").expect(200)["frozen"], json!(true));
    assert_eq!(world.get("bob", "/v1/me").expect(200)["frozen"], json!(false));

    assert_eq!(world.spawn("s3", "alice").code(), FROZEN);
    assert!(world.spawn("s1", "alice").replayed, "what was reserved has its answer");
    assert_eq!(world.end_spawn(&first, "commit").code(), FROZEN);
    let post = format!("holds/{}/post", hold.as_str().unwrap());
    let posted = json!({ "to": "arena/world/1", "amount": "10" });
    let transfer = json!({ "from": alice, "to": "arena/world/1", "amount": "1" });
    assert_eq!(world.at_arena(&post, posted.clone()).code(), FROZEN, "a hold from before the freeze");
    assert_eq!(world.at_arena("transfer", transfer.clone()).code(), FROZEN);
    assert_eq!(world.at_arena("withdraw", json!({ "account": alice, "amount": "1" })).code(), FROZEN);
    assert_eq!(world.at_arena("holds", json!({ "account": alice, "amount": "1" })).code(), FROZEN);
    world.at_arena("accounts", json!({ "player": player("bob") })).expect(200);
    world.give(&bob, 50);
    let batch = json!({ "operations": [
        { "key": "b1", "type": "post", "hold": hold, "to": "arena/world/1", "amount": "10" },
        { "key": "b2", "type": "withdraw", "account": alice, "amount": "1" },
        { "key": "b3", "type": "withdraw", "account": bob, "amount": "5" },
        { "key": "b4", "type": "deposit", "account": alice, "amount": "5" },
    ] });
    let results = world.at_arena("batch", batch).expect(200);
    let codes: Vec<&Value> = results["results"].as_array().unwrap().iter().map(|one| &one["error"]["code"]).collect();
    assert_eq!(codes, [&json!(FROZEN), &json!(FROZEN), &Value::Null, &Value::Null], "Bob plays, Alice is credited");

    // What frees her money is open.
    assert_eq!(world.end_spawn(&second, "release").status, 200);
    world.give(&alice, 20);
    assert_eq!(world.balance("arena", &alice), ("1025".into(), "915".into()));

    world.lift("alice");
    assert_eq!(world.get("arena", &eligibility).expect(200)["eligible"], json!(true));
    world.end_spawn(&first, "commit").expect(200);
    world.at_arena(&post, posted).expect(200);
    world.at_arena("transfer", transfer).expect(200);
    assert_eq!(world.spawn("s3", "alice").status, 200);
    assert_eq!(world.get("alice", "/v1/me").expect(200)["frozen"], json!(false));
}

#[test]
fn a_frozen_player_leaves_the_world_with_their_money_and_is_not_paid() {
    let world = house();
    let alice = funds_of("arena", "alice");
    let spawn = world.spawn("s1", "alice").expect(200);
    world.end_spawn(&spawn, "commit").expect(200);
    let payout = |id: &str| payout_of(&world, &alice, id, 40, (1, address("alice")), "alice");
    let requested = world.post("alice", "/v1/me/withdrawals", payout("p1")).expect(200);
    world.freeze("alice");

    let refused = world.post("alice", "/v1/me/withdrawals", payout("p2"));
    assert_eq!((refused.status, refused.code()), (409, FROZEN));
    assert_eq!(world.post("alice", "/v1/me/withdrawals", payout("p1")).body, requested, "it was asked for before");
    let exit = json!({
        "exit_id": "x1", "player": player("alice"), "amount": "90", "payout": "auto", "spawn": spawn["spawn"],
    });
    let left = world.at_arena("exits", exit.clone()).expect(200);
    assert_eq!((&left["kept_because"], &left["withdrawal"]), (&json!(FROZEN), &Value::Null));
    assert_eq!(world.balance("arena", &alice).0, "990");
    assert_eq!(world.get("arena", "/v1/servers/arena/exits/x1").expect(200), left);
    let again = world.at_arena("exits", exit.clone());
    assert_eq!((again.replayed, &again.body), (true, &left));

    world.lift("alice");
    let again = world.at_arena("exits", exit);
    assert_eq!((again.replayed, &again.body), (true, &left), "an exit happens once");
    assert_eq!(world.balance("arena", &alice).0, "990");
    world.post("alice", "/v1/me/withdrawals", payout("p2")).expect(200);
}

#[test]
fn a_freeze_is_about_all_wallets_of_a_player_and_may_come_before_they_sign_in() {
    let world = house();
    let late = funds_of("arena", "late");
    world.at_arena("accounts", json!({ "player": player("late") })).expect(200);
    world.give(&late, 400);
    world.freeze("late");
    assert_eq!(world.spawn("s1", "late").code(), FROZEN, "they never signed in");
    assert_eq!(world.spawn("s2", "alice").status, 200);
    // Linked to Alice, it is Alice who is frozen, with all that she has.
    world.post("alice", "/v1/me/wallets", world.link_body("late", &player("alice"))).expect(200);
    assert_eq!(world.spawn("s3", "alice").code(), FROZEN);
    assert_eq!(world.get("alice", "/v1/me").expect(200)["frozen"], json!(true));
    for account in [&late, &funds_of("arena", "alice")] {
        let body = payout_of(&world, account, "p1", 40, (1, address("alice")), "alice");
        assert_eq!(world.post("alice", "/v1/me/withdrawals", body).code(), FROZEN, "{account}");
    }
    world.lift("late");
    assert_eq!(world.spawn("s3", "alice").status, 200);
}

#[test]
fn a_developer_who_is_frozen_as_a_player_is_not_paid_either() {
    let world = house();
    let message = Payout {
        server: "arena".into(),
        requestId: "d1".into(),
        audience: AUDIENCE.into(),
        wallet: address("dev").into(),
        account: "arena/developer/1".into(),
        to: address("dev").into(),
        asset: "SIM".into(),
        amount: U256::from(150),
        feeCap: U256::from(10),
        expires: world.seconds() + 300,
    };
    let signature = WalletSignature::by(&key("dev"), &typed_data::digest(&message, CHAIN)).unwrap();
    let consent = json!({
        "server": "arena", "request_id": "d1", "account": message.account, "wallet": address("dev"),
        "to": address("dev"), "asset": "SIM", "amount": "150", "fee_cap": "10", "expires": message.expires,
        "signature": signature.to_string(),
    });
    let path = "/v1/servers/arena/developer/withdrawals";
    world.freeze("dev");
    assert_eq!(world.post("dev", path, consent.clone()).code(), FROZEN);
    world.lift("dev");
    world.post("dev", path, consent).expect(200);
}

/// The number of the record that an answer names.
fn record(reply: &Reply) -> u64 {
    reply.body["record"].as_str().unwrap().trim_start_matches("rec_").parse().unwrap()
}

/// Games play while the freeze comes. In the journal nothing of the player's follows it, and a request after its
/// answer is refused.
#[test]
fn nothing_that_follows_the_answer_to_a_freeze_takes_the_players_money() {
    let world = Arc::new(house());
    for round in 0..6 {
        let token = world.token("arena");
        let game = |task: usize| {
            let (world, token) = (Arc::clone(&world), token.clone());
            async move {
                let (mut applied, mut refused) = (Vec::new(), 0);
                for number in 0..40 {
                    let body = json!({ "from": funds_of("arena", "alice"), "to": "arena/world/1", "amount": "1" });
                    let key = format!("race-{round}-{task}-{number}");
                    let ask = Ask {
                        token: Some(&token),
                        key: Some(&key),
                        body: Some(body.to_string().into_bytes()),
                        ..Ask::new("POST", "/v1/servers/arena/transfer")
                    };
                    let reply = send(world.router.clone(), ask.request()).await;
                    match reply.status {
                        200 => applied.push(record(&reply)),
                        _ => {
                            assert_eq!(reply.code(), FROZEN);
                            refused += 1;
                        }
                    }
                }
                (applied, refused)
            }
        };
        let path = format!("/v1/players/{}/freeze", player("alice"));
        let key = format!("freeze-{round}");
        let reason = Some(json!({ "reason": "a race" }).to_string().into_bytes());
        let freeze = signed(&world, "olga", ("POST", &path), Some(&key), reason).request();
        let (played, at_answer) = world.runtime.block_on(async {
            let games: Vec<_> = (0..4).map(|task| tokio::spawn(game(task))).collect();
            for _ in 0..round * 3 {
                tokio::task::yield_now().await;
            }
            let answered = send(world.router.clone(), freeze).await;
            assert_eq!(answered.status, 200, "{answered:?}");
            let at_answer = world.ledger_head();
            let mut played = Vec::new();
            for game in games {
                played.push(game.await.unwrap());
            }
            (played, at_answer)
        });
        let newest = played.iter().flat_map(|(applied, _)| applied).max().copied().unwrap_or_default();
        assert!(newest <= at_answer, "round {round}: record {newest} follows the answer at {at_answer}");
        assert_eq!(world.spawn(&format!("s-{round}"), "alice").code(), FROZEN);
        world.lift("alice");
    }
}
