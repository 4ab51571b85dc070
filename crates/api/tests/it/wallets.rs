//! Several wallets of one player: what belongs to which, before and after they are linked.

use bankroll_ledger::{IdempotencyKey, Namespace, Principal, Scope, Time};
use bankroll_registry::{ChangeOrigin, PlayerWallet, RegistryChange, SignInProof, WalletEvidence, change_request};
use serde_json::{Value, json};

use crate::{
    spawns::payout_of,
    world::{Ask, START, World, address, funds_of, player, send},
};

fn balances(world: &World, of: &str) -> Vec<(String, String)> {
    let body = world.get(of, "/v1/me/balances").expect(200);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let accounts = body["accounts"].as_array().unwrap().iter();
    accounts.map(|one| (text(&one["account"]), text(&one["balance"]))).filter(|(_, balance)| balance != "0").collect()
}

/// A game server knows a wallet before its player links it: money, a live spawn, an exit.
#[test]
fn the_money_of_a_wallet_that_is_linked_later_stays_in_reach() {
    let world = World::new();
    let late = funds_of("arena", "late");
    world.post("arena", "/v1/servers/arena/accounts", json!({ "player": player("late") })).expect(200);
    world.give(&late, 400);
    let reserve = || {
        let body = json!({ "player": player("late") });
        world.post_with("arena", "/v1/servers/arena/spawns", "s1", body)
    };
    let spawn = reserve().expect(200)["spawn"].clone();
    world.post("arena", &format!("/v1/servers/arena/spawns/{}/commit", spawn.as_str().unwrap()), json!({})).expect(200);
    world.pellets("arena", "50");
    let early = json!({ "exit_id": "x0", "player": player("late"), "amount": "10", "payout": "keep" });
    assert_eq!(world.post("arena", "/v1/servers/arena/exits", early).code(), "conflict", "the spawn is not named");
    world.post("alice", "/v1/me/wallets", world.link_body("late", &player("alice"))).expect(200);

    let own = (funds_of("arena", "alice"), "1000".to_owned());
    assert_eq!(balances(&world, "alice"), [own, (late.clone(), "300".into())]);
    let history = format!("/v1/me/history?account={}", late.replace('/', "%2F"));
    assert_eq!(world.get("alice", &history).status, 200);
    assert_eq!(world.get("bob", &history).code(), "not_found");
    // The game goes on with the wallet that it knows.
    assert!(reserve().replayed, "the same reservation as before the link");
    let exit = json!({ "exit_id": "x1", "player": player("late"), "amount": "120", "payout": "keep", "spawn": spawn });
    let left = world.post("arena", "/v1/servers/arena/exits", exit.clone()).expect(200);
    assert_eq!(left["account"], json!(late), "the spawn was paid from there");
    assert!(world.post("arena", "/v1/servers/arena/exits", exit).replayed);

    let paid = payout_of(&world, &late, "p1", 90, (1, address("alice")), "alice");
    let withdrawal = world.post("alice", "/v1/me/withdrawals", paid.clone()).expect(200)["withdrawal"].clone();
    assert_eq!(world.balance("arena", &late), ("420".into(), "329".into()));
    assert_eq!(world.post("bob", "/v1/me/withdrawals", paid).code(), "not_found");
    let listed = world.get("alice", "/v1/me/withdrawals").expect(200);
    assert_eq!(listed["withdrawals"][0]["withdrawal"], withdrawal);
    let one = format!("/v1/me/withdrawals/{}", withdrawal.as_str().unwrap());
    assert_eq!((world.get("alice", &one).status, world.get("bob", &one).status), (200, 404));

    // An exclusion is the player's, for all of their accounts.
    world.post("alice", "/v1/me/exclusion", json!({ "until": "2027-01-01T00:00:00Z" })).expect(200);
    let staked = world.post("arena", "/v1/servers/arena/withdraw", json!({ "account": late, "amount": "1" }));
    assert_eq!(staked.code(), "not_eligible");
}

/// An exit before the link, repeated after it.
#[test]
fn an_exit_is_the_same_one_after_its_wallet_was_linked() {
    let world = World::new();
    world.pellets("arena", "50");
    let exit = json!({ "exit_id": "x1", "player": player("late"), "amount": "10", "payout": "keep" });
    let first = world.post("arena", "/v1/servers/arena/exits", exit.clone()).expect(200);
    world.post("alice", "/v1/me/wallets", world.link_body("late", &player("alice"))).expect(200);
    let again = world.post("arena", "/v1/servers/arena/exits", exit);
    assert_eq!((again.replayed, &again.body), (true, &first));
}

#[test]
fn a_retry_of_a_link_or_an_exclusion_has_the_same_answer() {
    let world = World::new();
    let link = world.link_body("second", &player("alice"));
    let first = world.post_with("alice", "/v1/me/wallets", "k1", link.clone()).expect(200);
    let again = world.post_with("alice", "/v1/me/wallets", "k1", link);
    assert_eq!((again.status, again.replayed, &again.body), (200, true, &first));
    let third = world.link_body("third", &player("alice"));
    assert_eq!(world.post_with("alice", "/v1/me/wallets", "k1", third).code(), "idempotency_mismatch");
    let until = |year: u32| json!({ "until": format!("{year}-01-01T00:00:00Z") });
    world.post_with("alice", "/v1/me/exclusion", "k2", until(2027)).expect(200);
    assert!(world.post_with("alice", "/v1/me/exclusion", "k2", until(2027)).replayed);
    assert_eq!(world.post_with("alice", "/v1/me/exclusion", "k2", until(2028)).code(), "idempotency_mismatch");
}

/// The same key for two requests of a payout.
#[test]
fn a_key_is_for_one_withdrawal() {
    let world = World::new();
    let alice = funds_of("arena", "alice");
    let body = |id: &str| payout_of(&world, &alice, id, 40, (1, address("alice")), "alice");
    let first = world.post_with("alice", "/v1/me/withdrawals", "k1", body("p1")).expect(200);
    let again = world.post_with("alice", "/v1/me/withdrawals", "k1", body("p1"));
    assert_eq!((again.replayed, &again.body), (true, &first));
    let other = world.post_with("alice", "/v1/me/withdrawals", "k1", body("p2"));
    assert_eq!((other.status, other.code()), (409, "idempotency_mismatch"));
    assert_eq!(world.balance("arena", &alice), ("1000".into(), "959".into()));
    world.post_with("alice", "/v1/me/withdrawals", "k2", body("p2")).expect(200);
}

/// On the server's chain the same address may be another person's contract.
#[test]
fn a_contract_wallet_of_another_chain_is_no_player_here() {
    let world = World::new();
    let (wallet, alice) = (address("safe"), player("alice").parse().unwrap());
    let proven_by = WalletEvidence::Contract("eip155:7".parse().unwrap());
    let now = Time(START * 1_000_000);
    let wallet = PlayerWallet { wallet, player: alice, proven_by, linked_at: now };
    let origin = ChangeOrigin {
        principal: Principal::System,
        key: IdempotencyKey { namespace: Namespace::Registry, scope: Scope::House, text: "safe".into() },
        by: "story".parse().unwrap(),
        request_hash: [0; 32],
        now,
    };
    let change = RegistryChange::PlayerWallet { wallet, proof: SignInProof::default() };
    world.ledger.apply(change_request(&origin, &[change]).unwrap()).unwrap().effects().unwrap();
    world.funds.release();
    world.funds.acquire(world.ledger.clone()).unwrap();

    world.pellets("arena", "50");
    let exit = json!({ "exit_id": "x1", "player": player("safe"), "amount": "10", "payout": "auto" });
    let refused = world.post("arena", "/v1/servers/arena/exits", exit);
    assert_eq!((refused.status, refused.code()), (409, "conflict"));
    let opened = world.post("arena", "/v1/servers/arena/accounts", json!({ "player": player("safe") }));
    assert_eq!(opened.code(), "conflict");
    assert_eq!(world.balance("arena", "arena/world/1").0, "50");
}

/// Sign-ins do not wait for each other; of those that contradict each other one counts, and the others learn why.
#[test]
fn sign_ins_at_the_same_time() {
    let world = World::new();
    let ask = |body: &Value| {
        let body = Some(body.to_string().into_bytes());
        send(world.router.clone(), Ask { body, ..Ask::new("POST", "/v1/sign-in") }.request())
    };
    let all = |bodies: Vec<Value>| {
        let tasks: Vec<_> = bodies.iter().map(|body| world.runtime.spawn(ask(body))).collect();
        tasks.into_iter().map(|task| world.runtime.block_on(task).unwrap()).collect::<Vec<_>>()
    };
    // A new wallet, with eight messages: all are the same new player.
    let replies = all((0..8).map(|_| world.sign_in_body("carol", "play.example")).collect());
    assert!(replies.iter().all(|reply| reply.status == 200), "{replies:?}");
    // One message eight times: its nonce counts once.
    let message = world.sign_in_body("carol", "play.example");
    let replies = all(vec![message; 8]);
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
    assert!(replies.iter().filter(|reply| reply.status != 200).all(|reply| reply.code() == "nonce_used"));
}
