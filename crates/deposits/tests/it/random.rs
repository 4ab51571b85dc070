//! Random payments, blocks, reorganisations, faults and crashes; at rest the books are what the chain says.

use std::time::{Duration, Instant};

use bankroll_chains_simulated::{Fate, NodeFault, Reorg, U256};
use fastrand::Rng;

use crate::world::{ALICE, BOB, STRANGER, TREASURY, World, hot};

#[test]
fn at_rest_the_books_are_what_the_chain_says() {
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

fn live(random: &mut Rng) {
    let mut world = World::new();
    for _ in 0..60 {
        match random.u8(0..20) {
            0..5 => {
                let person = *random.choice(&[ALICE, BOB, STRANGER, TREASURY]).unwrap();
                world.pay(person, random.u128(1..3_000));
            }
            5..9 => world.mine(random.u64(1..3)),
            9..11 => {
                let (depth, fates) = (random.u64(1..6), [Fate::Kept, Fate::Returned, Fate::Reordered]);
                let (length, fate) = (depth + random.u64(0..2), *random.choice(&fates).unwrap());
                world.chain().reorg(Reorg { depth, length, fate });
            }
            11..16 => {
                let _ = world.scan();
            }
            16..18 => {
                world.book();
            }
            18 => {
                let fault = *random.choice(NodeFault::ALL).unwrap();
                world.chain().inject(0, fault, random.u32(1..4));
            }
            _ => {
                let spent = random.u128(1..1_500);
                let _ = world.spawn(random.choice(&["alice", "bob"]).unwrap(), spent);
                world.restart();
            }
        }
        world.audit();
    }
    world.chain().clear_faults(0);
    world.settle(8);
    world.audit();
    let held = world.chain().balance(hot().0.into());
    assert_eq!(U256::from(world.balances(["@house/custody/1/hot"])[0]), held, "the wallet holds {held}");
    let open = "SELECT id AS a, ledger_state AS b FROM deposits WHERE chain_state <> 'final' OR ledger_epoch <> epoch";
    assert_eq!(world.pairs(open), []);
    // Every sighting that was reversed was seen; what was seen and not reversed is what is included now.
    let seen = "SELECT sum(CASE WHEN change = 'included' THEN 1 ELSE -1 END) AS a, count(DISTINCT tx_hash) AS b
                FROM chain_events WHERE change <> 'final'";
    let deposits = world.pairs("SELECT id AS a, epoch AS b FROM deposits").len().to_string();
    if deposits != "0" {
        assert_eq!(world.pairs(seen), [(deposits.clone(), deposits)]);
    }
}
