//! Which crate may name which table in SQL.
//!
//! A flow's tables are its own: a crate that makes tables in its `migrations/` is the only one whose shipped code reads or
//! writes them. Others call the flow. Without this a rule about a row soon stands in two crates, and only one of them is
//! changed. The store's tables are left out, because engines, tools and benchmarks work on them by design.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::check::tiers::{Tier, tier_of};
use crate::check::tree::TextFile;

/// The words of SQL that a table's name follows.
const BEFORE_A_TABLE: &[&str] = &["FROM", "INTO", "UPDATE", "JOIN", "TABLE"];

pub fn findings(files: &[TextFile]) -> Vec<String> {
    let owners = owners(files);
    let shipped = files.iter().filter(|file| is_shipped(file));
    shipped.flat_map(|file| file_findings(file, &owners)).collect()
}

/// Each table of a flow, with the folder of the crate that makes it.
fn owners(files: &[TextFile]) -> BTreeMap<&str, &str> {
    let mut owners = BTreeMap::new();
    for file in files {
        let Some((owner, _)) = file.path.split_once("/migrations/") else { continue };
        if is_flow(owner) {
            owners.extend(tables_after(&file.text, &["TABLE"]).map(|(_, table)| (table, owner)));
        }
    }
    owners
}

fn file_findings(file: &TextFile, owners: &BTreeMap<&str, &str>) -> Vec<String> {
    let is_foreign = |owner: &str| !file.path.starts_with(&format!("{owner}/"));
    let named = tables_after(&file.text, BEFORE_A_TABLE);
    let foreign = named.filter_map(|(line, table)| Some((line, table, owners.get(table).filter(|o| is_foreign(o))?)));
    foreign.map(|(line, table, owner)| format!("{}:{line}: table `{table}` is {owner}'s: ask it", file.path)).collect()
}

/// What follows one of the words, over line ends too, with the line it is on.
fn tables_after<'a>(text: &'a str, words: &'a [&str]) -> impl Iterator<Item = (usize, &'a str)> {
    let numbered =
        text.lines().enumerate().flat_map(|(index, line)| line.split_whitespace().map(move |w| (index + 1, w)));
    let mut before = "";
    numbered.filter_map(move |(line, word)| {
        let is_table = words.contains(&before.trim_start_matches(['"', '(']));
        before = word;
        is_table.then(|| (line, bare(word))).filter(|(_, table)| !table.is_empty())
    })
}

/// The name without what may stand right behind it.
fn bare(word: &str) -> &str {
    let end = word.find(|letter: char| !letter.is_ascii_lowercase() && letter != '_').unwrap_or(word.len());
    &word[..end]
}

fn is_flow(folder: &str) -> bool {
    folder.strip_prefix("crates/").is_some_and(|name| tier_of(&format!("bankroll-{name}")) == Some(Tier::Flow))
}

/// Tests edit rows on purpose, to see that it is noticed.
fn is_shipped(file: &TextFile) -> bool {
    let of_tests =
        file.path.split('/').any(|part| part == "tests" || part == "testkit") || file.path.ends_with("tests.rs");
    file.is_rust() && file.path.starts_with("crates/") && !of_tests
}
