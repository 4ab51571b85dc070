//! One public type name stands for one concept in the whole workspace.
//!
//! A reader who meets `Outcome` should not have to ask of which of five crates. Where two crates need the same noun, one of
//! them is qualified; `docs/glossary.md` decides which. Types that no other crate can see are left to their crate.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::check::tree::TextFile;

const KEYWORDS: &[&str] = &["struct", "enum", "trait", "type", "union"];

pub fn findings(files: &[TextFile]) -> Vec<String> {
    let mut definitions: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| is_source(file)) {
        for (number, line) in file.lines() {
            if let Some(name) = defined(line) {
                definitions.entry(name).or_default().push(format!("{}:{number}", file.path));
            }
        }
    }
    let twice = definitions.into_iter().filter(|(_, places)| places.len() > 1);
    twice.map(|(name, places)| format!("public type `{name}` is defined at {}", places.join(" and "))).collect()
}

/// The public type that a line defines. `pub(crate)` is not public.
fn defined(line: &str) -> Option<&str> {
    let mut words = line.trim_start().strip_prefix("pub ")?.split_whitespace();
    words.next().filter(|word| KEYWORDS.contains(word))?;
    let name = words.next()?;
    let end = name.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(name.len());
    // In a macro the name is `$name`: what it stands for is where the macro is used.
    (end > 0).then_some(&name[..end])
}

/// Tests are worlds of their own, and nothing imports them.
fn is_source(file: &TextFile) -> bool {
    let in_tests =
        file.path.split('/').any(|part| part == "tests" || part == "fuzz") || file.path.ends_with("tests.rs");
    file.is_rust() && file.path.starts_with("crates/") && !in_tests
}
