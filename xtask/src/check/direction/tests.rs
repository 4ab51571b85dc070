use serde_json::{Value, json};

use crate::check::direction::findings;
use crate::metadata::parse;

/// Each package with its dependencies; `dev:` and `build:` before a name say its kind.
fn check(packages: &[(&str, &[&str])], expected: &[&str]) {
    let packages: Vec<Value> = packages.iter().map(|(name, dependencies)| package(name, dependencies)).collect();
    let packages = parse(&json!({ "packages": packages })).unwrap();
    assert_eq!(findings(&packages), expected);
}

fn package(name: &str, dependencies: &[&str]) -> Value {
    let dependencies: Vec<Value> = dependencies
        .iter()
        .map(|written| match written.split_once(':') {
            Some((kind, name)) => json!({ "name": name, "kind": kind }),
            None => json!({ "name": written, "kind": null }),
        })
        .collect();
    json!({ "name": name, "targets": [], "dependencies": dependencies })
}

#[test]
fn every_tier_may_use_the_ones_below_and_pure_and_process_crates_each_other() {
    check(
        &[
            ("bankroll-ledger", &["serde", "dev:serde_json"]),
            ("bankroll-deck", &["merlin"]),
            ("bankroll-poker", &["bankroll-deck"]),
            ("bankroll-store", &["bankroll-ledger", "rusqlite"]),
            ("bankroll-deposits", &["bankroll-store", "bankroll-ledger", "build:cc"]),
            ("bankroll-api", &["bankroll-deposits"]),
            ("bankroll", &["bankroll-api", "bankroll-store", "rusqlite", "dev:bankroll-testkit"]),
            ("bankroll-testkit", &["bankroll", "bankroll-store", "dev:rusqlite"]),
            ("xtask", &["anyhow"]),
        ],
        &[],
    );
}

#[test]
fn no_tier_may_use_the_ones_above_nor_flows_and_infra_each_other() {
    check(
        &[
            ("bankroll-ledger", &["bankroll-store"]),
            ("bankroll-store", &["build:bankroll-deposits"]),
            ("bankroll-chains-evm", &["bankroll-store"]),
            ("bankroll-deposits", &["bankroll-withdrawals"]),
            ("bankroll-withdrawals", &["bankroll"]),
            ("bankroll", &[]),
        ],
        &[
            "bankroll-ledger -> bankroll-store: a crate may only use crates of lower tiers",
            "bankroll-store -> bankroll-deposits: a crate may only use crates of lower tiers",
            "bankroll-chains-evm -> bankroll-store: a crate may only use crates of lower tiers",
            "bankroll-deposits -> bankroll-withdrawals: flow crates do not import each other",
            "bankroll-withdrawals -> bankroll: a crate may only use crates of lower tiers",
        ],
    );
}

#[test]
fn the_signer_uses_pure_crates_only() {
    check(
        &[
            ("bankroll-orders", &[]),
            ("bankroll-store", &[]),
            ("bankroll-api", &[]),
            ("bankroll-signer", &["bankroll-orders", "bankroll-store", "bankroll-api", "rusqlite"]),
        ],
        &[
            "bankroll-signer -> bankroll-store: the signer uses pure crates only",
            "bankroll-signer -> bankroll-api: the signer uses pure crates only",
        ],
    );
}

#[test]
fn the_testkit_is_a_dev_dependency_or_none() {
    check(
        &[
            ("bankroll-testkit", &[]),
            ("bankroll-ledger", &["dev:bankroll-testkit"]),
            ("bankroll", &["bankroll-testkit"]),
        ],
        &["bankroll -> bankroll-testkit: the testkit may only be a dev-dependency"],
    );
}

#[test]
fn xtask_and_the_product_stay_apart_even_in_tests() {
    check(
        &[("xtask", &["dev:bankroll-ledger"]), ("bankroll-ledger", &[]), ("bankroll-testkit", &["xtask"])],
        &[
            "xtask -> bankroll-ledger: xtask and the product do not know each other",
            "bankroll-testkit -> xtask: xtask and the product do not know each other",
        ],
    );
}

#[test]
fn a_crate_without_a_tier_is_an_error_once() {
    check(
        &[("bankroll-bonus", &[]), ("bankroll", &["bankroll-bonus"])],
        &["bankroll-bonus has no tier: add it to the table in xtask's tiers.rs"],
    );
}

#[test]
fn outside_dependencies_are_listed_where_it_matters() {
    check(
        &[
            ("bankroll-ledger", &["postcard", "serde", "sha2", "thiserror", "tokio", "build:cc", "dev:fastrand"]),
            ("bankroll-deposits", &["tokio", "dev:rusqlite"]),
        ],
        &[
            "bankroll-ledger -> tokio: not among the PURE_DEPENDENCIES",
            "bankroll-ledger -> cc: not among the PURE_DEPENDENCIES",
            "bankroll-deposits -> rusqlite: only the crates in SQLITE_CRATES may name SQLite",
        ],
    );
}
