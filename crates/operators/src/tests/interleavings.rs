//! Random people send random requests in random order, again and again, with every role; a second, smaller model counts
//! who has signed what. Nothing takes effect that the model does not allow.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use bankroll_ledger::Name;
use serde_json::{Value, json};

use super::world::{World, address, signed, transfer};
use crate::{Effect, OperatorRefusal, ProposalId, Right, SignedRequest};

/// Who signed which content of which proposal.
#[derive(Default)]
struct Signatures {
    by: BTreeMap<ProposalId, BTreeSet<Name>>,
    content: BTreeMap<ProposalId, Value>,
    executed: BTreeSet<ProposalId>,
}

fn contents(random: &mut fastrand::Rng) -> Value {
    let number = random.u8(5..12);
    match random.u8(0..8) {
        0 => {
            json!({ "kind": "add_person", "person": format!("p{number}"), "roles": [pick(random)], "address": address(number) })
        }
        1 => json!({ "kind": "set_roles", "person": who(random), "roles": [pick(random)] }),
        2 => json!({ "kind": "add_key", "person": who(random), "address": address(random.u8(12..20)) }),
        3 => json!({ "kind": "reinstate", "person": who(random) }),
        4 => json!({ "kind": "set_quorum", "quorum": random.u8(2..4) }),
        5 => json!({ "kind": "unfreeze_player", "player": "0xabababababababababababababababababababab" }),
        _ => transfer(&random.u8(1..4).to_string()),
    }
}

fn pick(random: &mut fastrand::Rng) -> &'static str {
    ["viewer", "support", "operator", "approver", "policy_admin", "owner"][random.usize(0..6)]
}

fn who(random: &mut fastrand::Rng) -> &'static str {
    ["olga", "otto", "paul", "ann", "p5", "p6"][random.usize(0..6)]
}

/// One request of the holder of a random key: mostly proposals and confirmations, sometimes an earlier request again.
fn request(world: &World, random: &mut fastrand::Rng, sent: &[SignedRequest], known: &Signatures) -> SignedRequest {
    if !sent.is_empty() && random.u8(0..5) == 0 {
        return sent[random.usize(0..sent.len())].clone();
    }
    let (number, request_key) = (random.u8(1..20), format!("k{}", random.u16(0..500)));
    let send = |method, path: &str, body: &Value| signed(number, method, path, &request_key, body, world.now);
    let proposals: Vec<_> = known.content.iter().collect();
    match random.u8(0..10) {
        0..4 => send("POST", "/v1/proposals", &json!({ "content": contents(random) })),
        4..8 if !proposals.is_empty() => {
            let (id, content) = proposals[random.usize(0..proposals.len())];
            let said = if random.u8(0..6) == 0 { contents(random) } else { (*content).clone() };
            send("POST", &format!("/v1/proposals/{id}/confirm"), &json!({ "content": said }))
        }
        8 => send("POST", &format!("/v1/operators/{}/suspend", who(random)), &Value::Null),
        _ => send(
            "POST",
            "/v1/players/0xabababababababababababababababababababab/freeze",
            &json!({ "reason": "a test" }),
        ),
    }
}

/// What the model allows: enough different people, the author among them, have signed this very content.
fn check(world: &World, known: &mut Signatures, quorum: usize, confirming: usize, effects: &[Effect]) {
    for effect in effects {
        let Effect::Execute { proposal, content, .. } = effect else { continue };
        let content = serde_json::to_value(content).unwrap();
        assert_eq!(known.content.get(proposal), Some(&content), "another content");
        assert!(known.executed.insert(*proposal), "twice");
        let is_about_people = world.operators.proposal(*proposal).unwrap().content.is_about_people();
        let needed = if confirming <= 1 && is_about_people { 1 } else { quorum };
        assert!(known.by[proposal].len() >= needed, "{} of {needed} people", known.by[proposal].len());
    }
}

fn run(seed: u64) -> usize {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut world = if random.bool() { World::staffed() } else { World::new() };
    let (mut sent, mut known) = (Vec::new(), Signatures::default());
    for _ in 0..60 {
        let request = request(&world, &mut random, &sent, &known);
        let before = world.operators.clone();
        let confirming =
            before.people().filter(|person| person.roles.iter().any(|role| role.rights().contains(&Right::Confirm)));
        let (quorum, confirming) = (usize::from(before.quorum()), confirming.count());
        let entered = world.send(request.clone());
        if let Ok(effects) = &entered {
            let author = before.person_with(request.address).unwrap().name.clone();
            let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
            let confirmed = request.path.strip_prefix("/v1/proposals/").and_then(|rest| rest.strip_suffix("/confirm"));
            if request.path == "/v1/proposals" {
                let id = ProposalId::of(&author, &request.idempotency_key);
                known.content.insert(id, body["content"].clone());
                known.by.entry(id).or_default().insert(author);
            } else if let Some(id) = confirmed {
                assert_eq!(known.content[&id.parse().unwrap()], body["content"]);
                known.by.entry(id.parse().unwrap()).or_default().insert(author);
            }
            check(&world, &mut known, quorum, confirming, effects);
        } else if let Err(OperatorRefusal::ActMismatch) = entered {
            panic!("a request of a person always says its own act");
        }
        sent.push(request);
    }
    assert_eq!(world.replayed().unwrap(), world.operators);
    known.executed.len()
}

#[test]
fn nothing_takes_effect_without_enough_people() {
    let number = |variable| std::env::var(variable).ok().map(|text| text.parse::<u64>().unwrap());
    let (first, soak) = (number("BANKROLL_TEST_SEED").unwrap_or(1), number("BANKROLL_SOAK_SECONDS"));
    let ends = soak.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let goes_on = |round: &u64| ends.map_or(*round < 60, |ends| *round == 0 || Instant::now() < ends);
    let (mut rounds, mut executed) = (0, 0);
    for round in (0..).take_while(goes_on) {
        executed += run(first.wrapping_add(round));
        rounds += 1;
    }
    println!("{rounds} interleavings from seed {first} (goal of a soak: 600): {executed} proposals took effect");
    assert!(rounds < 10 || executed > 0);
}
