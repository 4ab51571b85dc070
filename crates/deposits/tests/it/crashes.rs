//! The process dies between any two steps, or loses an answer: the rows say what is left to do.

use bankroll_chains_simulated::{Fate, Reorg};
use bankroll_deposits::{
    ScanOutcome,
    crediting::{CreditRules, no_exclusions},
};

use crate::world::{ALICE, BOB, World};

/// One story in steps, any of which may be followed by a crash.
fn story(world: &mut World, mut crash: impl FnMut(&mut World)) {
    world.pay(ALICE, 1_125);
    for _ in 0..3 {
        world.mine(1);
        world.scan().unwrap();
        crash(world);
        world.book();
        crash(world);
    }
    world.pay(BOB, 2_000);
    world.chain().reorg(Reorg { depth: 3, length: 4, fate: Fate::Returned });
    world.scan().unwrap();
    crash(world);
    world.book();
    crash(world);
    for _ in 0..4 {
        world.mine(1);
        while world.scan().unwrap() != ScanOutcome::UpToDate {
            crash(world);
        }
        world.book();
        crash(world);
    }
}

#[test]
fn a_crash_after_any_step_changes_nothing_about_the_end() {
    let mut steps = 0;
    story(&mut World::new(), |_| steps += 1);
    assert!(steps > 12, "{steps} steps");
    for at in 0..steps {
        let (mut world, mut step) = (World::new(), 0);
        story(&mut world, |world| {
            if step == at {
                world.restart();
            }
            step += 1;
        });
        let balances = world.balances(["arena/funds/1/alice", "arena/funds/1/bob", "arena/unallocated/1/bob"]);
        assert_eq!(balances, [1_000, 1_000, 875], "crash after step {at}");
        world.audit();
    }
}

#[test]
fn crediting_twice_at_once_credits_once() {
    let mut world = World::new();
    world.pay(ALICE, 1_125);
    world.mine(3);
    world.scan_all();
    // Both have read that it is due before either has booked it; the one that comes later changes its configuration.
    let (ledger, servers) = (world.ledger().clone(), world.servers.clone());
    let mut others = servers.clone();
    others.values_mut().for_each(|rules| rules.version = 2);
    let watch = world.with_rules(|rules| rules.watch.clone());
    std::thread::scope(|scope| {
        for servers in [&servers, &others] {
            let (ledger, watch) = (ledger.clone(), &watch);
            scope.spawn(move || {
                let rules = CreditRules { servers, watch, standing: &no_exclusions };
                let rows = bankroll_store::Rows::open(&ledger).unwrap();
                bankroll_deposits::crediting::step(&rules, &ledger, &rows, 10).unwrap();
            });
        }
    });
    assert_eq!(world.balances(["arena/funds/1/alice", "@house/custody/1/hot"]), [1_000, 1_125]);
    assert!(world.book().is_idle());
    world.audit();
}
