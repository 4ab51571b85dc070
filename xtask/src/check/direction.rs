//! Which crate may depend on which.
//!
//! Shipped dependencies point strictly down the tiers, except that process crates may use each other, and pure crates
//! too: a decision made of decisions is still one. Dev-dependencies are free, because they never reach a user, but xtask
//! stays apart from the product altogether.

#[cfg(test)]
mod tests;

use crate::check::tiers::{PURE_DEPENDENCIES, SIGNER, SQLITE, SQLITE_CRATES, Tier, tier_of};
use crate::metadata::{Dependency, Kind, Package};

pub fn findings(packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    for package in packages {
        let Some(tier) = tier_of(&package.name) else {
            findings.push(format!("{} has no tier: add it to the table in xtask's tiers.rs", package.name));
            continue;
        };
        for dependency in &package.dependencies {
            let internal = packages.iter().any(|other| other.name == dependency.name);
            let reason = match internal.then(|| tier_of(&dependency.name)) {
                // A crate of ours without a tier is reported on its own account.
                Some(None) => None,
                Some(Some(target)) => internal_refusal(package, tier, dependency, target),
                None => external_refusal(package, tier, dependency),
            };
            findings.extend(reason.map(|why| format!("{} -> {}: {why}", package.name, dependency.name)));
        }
    }
    findings
}

fn internal_refusal(package: &Package, tier: Tier, dependency: &Dependency, target: Tier) -> Option<&'static str> {
    if tier == Tier::Tooling || target == Tier::Tooling {
        return Some("xtask and the product do not know each other");
    }
    if dependency.kind == Kind::Dev {
        return None;
    }
    if target == Tier::Tests {
        return Some("the testkit may only be a dev-dependency");
    }
    if package.name == SIGNER {
        return (target != Tier::Pure).then_some("the signer uses pure crates only");
    }
    let among_equals = tier == target && matches!(tier, Tier::Pure | Tier::Process);
    let allowed = target < tier || among_equals;
    (!allowed).then_some(match (tier, target) {
        (Tier::Flow, Tier::Flow) => "flow crates do not import each other",
        _ => "a crate may only use crates of lower tiers",
    })
}

fn external_refusal(package: &Package, tier: Tier, dependency: &Dependency) -> Option<&'static str> {
    let listed = |list: &[(&str, &str)], name: &str| list.iter().any(|(allowed, _)| *allowed == name);
    if dependency.name == SQLITE && !listed(SQLITE_CRATES, &package.name) {
        return Some("only the crates in SQLITE_CRATES may name SQLite");
    }
    let pure = tier == Tier::Pure && dependency.kind == Kind::Shipped;
    (pure && !listed(PURE_DEPENDENCIES, &dependency.name)).then_some("not among the PURE_DEPENDENCIES")
}
