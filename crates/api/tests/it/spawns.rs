//! Spawns, exits and payouts over HTTP.

use bankroll_orders::{
    Address,
    typed_data::{self, Payout, U256, WalletSignature},
};
use serde_json::{Value, json};

use crate::world::{AUDIENCE, Ask, CHAIN, World, address, funds_of, key, player, send};

fn reserve(world: &World, key: &str) -> crate::world::Reply {
    world.post_with("arena", "/v1/servers/arena/spawns", key, json!({ "player": player("alice") }))
}

fn end(world: &World, spawn: &Value, how: &str) -> crate::world::Reply {
    world.post("arena", &format!("/v1/servers/arena/spawns/{}/{how}", spawn.as_str().unwrap()), json!({}))
}

#[test]
fn a_place_is_reserved_committed_and_left_once() {
    let world = World::new();
    let alice = funds_of("arena", "alice");
    let eligible =
        world.get("arena", &format!("/v1/servers/arena/players/{}/eligibility", player("alice"))).expect(200);
    assert_eq!(
        (&eligible["eligible"], &eligible["price"], &eligible["required"]),
        (&json!(true), &json!("100"), &json!("103"))
    );
    let reserved = reserve(&world, "s1").expect(200);
    assert_eq!(
        (&reserved["status"], &reserved["amount"], &reserved["mass"]),
        (&json!("reserved"), &json!("100"), &json!("5"))
    );
    assert_eq!(world.balance("arena", &alice), ("1000".into(), "900".into()));
    let again = reserve(&world, "s1");
    assert_eq!((again.replayed, &again.body), (true, &reserved));
    end(&world, &reserved["spawn"], "commit").expect(200);
    let live = world.get("arena", "/v1/servers/arena/spawns").expect(200);
    assert_eq!(live["spawns"][0]["spawn"], reserved["spawn"]);
    assert_eq!(end(&world, &reserved["spawn"], "release").code(), "conflict", "it is committed");
    let spawn = &reserved["spawn"];
    let exit = json!({ "exit_id": "x1", "player": player("alice"), "amount": "60", "payout": "keep", "spawn": spawn });
    let left = world.post("arena", "/v1/servers/arena/exits", exit.clone()).expect(200);
    let again = world.post("arena", "/v1/servers/arena/exits", exit.clone());
    assert_eq!((again.replayed, &again.body), (true, &left), "the exit id decides, not the key");
    let mut other = exit;
    other["amount"] = json!("61");
    assert_eq!(world.post("arena", "/v1/servers/arena/exits", other).code(), "idempotency_mismatch");
    assert_eq!(world.balance("arena", &alice).0, "960");
    assert_eq!(end(&world, &reserved["spawn"], "refund").code(), "conflict", "it has ended");
}

#[test]
fn a_game_server_that_dies_between_reserve_and_commit_costs_a_minute() {
    let world = World::new();
    let reserved = reserve(&world, "s1").expect(200);
    world.pass(61);
    assert_eq!(world.balance("arena", &funds_of("arena", "alice")), ("1000".into(), "1000".into()));
    assert_eq!(end(&world, &reserved["spawn"], "commit").code(), "hold_expired");
    let path = format!("/v1/servers/arena/spawns/{}", reserved["spawn"].as_str().unwrap());
    assert_eq!(world.get("arena", &path).expect(200)["status"], json!("expired"));
    assert_eq!(reserve(&world, "s1").body, reserved, "the same key still has its first answer");
    assert_eq!(reserve(&world, "s2").status, 200);
}

#[test]
fn a_pause_stops_new_spawns_and_no_exits() {
    let world = World::new();
    world.set_quorum_of_one();
    let reserved = reserve(&world, "s1").expect(200);
    end(&world, &reserved["spawn"], "commit").expect(200);
    let pauses = json!({ "deposits": false, "spawns": true, "withdrawals": false, "disabled": false });
    world.owner("PUT", "/v1/servers/arena/pauses", pauses);
    let refused = reserve(&world, "s2");
    assert_eq!((refused.status, refused.code()), (409, "server_paused"));
    assert_eq!(reserve(&world, "s1").body, reserved);
    let spawn = &reserved["spawn"];
    let exit = json!({ "exit_id": "x1", "player": player("alice"), "amount": "100", "payout": "keep", "spawn": spawn });
    world.post("arena", "/v1/servers/arena/exits", exit).expect(200);
    world.owner(
        "PUT",
        "/v1/servers/arena/pauses",
        json!({ "deposits": false, "spawns": false, "withdrawals": false, "disabled": false }),
    );
    assert_eq!(reserve(&world, "s2").status, 200, "the key of a pause is free");
}

#[test]
fn a_player_who_excluded_themselves_gets_no_place() {
    let world = World::new();
    world.post("alice", "/v1/me/exclusion", json!({ "until": "2027-01-01T00:00:00Z" })).expect(200);
    assert_eq!(reserve(&world, "s1").code(), "not_eligible");
    let shorter = world.post("alice", "/v1/me/exclusion", json!({ "until": "2026-12-01T00:00:00Z" }));
    assert_eq!(shorter.code(), "conflict");
}

/// A signed payout of Alice's money, for which she pays 1 for gas at most.
fn payout(world: &World, request_id: &str, amount: u64, signer: &str) -> Value {
    payout_to(world, request_id, amount, (1, address("alice")), signer)
}

fn payout_to(world: &World, request_id: &str, amount: u64, terms: (u64, Address), signer: &str) -> Value {
    payout_of(world, &funds_of("arena", "alice"), request_id, amount, terms, signer)
}

/// The same out of another account.
pub fn payout_of(
    world: &World,
    account: &str,
    request_id: &str,
    amount: u64,
    (cap, to): (u64, Address),
    signer: &str,
) -> Value {
    let message = Payout {
        server: "arena".into(),
        requestId: request_id.into(),
        audience: AUDIENCE.into(),
        wallet: address("alice").into(),
        account: account.into(),
        to: to.into(),
        asset: "SIM".into(),
        amount: U256::from(amount),
        feeCap: U256::from(cap),
        expires: world.seconds() + 300,
    };
    let signature = WalletSignature::by(&key(signer), &typed_data::digest(&message, CHAIN)).unwrap();
    json!({
        "server": "arena", "request_id": request_id, "account": account, "wallet": address("alice"), "to": to, "asset": "SIM", "amount": amount.to_string(), "fee_cap": cap.to_string(),
        "expires": message.expires, "signature": signature.to_string(),
    })
}

#[test]
fn a_player_pays_out_with_their_own_signature() {
    let world = World::new();
    let body = payout(&world, "p1", 40, "alice");
    let first = world.post("alice", "/v1/me/withdrawals", body.clone()).expect(200);
    let again = world.post("alice", "/v1/me/withdrawals", body);
    assert_eq!((again.replayed, &again.body), (true, &first));
    let other = world.post("alice", "/v1/me/withdrawals", payout(&world, "p1", 41, "alice"));
    assert_eq!(other.code(), "idempotency_mismatch");
    let forged = world.post("alice", "/v1/me/withdrawals", payout(&world, "p2", 40, "arena"));
    assert_eq!(forged.code(), "signature_invalid");
    assert_eq!(world.balance("arena", &funds_of("arena", "alice")), ("1000".into(), "959".into()));
    let id = first["withdrawal"].as_str().unwrap();
    let seen = world.get("alice", &format!("/v1/me/withdrawals/{id}")).expect(200);
    assert_eq!(seen["stage"], json!("waiting"));
    assert_eq!(world.get("bob", &format!("/v1/me/withdrawals/{id}")).code(), "not_found");
    assert_eq!(world.get("arena", &format!("/v1/servers/arena/withdrawals/{id}")).status, 200);
    assert_eq!(world.get("rival", &format!("/v1/servers/rival/withdrawals/{id}")).code(), "not_found");
}

#[test]
fn players_pay_for_their_own_gas() {
    let world = World::new();
    let free = payout_to(&world, "p1", 40, (0, address("alice")), "alice");
    let refused = world.post("alice", "/v1/me/withdrawals", free);
    assert_eq!((refused.status, refused.code()), (422, "fee_cap_zero"));
    assert_eq!(world.balance("arena", &funds_of("arena", "alice")), ("1000".into(), "1000".into()));
    world.post("alice", "/v1/me/withdrawals", payout(&world, "p1", 40, "alice")).expect(200);
}

#[test]
fn nothing_is_paid_to_the_zero_address_or_to_an_address_of_ours() {
    let world = World::new();
    let capital = json!({ "chain": "eip155:1337", "address": address("capital"), "label": "Capital" });
    world.owner("POST", "/v1/registry/treasury", capital);
    for to in [Address::ZERO, address("arena custody"), address("rival custody"), address("capital")] {
        let asked = payout_to(&world, "p1", 40, (1, to), "alice");
        let refused = world.post("alice", "/v1/me/withdrawals", asked);
        assert_eq!((refused.status, refused.code()), (422, "destination_not_allowed"), "{to}");
    }
    let spawn = reserve(&world, "s1").expect(200);
    end(&world, &spawn["spawn"], "commit").expect(200);
    let ours = json!({ "exit_id": "x1", "player": address("rival custody"), "amount": "30", "payout": "auto" });
    let refused = world.post("arena", "/v1/servers/arena/exits", ours);
    assert_eq!(refused.code(), "destination_not_allowed");
    assert_eq!(world.balance("arena", "arena/world/1").0, "100");
}

#[test]
fn an_exit_with_another_gas_cap_is_another_exit() {
    let world = World::new();
    let spawn = reserve(&world, "s1").expect(200);
    end(&world, &spawn["spawn"], "commit").expect(200);
    let exit = |cap: &str| {
        let (player, spawn) = (player("alice"), &spawn["spawn"]);
        json!({
            "exit_id": "x1", "player": player, "amount": "30", "payout": "auto", "fee_cap": cap, "spawn": spawn,
        })
    };
    world.post("arena", "/v1/servers/arena/exits", exit("5")).expect(200);
    assert!(world.post("arena", "/v1/servers/arena/exits", exit("5")).replayed);
    for other in ["6", "0"] {
        let refused = world.post("arena", "/v1/servers/arena/exits", exit(other));
        assert_eq!(refused.code(), "idempotency_mismatch", "a cap of {other}");
    }
}

#[test]
fn spawns_and_payouts_race_for_the_same_money_and_never_get_more_than_there_is() {
    let world = World::new();
    let (arena, alice) = (world.token("arena"), world.token("alice"));
    let replies = world.runtime.block_on(async {
        let mut tasks = Vec::new();
        for number in 0..16 {
            let spawn = json!({ "player": player("alice") }).to_string().into_bytes();
            let ask = Ask::new("POST", "/v1/servers/arena/spawns");
            let key = format!("race-{number}");
            let spawn = Ask { token: Some(&arena), key: Some(&key), body: Some(spawn), ..ask }.request();
            tasks.push(tokio::spawn(send(world.router.clone(), spawn)));
            let body = payout(&world, &key, 99, "alice").to_string().into_bytes();
            let ask = Ask::new("POST", "/v1/me/withdrawals");
            let paid = Ask { token: Some(&alice), key: Some(&key), body: Some(body), ..ask }.request();
            tasks.push(tokio::spawn(send(world.router.clone(), paid)));
        }
        let mut replies = Vec::new();
        for task in tasks {
            replies.push(task.await.unwrap());
        }
        replies
    });
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 10, "1,000 are ten times 100");
    assert!(replies.iter().all(|reply| reply.status == 200 || reply.code() == "insufficient_funds"));
    assert_eq!(world.balance("arena", &funds_of("arena", "alice")), ("1000".into(), "0".into()));
}

#[test]
fn an_exit_is_paid_to_the_players_own_wallets_only() {
    let world = World::new();
    let spawn = reserve(&world, "s1").expect(200);
    end(&world, &spawn["spawn"], "commit").expect(200);
    let exit = |to: &str, id: &str| {
        let (player, to, spawn) = (player("alice"), address(to), (id == "x1").then_some(&spawn["spawn"]));
        json!({ "exit_id": id, "player": player, "amount": "30", "payout": "auto", "to": to, "spawn": spawn })
    };
    let stolen = world.post("arena", "/v1/servers/arena/exits", exit("mallory", "x1"));
    assert_eq!((stolen.status, stolen.code()), (403, "forbidden"));
    let paid = world.post("arena", "/v1/servers/arena/exits", exit("alice", "x1")).expect(200);
    let id = paid["withdrawal"].as_str().unwrap();
    let seen = world.get("arena", &format!("/v1/servers/arena/withdrawals/{id}")).expect(200);
    assert_eq!(
        (&seen["asker"], &seen["stage"]),
        (&json!("exit"), &json!("waiting")),
        "30 are paid without an approval"
    );
    world.post("alice", "/v1/me/wallets", world.link_body("alice's second", &player("alice"))).expect(200);
    world.post("arena", "/v1/servers/arena/exits", exit("alice's second", "x2")).expect(200);
}

#[test]
fn a_developer_pays_out_fees_and_nothing_else() {
    let world = World::new();
    let signed = |account: &str| {
        let message = Payout {
            server: "arena".into(),
            requestId: "d1".into(),
            audience: AUDIENCE.into(),
            wallet: address("dev").into(),
            account: account.into(),
            to: address("dev").into(),
            asset: "SIM".into(),
            amount: U256::from(150),
            feeCap: U256::from(10),
            expires: world.seconds() + 300,
        };
        let signature = WalletSignature::by(&key("dev"), &typed_data::digest(&message, CHAIN)).unwrap();
        json!({
            "server": "arena", "request_id": "d1", "account": account, "wallet": address("dev"), "to": address("dev"),
            "asset": "SIM", "amount": "150", "fee_cap": "10", "expires": message.expires,
            "signature": signature.to_string(),
        })
    };
    let path = "/v1/servers/arena/developer/withdrawals";
    assert_eq!(world.post("dev", path, signed(&funds_of("arena", "dev"))).code(), "body_invalid");
    let consent = signed("arena/developer/1");
    let first = world.post("dev", path, consent.clone()).expect(200);
    assert_eq!(world.post("dev", path, consent.clone()).body, first);
    let account = world.get("dev", "/v1/servers/arena/developer").expect(200);
    assert_eq!((&account["balance"], &account["available"]), (&json!("200"), &json!("40")));
    assert_eq!(world.get("dev", "/v1/servers/rival/developer").status, 200, "dev is the rival's developer, too");
    assert_eq!(world.post("alice", path, consent.clone()).code(), "not_found");

    // The wallet is also a player with money. A front that saw the consent sends it as the player's.
    world.post("arena", "/v1/servers/arena/accounts", json!({ "player": player("dev") })).expect(200);
    world.give(&funds_of("arena", "dev"), 500);
    assert_eq!(world.post("dev", "/v1/me/withdrawals", consent.clone()).code(), "body_invalid");
    let mut moved = consent;
    moved["account"] = json!(funds_of("arena", "dev"));
    assert_eq!(world.post("dev", "/v1/me/withdrawals", moved).code(), "signature_invalid");
    assert_eq!(world.balance("arena", &funds_of("arena", "dev")), ("500".into(), "500".into()));
}
