//! Rows of alerts are facts: an edit by SQL is reported.

use bankroll_alerts::{AlertAct::Acknowledge, AlertKind::WalletStopped};
use bankroll_store::columns::{one, text};

use crate::world::{SECOND, World, condition};

fn is_reported(sql: &str) {
    let mut world = World::new();
    world.observe(WalletStopped, vec![condition(WalletStopped, "hot", 1)]);
    let alert = world.all().remove(0);
    assert!(world.act(Acknowledge, &alert, "olga"));
    world.audit().unwrap();
    world.ledger().write_rows(vec![one(sql, vec![text(alert.id.as_str())])]).unwrap().wait().unwrap().unwrap();
    let report = world.audit().unwrap_err().to_string();
    assert!(report.contains("alerts") && report.contains(alert.id.as_str()), "{sql}: {report}");
}

#[test]
fn an_alert_that_is_hidden_by_sql_is_reported() {
    is_reported("UPDATE alerts SET state = 'closed' WHERE id = $1");
    is_reported("DELETE FROM alerts WHERE id = $1");
}

#[test]
fn another_person_another_time_or_another_severity_is_reported() {
    is_reported("UPDATE alerts SET acknowledged_by = 'omar' WHERE id = $1");
    is_reported("UPDATE alerts SET opened_at = opened_at + 1 WHERE id = $1");
    is_reported("UPDATE alerts SET severity = 'info' WHERE id = $1");
    is_reported("UPDATE alerts SET closed_by = 'omar' WHERE id = $1");
}

/// The guard of the books, and not the memory of a loop, keeps a second one from opening.
#[test]
fn two_loops_that_open_the_same_alert_open_one() {
    let mut world = World::new();
    let seen = [bankroll_alerts::AlertObservation::all(WalletStopped, vec![condition(WalletStopped, "hot", 1)])];
    let known = bankroll_alerts::KnownAlerts::default();
    let first = world.watch.decide(&seen, &known, world.now());
    world.pass(SECOND);
    let second = bankroll_alerts::AlertWatch::default().decide(&seen, &known, world.now());
    assert!(world.ledger().apply(first[0].request()).unwrap().effects().is_ok());
    assert!(world.ledger().apply(second[0].request()).unwrap().effects().is_err());
    assert_eq!(world.lines(), ["hot #1 1 open"]);
    assert_eq!(world.events(), ["alert.opened"]);
    world.audit().unwrap();
}
