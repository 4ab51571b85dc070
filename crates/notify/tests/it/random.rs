//! Random failures, lost outcomes, restarts, pauses and changes: no event of a resource is sent before the one before
//! it was accepted, and in the end every endpoint has every event.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use bankroll_notify::{AttemptOutcome, EndpointId, Jitter, announce_stopped};
use fastrand::Rng;

use crate::world::{SECOND, World, answered, no_answer, ok};

#[test]
fn order_per_resource_and_at_least_once_whatever_fails() {
    let seed = std::env::var("BANKROLL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let soak = std::env::var("BANKROLL_SOAK_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let until = soak.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    for run in 0_u64.. {
        let seed = u64::wrapping_add(seed, run);
        println!("BANKROLL_TEST_SEED={seed}");
        live(&mut Rng::with_seed(seed));
        if until.map_or(run >= 5, |until| Instant::now() > until) {
            break;
        }
    }
}

struct Model {
    /// The events about each resource, in order.
    resources: BTreeMap<String, Vec<String>>,
    endpoints: Vec<EndpointId>,
}

fn live(random: &mut Rng) {
    let mut world = World::new();
    let endpoints = ["one", "two", "three"].map(|label| world.endpoint(label).id).to_vec();
    let mut model = Model { resources: BTreeMap::new(), endpoints };
    for _ in 0..70 {
        match random.u8(..12) {
            0..3 => announce(&mut world, &mut model, random),
            3..9 => step(&mut world, random),
            9 => world.pass(random.u64(1..40_000) * SECOND),
            10 if random.bool() => world.restart(),
            10 => world.kill_worker(),
            _ => revive(&mut world, &model, random),
        }
    }
    // In the end everything works.
    for id in &model.endpoints {
        revive_one(&mut world, id);
    }
    loop {
        world.settle(|_| ok());
        match world.next_due() {
            Some(due) => world.pass_until(due),
            None => break,
        }
    }
    compare(&world, &model);
    world.audit();
}

fn announce(world: &mut World, model: &mut Model, random: &mut Rng) {
    let resource = format!("dep_{}", random.u8(..4));
    let event = world.announce("deposit.credited", &resource);
    model.resources.entry(resource).or_default().push(event);
}

/// Some of what is planned is sent, some of that is recorded.
fn step(world: &mut World, random: &mut Rng) {
    let (attempts, _) = world.plan().unwrap();
    let mut done = Vec::new();
    for attempt in attempts {
        let mut answer = |_: &_| outcome(random);
        let result = world.send(&attempt, &mut answer);
        if random.u8(..8) > 0 {
            done.push((attempt, result, Jitter::new(random.u16(..1_000))));
        }
    }
    let now = world.now();
    world.worker().unwrap().record(done, now).unwrap();
    if random.u8(..4) == 0 {
        // What was lost is lost with the process.
        world.kill_worker();
    }
}

fn outcome(random: &mut Rng) -> AttemptOutcome {
    match random.u8(..10) {
        0..6 => ok(),
        6 => answered(410),
        7 => answered(500),
        8 => answered(307),
        _ => no_answer(),
    }
}

fn revive(world: &mut World, model: &Model, random: &mut Rng) {
    announce_stopped(world.ledger(), &world.reader()).unwrap();
    let id = random.choice(&model.endpoints).unwrap().clone();
    revive_one(world, &id);
}

fn revive_one(world: &mut World, id: &EndpointId) {
    announce_stopped(world.ledger(), &world.reader()).unwrap();
    if !world.find(id).is_enabled() {
        world.enable(id);
    }
    world.kill_worker();
}

fn compare(world: &World, model: &Model) {
    let mut bodies = BTreeMap::new();
    let mut accepted = BTreeSet::new();
    let before: BTreeMap<&str, &str> = model
        .resources
        .values()
        .flat_map(|events| events.windows(2))
        .map(|pair| (pair[1].as_str(), pair[0].as_str()))
        .collect();
    for received in &world.received {
        let event = received.event.as_str();
        assert_eq!(bodies.entry(event).or_insert(&received.body), &&received.body);
        if let Some(earlier) = before.get(event) {
            assert!(accepted.contains(&(&received.endpoint, *earlier)), "{event} before {earlier}");
        }
        if received.is_accepted {
            accepted.insert((&received.endpoint, event));
        }
    }
    for id in &model.endpoints {
        for event in model.resources.values().flatten() {
            assert!(accepted.contains(&(id, event.as_str())), "{event} to {id}");
        }
    }
}
