//! The life of an alert.

use bankroll_alerts::{
    AlertAct::{Acknowledge, Close},
    AlertKind::{
        ClockDiffers, DepositsOrphaned, DepositsSuspended, DiskLow, PayoutUnknown, WalletShort, WalletStopped,
    },
    AlertObservation, AlertRefusal, AlertState,
    views::{self, AlertFilter},
};

use crate::world::{MINUTE, SECOND, World, condition};

#[test]
fn a_condition_that_holds_on_is_one_alert_and_closes_when_it_ends() {
    let mut world = World::new();
    let stopped = || vec![condition(WalletStopped, "hot", 1)];
    assert_eq!(World::wrote(&world.observe(WalletStopped, stopped())), ["opened hot 1"]);
    for _ in 0..5 {
        world.pass(MINUTE);
        assert_eq!(World::wrote(&world.observe(WalletStopped, stopped())), [""; 0]);
    }
    assert_eq!(world.lines(), ["hot #1 1 open"]);
    world.pass(SECOND);
    assert_eq!(World::wrote(&world.observe(WalletStopped, vec![])), ["closed hot 1"]);
    assert_eq!(World::wrote(&world.observe(WalletStopped, vec![])), [""; 0]);
    assert_eq!(world.lines(), ["hot #1 1 closed, by itself"]);
    assert_eq!(world.events(), ["alert.opened", "alert.closed"]);
    world.audit().unwrap();
}

#[test]
fn a_condition_that_comes_back_is_another_alert() {
    let mut world = World::new();
    for _ in 0..3 {
        world.observe(WalletStopped, vec![condition(WalletStopped, "hot", 1)]);
        world.pass(SECOND);
        world.observe(WalletStopped, vec![]);
        world.pass(SECOND);
    }
    let ends = ["hot #1 1 closed, by itself", "hot #2 1 closed, by itself", "hot #3 1 closed, by itself"];
    assert_eq!(world.lines(), ends);
    let ids: std::collections::BTreeSet<_> = world.all().into_iter().map(|alert| alert.id).collect();
    assert_eq!(ids.len(), 3);
    world.audit().unwrap();
}

#[test]
fn the_number_of_items_is_written_again_once_a_minute() {
    let mut world = World::new();
    let suspended = |items| vec![condition(DepositsSuspended, "eip155:1", items)];
    world.observe(DepositsSuspended, suspended(1));
    for items in 2..60 {
        world.pass(SECOND);
        assert_eq!(World::wrote(&world.observe(DepositsSuspended, suspended(items))), [""; 0], "{items}");
    }
    world.pass(2 * SECOND);
    assert_eq!(World::wrote(&world.observe(DepositsSuspended, suspended(61))), ["changed eip155:1 61"]);
    assert_eq!(world.lines(), ["eip155:1 #1 61 open"]);
    assert_eq!(world.events(), ["alert.opened"], "more items are no event");
    world.audit().unwrap();
}

#[test]
fn a_person_acknowledges_and_it_still_closes_by_itself() {
    let mut world = World::new();
    world.observe(WalletStopped, vec![condition(WalletStopped, "hot", 1)]);
    let alert = world.all().remove(0);
    assert!(world.act(Acknowledge, &alert, "olga"));
    world.observe(WalletStopped, vec![condition(WalletStopped, "hot", 1)]);
    assert_eq!(world.lines(), ["hot #1 1 acknowledged, seen by olga"]);
    let acknowledged = world.all().remove(0);
    assert_eq!(Acknowledge.decide(&acknowledged, "omar", world.now()), Ok(None), "it is so already");
    world.observe(WalletStopped, vec![]);
    assert_eq!(world.lines(), ["hot #1 1 closed, seen by olga, by itself"]);
    assert_eq!(world.events(), ["alert.opened", "alert.acknowledged", "alert.closed"]);
    let closed = world.all().remove(0);
    assert_eq!(Acknowledge.decide(&closed, "omar", world.now()), Err(AlertRefusal::Closed));
    assert_eq!(Acknowledge.decide(&closed, "olga", world.now()), Ok(None), "a retry of what took effect");
    assert_eq!(Close.decide(&closed, "omar", world.now()), Ok(None));
    world.audit().unwrap();
}

#[test]
fn a_person_who_acts_on_an_old_copy_changes_nothing() {
    let mut world = World::new();
    world.observe(WalletStopped, vec![condition(WalletStopped, "hot", 1)]);
    let alert = world.all().remove(0);
    assert!(world.act(Acknowledge, &alert, "olga"));
    assert!(!world.act(Acknowledge, &alert, "omar"), "Olga was faster");
    assert!(!world.act(Close, &alert, "omar"), "the alert has changed since Omar read it");
    assert_eq!(world.lines(), ["hot #1 1 acknowledged, seen by olga"]);
}

#[test]
fn one_that_a_person_closes_too_early_opens_again() {
    let mut world = World::new();
    world.observe(WalletStopped, vec![condition(WalletStopped, "hot", 1)]);
    let alert = world.all().remove(0);
    assert!(world.act(Close, &alert, "olga"));
    world.pass(SECOND);
    world.observe(WalletStopped, vec![condition(WalletStopped, "hot", 1)]);
    assert_eq!(world.lines(), ["hot #1 1 closed, by olga", "hot #2 1 open"]);
}

#[test]
fn what_happened_once_stays_until_a_person_closes_it_and_opens_no_second_time() {
    let mut world = World::new();
    let happened = || vec![condition(DepositsOrphaned, "eip155:1/reorganised at 7", 4)];
    world.observe(DepositsOrphaned, happened());
    world.pass(MINUTE);
    world.observe(DepositsOrphaned, vec![]);
    assert_eq!(world.lines(), ["eip155:1/reorganised at 7 #1 4 open"], "the chain has the deposits again");
    let alert = world.all().remove(0);
    assert!(world.act(Close, &alert, "olga"));
    world.pass(MINUTE);
    assert_eq!(World::wrote(&world.observe(DepositsOrphaned, happened())), [""; 0]);
    let next = vec![condition(DepositsOrphaned, "eip155:1/reorganised at 8", 1)];
    assert_eq!(World::wrote(&world.observe(DepositsOrphaned, next)), ["opened eip155:1/reorganised at 8 1"]);
}

#[test]
fn what_could_not_be_observed_closes_nothing() {
    let mut world = World::new();
    world.observe(WalletStopped, vec![condition(WalletStopped, "hot", 1)]);
    world.pass(MINUTE);
    assert_eq!(World::wrote(&world.round(&[])), [""; 0]);
    assert_eq!(World::wrote(&world.observe(PayoutUnknown, vec![])), [""; 0], "another kind");
    assert_eq!(world.lines(), ["hot #1 1 open"]);
}

#[test]
fn a_node_speaks_for_its_own_disk_and_for_no_other() {
    let mut world = World::new();
    let of = |node: &str, is_low: bool| {
        AlertObservation::of_subject(DiskLow, node, is_low.then(|| condition(DiskLow, node, 1)))
    };
    world.round(&[of("node-1", true)]);
    world.pass(SECOND);
    // Another node holds the books now.
    world.round(&[of("node-2", true)]);
    for _ in 0..3 {
        world.pass(MINUTE);
        world.round(&[of("node-2", false)]);
    }
    assert_eq!(world.lines(), ["node-1 #1 1 open", "node-2 #1 1 closed, by itself"]);
}

#[test]
fn a_condition_that_comes_and_goes_within_a_minute_is_no_alert() {
    let mut world = World::new();
    for _ in 0..10 {
        world.observe(WalletShort, vec![condition(WalletShort, "hot", 1)]);
        world.pass(59 * SECOND);
        world.observe(WalletShort, vec![]);
        world.pass(SECOND);
    }
    assert_eq!(world.lines(), [""; 0]);
    world.observe(WalletShort, vec![condition(WalletShort, "hot", 1)]);
    world.pass(MINUTE);
    world.observe(WalletShort, vec![condition(WalletShort, "hot", 1)]);
    // It is gone for a moment, and back: the same alert.
    world.observe(WalletShort, vec![]);
    world.pass(59 * SECOND);
    world.observe(WalletShort, vec![condition(WalletShort, "hot", 1)]);
    world.pass(2 * SECOND);
    world.observe(WalletShort, vec![]);
    assert_eq!(world.lines(), ["hot #1 1 open"]);
    world.pass(MINUTE);
    world.observe(WalletShort, vec![]);
    assert_eq!(world.lines(), ["hot #1 1 closed, by itself"]);
}

/// The machine's clock may be set back while a loop remembers when a condition began.
#[test]
fn a_clock_that_goes_back_opens_and_closes_nothing_early() {
    let mut world = World::new();
    world.observe(ClockDiffers, vec![condition(ClockDiffers, "node-1", 1)]);
    world.pass(30 * SECOND);
    let (reader, before) = (world.reader(), bankroll_ledger::Time(5));
    let seen = [AlertObservation::all(ClockDiffers, vec![condition(ClockDiffers, "node-1", 1)])];
    let known = bankroll_alerts::KnownAlerts::read(&reader, &seen).unwrap();
    assert_eq!(world.watch.decide(&seen, &known, before), []);
}

#[test]
fn a_list_is_paged_and_filtered() {
    let mut world = World::new();
    for number in 0..5 {
        let subject = format!("payout-{number}");
        let before: Vec<_> = (0..=number).map(|n| condition(PayoutUnknown, &format!("payout-{n}"), 1)).collect();
        world.observe(PayoutUnknown, before);
        assert!(world.lines().iter().any(|line| line.starts_with(&subject)));
        world.pass(SECOND);
    }
    world.observe(DepositsSuspended, vec![condition(DepositsSuspended, "eip155:1", 2)]);
    let reader = world.reader();
    let (mut filter, mut pages) = (AlertFilter::default(), Vec::new());
    loop {
        let page = views::list(&reader, &filter, 2).unwrap();
        let Some(last) = page.last() else { break };
        filter.after = Some(last.clone());
        pages.push(page.iter().map(|alert| alert.subject.clone()).collect::<Vec<_>>());
    }
    assert_eq!(pages, [["eip155:1", "payout-4"], ["payout-3", "payout-2"], ["payout-1", "payout-0"]]);
    let count = |filter: &AlertFilter| views::list(&reader, filter, 100).unwrap().len();
    assert_eq!(count(&AlertFilter { kind: Some(PayoutUnknown), ..AlertFilter::default() }), 5);
    assert_eq!(count(&AlertFilter { severity: "warning".parse().ok(), ..AlertFilter::default() }), 1);
    assert_eq!(count(&AlertFilter { state: Some(AlertState::Closed), ..AlertFilter::default() }), 0);
}
