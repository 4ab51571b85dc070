//! Random sequences against a small model: what each player has, what is in the world, and the status of each spawn.

use std::collections::BTreeMap;

use bankroll_ledger::{Amount, Rejection};
use bankroll_spawns::{SpawnEnd, SpawnError, SpawnId};
use fastrand::Rng;

use crate::world::{SECOND, World};

const PLAYERS: [&str; 2] = ["alice", "bob"];

#[derive(Clone, Debug)]
struct Expected {
    player: &'static str,
    deposit: Option<&'static str>,
    amount: u128,
    status: &'static str,
    expires: u64,
}

#[derive(Default)]
struct Model {
    /// What is available, by player.
    free: BTreeMap<&'static str, u128>,
    world: u128,
    spawns: BTreeMap<SpawnId, Expected>,
}

impl Model {
    /// Reservations whose time has come end.
    fn expire(&mut self, now: u64) {
        for spawn in self.spawns.values_mut().filter(|spawn| spawn.status == "reserved" && spawn.expires <= now) {
            spawn.status = "expired";
            *self.free.entry(spawn.player).or_default() += spawn.amount;
        }
    }

    fn takes(&self, deposit: &str) -> bool {
        let has = |spawn: &Expected| spawn.deposit == Some(deposit);
        let keeps = |spawn: &Expected| !matches!(spawn.status, "released" | "expired");
        self.spawns.values().any(|spawn| has(spawn) && keeps(spawn))
    }
}

#[test]
fn money_and_statuses_are_what_a_small_model_says() {
    let seed = std::env::var("BANKROLL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    for run in 0_u64..8 {
        let seed = u64::wrapping_add(seed, run);
        println!("BANKROLL_TEST_SEED={seed}");
        live(&mut Rng::with_seed(seed));
    }
}

fn live(random: &mut Rng) {
    let mut world = World::new();
    let mut model = Model::default();
    model.free.extend([("alice", 250), ("bob", 100)]);
    for deposit in ["dep-a", "dep-b"] {
        world.credit("alice", 100, deposit);
        *model.free.get_mut("alice").unwrap() += 100;
    }
    for number in 0..120 {
        model.expire(world.now().0);
        let known: Vec<SpawnId> = model.spawns.keys().cloned().collect();
        match (random.u8(..12), random.choice(&known)) {
            (0..4, _) => reserve(&world, &mut model, random, number),
            (4..9, Some(id)) => end(&world, &mut model, random, id, number),
            (9, Some(id)) => exit(&world, &mut model, random, id, number),
            (10, _) => world.pass(random.u64(1..40) * SECOND),
            (11, _) if random.u8(..4) == 0 => world.restart(),
            _ => world.terms.price = Amount::new(*random.choice(&[60, 100, 130]).unwrap()),
        }
        model.expire(world.now().0);
        compare(&world, &model);
    }
    world.audit();
}

fn reserve(world: &World, model: &mut Model, random: &mut Rng, number: u32) {
    let player = *random.choice(&PLAYERS).unwrap();
    let deposit = (player == "alice" && random.bool()).then(|| if random.bool() { "dep-a" } else { "dep-b" });
    let key = format!("reserve-{number}");
    let order = match deposit {
        Some(deposit) => world.order_with(&key, player, deposit),
        None => world.order(&key, player),
    };
    let amount = world.terms.price.units();
    let result = world.order_reserve(&order);
    if deposit.is_some_and(|deposit| model.takes(deposit)) {
        assert!(matches!(result, Err(SpawnError::DepositTaken)), "{result:?}");
    } else if model.free[player] < amount {
        assert!(matches!(result, Err(SpawnError::Rejected(Rejection::InsufficientFunds))), "{result:?}");
    } else {
        let id = result.unwrap().spawn.id;
        // Lost answers: the same request is the same reservation.
        assert!(world.order_reserve(&order).unwrap().is_repeated);
        *model.free.get_mut(player).unwrap() -= amount;
        let expires = world.now().0 + 60 * SECOND;
        model.spawns.insert(id, Expected { player, deposit, amount, status: "reserved", expires });
    }
}

fn end(world: &World, model: &mut Model, random: &mut Rng, id: &SpawnId, number: u32) {
    let end = *random.choice(&[SpawnEnd::Commit, SpawnEnd::Release, SpawnEnd::Refund]).unwrap();
    let key = format!("end-{number}");
    let result = world.end(end, id, &key);
    let Model { free, world: stakes, spawns } = model;
    let spawn = spawns.get_mut(id).unwrap();
    let free = free.get_mut(spawn.player).unwrap();
    match (end, spawn.status) {
        (SpawnEnd::Commit, "reserved") => (spawn.status, *stakes) = ("committed", *stakes + spawn.amount),
        (SpawnEnd::Release, "reserved") => (spawn.status, *free) = ("released", *free + spawn.amount),
        (SpawnEnd::Refund, "committed") if *stakes >= spawn.amount => {
            (spawn.status, *free, *stakes) = ("refunded", *free + spawn.amount, *stakes - spawn.amount);
        }
        _ => return assert!(matches!(result, Err(SpawnError::Rejected(_))), "{end:?} of {spawn:?}: {result:?}"),
    }
    result.unwrap();
    world.end(end, id, &key).unwrap();
}

fn exit(world: &World, model: &mut Model, random: &mut Rng, id: &SpawnId, number: u32) {
    let spawn = model.spawns.get_mut(id).unwrap();
    let amount = random.u128(1..=spawn.amount);
    let answer = world.exit(id, spawn.player, amount, &format!("exit/{number}"));
    if spawn.status == "committed" && model.world >= amount {
        answer.effects().unwrap();
        (spawn.status, model.world) = ("exited", model.world - amount);
        *model.free.get_mut(spawn.player).unwrap() += amount;
    } else {
        answer.effects().unwrap_err();
    }
}

fn compare(world: &World, model: &Model) {
    for player in PLAYERS {
        let (balance, held) = world.standing(&format!("arena/funds/1/{player}"));
        assert_eq!(balance - held, model.free[player], "{player}");
    }
    assert_eq!(world.standing("arena/world/1"), (model.world, 0));
    for (id, spawn) in &model.spawns {
        assert_eq!(world.status(id), spawn.status, "{id}: {spawn:?}");
    }
    let live: Vec<SpawnId> =
        model.spawns.iter().filter(|(_, spawn)| spawn.status == "committed").map(|(id, _)| id.clone()).collect();
    assert_eq!(world.live(), live);
}
