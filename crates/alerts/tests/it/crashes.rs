//! Processes that die between a commit and what follows it.

use bankroll_alerts::{AlertKind::WalletStopped, AlertObservation, KnownAlerts};

use crate::world::{SECOND, World, condition};

/// The commit is durable, the process dies before it hears the answer: the next one opens no second alert.
#[test]
fn an_answer_that_was_lost_opens_no_second_alert_and_closes_none_twice() {
    for restart in [false, true] {
        let mut world = World::new();
        let seen = [AlertObservation::all(WalletStopped, vec![condition(WalletStopped, "hot", 1)])];
        let over = [AlertObservation::all(WalletStopped, vec![])];
        for (observed, line) in [(&seen, "hot #1 1 open"), (&over, "hot #1 1 closed, by itself")] {
            let known = KnownAlerts::read(&world.reader(), observed).unwrap();
            let changes = world.watch.decide(observed, &known, world.now());
            world.ledger().apply(changes[0].request()).unwrap().effects().unwrap();
            if restart {
                world.restart();
            }
            world.pass(SECOND);
            assert_eq!(World::wrote(&world.round(observed)), [""; 0]);
            assert_eq!(world.lines(), [line]);
        }
        assert_eq!(world.events(), ["alert.opened", "alert.closed"]);
        world.audit().unwrap();
    }
}

/// The process dies before the commit: the next one opens the alert.
#[test]
fn a_process_that_dies_before_the_commit_loses_no_alert() {
    let mut world = World::new();
    let seen = [AlertObservation::all(WalletStopped, vec![condition(WalletStopped, "hot", 1)])];
    let known = KnownAlerts::read(&world.reader(), &seen).unwrap();
    assert_eq!(world.watch.decide(&seen, &known, world.now()).len(), 1);
    world.restart();
    assert_eq!(World::wrote(&world.round(&seen)), ["opened hot 1"]);
}
