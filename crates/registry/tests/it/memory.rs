//! Memory is what rows say: whatever is decided, applying it in memory equals loading it.

use bankroll_ledger::Time;
use bankroll_registry::{Pauses, ServerKeyUpdate};
use fastrand::Rng;

use crate::world::{ALICE, BOB, BOUNDS, NEXT_SERVER, SERVER, STRANGER, World, address, name};

/// `World::commit` compares memory with the loaded rows after each step; here the steps come from a seed.
#[test]
fn random_changes_leave_memory_equal_to_the_rows() {
    for seed in 0..3 {
        let mut rng = Rng::with_seed(seed);
        let mut world = World::with_server();
        for _ in 0..40 {
            random_step(&mut world, &mut rng);
            world.seconds_later(rng.u64(0..5));
        }
        world.audit().unwrap();
        world.registry.forget_expired(world.now);
        let loaded = bankroll_registry::Registry::load(&world.reader(), world.now).unwrap();
        assert_eq!(world.registry, loaded, "seed {seed}");
    }
}

/// One step. A refusal is one too, and changes nothing.
fn random_step(world: &mut World, rng: &mut Rng) {
    let (arena, by) = (name("arena"), name("owner:olga"));
    let person = *rng.choice(&[SERVER, NEXT_SERVER, ALICE, BOB, STRANGER]).unwrap_or(&ALICE);
    let player = name(&address(person).lower_hex());
    let (now, registry) = (world.now, &world.registry);
    let decided = match rng.u8(0..10) {
        0 => {
            let (deposits, spawns) = (rng.bool(), rng.bool());
            let pauses = Pauses { deposits, spawns, withdrawals: rng.bool(), disabled: rng.bool() };
            registry.set_pauses(&arena, pauses, by, now)
        }
        1 => registry.set_labels(&arena, &format!("label {}", rng.u8(..)), by, now),
        2 => registry.set_player_addresses(&arena, rng.bool(), by, now),
        3 => registry.add_player_address(&arena, &player, rng.u64(0..1_000), now),
        4 => registry.exclude(&player, Time(now.0 + rng.u64(0..1_000_000)), now),
        5 => registry.add_server_key(&World::key_draft(person), now),
        6 => {
            let valid_until = rng.bool().then_some(Time(now.0 + 100_000_000));
            let update = ServerKeyUpdate { bounds: BOUNDS, spend_limit: None, valid_until };
            registry.update_server_key(address(person), &update)
        }
        7 if person != SERVER => registry.revoke_server_key(address(person), now),
        8 => {
            let _ = world.sign_in(person);
            return;
        }
        _ => {
            let mut terms = world.terms();
            terms.exitHoldMs = rng.u64(0..3);
            let _ = world.register(person, &terms);
            return;
        }
    };
    if let Ok(changes) = decided {
        world.commit(&changes);
    }
}
