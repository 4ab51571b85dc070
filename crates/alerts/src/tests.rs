//! The table of kinds.

use std::collections::BTreeSet;

use super::*;

#[test]
fn every_kind_has_a_runbook_and_every_runbook_a_kind() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let kinds: BTreeSet<String> = AlertKind::ALL.iter().map(|kind| kind.to_string()).collect();
    let files = std::fs::read_dir(format!("{root}docs/runbooks")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let pages: BTreeSet<String> =
        names.filter_map(|name| Some(name.strip_suffix(".md")?.to_owned())).filter(|name| name != "README").collect();
    assert_eq!(kinds, pages);
    for kind in AlertKind::ALL {
        let page = std::fs::read_to_string(format!("{root}{}", kind.runbook())).unwrap();
        let severity = format!("Severity: {}.", kind.severity().as_str());
        let title = format!("# {kind}\n");
        assert!(page.starts_with(&title) && page.contains(&severity), "{kind}");
        for part in ["## What it means", "## What is at risk", "## What to do", "## How it ends"] {
            assert!(page.contains(part), "{kind} has no part {part:?}");
        }
        let ending = if kind.closes_by_itself() { "closes by itself" } else { "A person closes it" };
        assert!(page.contains(ending), "{kind} does not say how it ends");
    }
}

#[test]
fn a_kind_has_one_word() {
    for kind in AlertKind::ALL {
        assert_eq!(kind.as_str().parse(), Ok(*kind));
    }
    let words: BTreeSet<&str> = AlertKind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(words.len(), AlertKind::ALL.len());
    assert!("wallet_is_stopped".parse::<AlertKind>().is_err());
}

#[test]
fn the_id_of_an_alert_is_that_of_its_opening() {
    let first = AlertId::new(AlertKind::WalletStopped, "a", 1);
    assert_eq!(first, AlertId::new(AlertKind::WalletStopped, "a", 1));
    assert_ne!(first, AlertId::new(AlertKind::WalletStopped, "a", 2));
    assert_ne!(first, AlertId::new(AlertKind::WalletStopped, "b", 1));
    assert_ne!(first, AlertId::new(AlertKind::WalletShort, "a", 1));
    assert_eq!(AlertId::parse(first.as_str()), Some(first));
    for wrong in ["alt_", "alt_123", "spn_00000000000000000000000000000000", "alt_0000000000000000000000000000000G"] {
        assert_eq!(AlertId::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn a_long_or_odd_text_is_cut_and_fits_into_one_request() {
    let long = "\u{0}\n\u{10ffff}".repeat(5_000);
    let condition = AlertCondition::new(AlertKind::DiskLow, &long, &long);
    assert!(!condition.summary.contains(['\0', '\n']));
    let details = serde_json::json!({ "why": long });
    assert_eq!(condition.clone().with(&details).details, "{}");
    let change = AlertChange::open(&condition, None, bankroll_ledger::Time(1));
    change.request().check().unwrap();
}
