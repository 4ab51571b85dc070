//! Pure crates deny, in their own source, what would make a decision about money inexact.

use std::fs;

use anyhow::{Context, Result};

use crate::check::tiers::{Tier, tier_of};
use crate::metadata::Package;

const DENIED: &[&str] = &["clippy::arithmetic_side_effects", "clippy::float_arithmetic"];

pub fn findings(packages: &[Package]) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for package in packages.iter().filter(|package| tier_of(&package.name) == Some(Tier::Pure)) {
        let library = package.library.as_ref().with_context(|| format!("{} has no library", package.name))?;
        let source = fs::read_to_string(library).with_context(|| format!("cannot read {}", library.display()))?;
        let missing = missing_lints(&source);
        findings.extend(missing.map(|lint| format!("{}: lib.rs must say #![deny({lint})]", package.name)));
    }
    Ok(findings)
}

fn missing_lints(source: &str) -> impl Iterator<Item = &'static str> {
    // An attribute in a comment does nothing, so comments are taken out first.
    let code: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let denied: String = code.join("\n").split("#![").skip(1).filter_map(denying).collect();
    DENIED.iter().copied().filter(move |lint| !denied.contains(lint))
}

/// The attribute at the start of this text, if it denies; `forbid` is stronger, and both may stand inside `cfg_attr`.
fn denying(text: &str) -> Option<&str> {
    let (attribute, _) = text.split_once(']')?;
    (attribute.contains("deny(") || attribute.contains("forbid(")).then_some(attribute)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, missing: &[&str]) {
        assert_eq!(missing_lints(source).collect::<Vec<_>>(), missing);
    }

    #[test]
    fn both_in_any_arrangement() {
        check(
            "//! Doc.\n#![deny(\n    clippy::arithmetic_side_effects,\n    clippy::float_arithmetic\n)]\n#![forbid(missing_docs)]\nmod a;",
            &[],
        );
        check(
            "#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]\n#![deny(clippy::float_arithmetic, missing_docs)]",
            &[],
        );
    }

    #[test]
    fn allowing_commenting_or_forgetting_is_not_denying() {
        check("#![allow(missing_docs)]\n// #![deny(clippy::float_arithmetic)]\nmod a;", DENIED);
        check("#![deny(missing_docs)]", &["clippy::arithmetic_side_effects", "clippy::float_arithmetic"]);
    }
}
