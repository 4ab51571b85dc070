//! Names and text that may not be in the repository.
//!
//! Every needle is put together from two halves, so that this file does not contain what it looks for.

#[cfg(test)]
mod tests;

use crate::check::tree::TextFile;

/// Names that say nothing about what the product does.
const NAMES: &[&str] = &["utils", "common", "helpers", "models", "services"];

/// Unfinished code, and tests that never run.
const RUST_TEXT: &[&str] = &[concat!("#[ig", "nore"), concat!("to", "do!("), concat!("unimpl", "emented!(")];

/// A test that waits for time to pass is slow on a good day and wrong on a bad one.
const TEST_TEXT: &[&str] = &[concat!("sle", "ep(")];

/// Folders of the machines this is built on; no other machine has them.
const MACHINE_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/fa", "rm/")];

pub fn findings(files: &[TextFile]) -> Vec<String> {
    files.iter().flat_map(file_findings).collect()
}

fn file_findings(file: &TextFile) -> Vec<String> {
    let mut needles = MACHINE_PATHS.to_vec();
    if file.is_rust() {
        needles.extend(RUST_TEXT);
    }
    if is_test(file) {
        needles.extend(TEST_TEXT);
    }
    let mut findings = Vec::new();
    if let Some(name) = banned_component(file) {
        findings.push(format!("{}: `{name}` does not say what the code does", file.path));
    }
    for (number, line) in file.lines() {
        let found = needles.iter().filter(|needle| line.contains(**needle));
        findings.extend(found.map(|needle| format!("{}:{number}: `{needle}` is banned", file.path)));
        if let Some(name) = declared_module(line).filter(|name| file.is_rust() && NAMES.contains(name)) {
            findings.push(format!("{}:{number}: module `{name}` does not say what it does", file.path));
        }
    }
    findings
}

fn is_test(file: &TextFile) -> bool {
    let in_tests_folder = file.path.starts_with("crates/") && file.path.split('/').any(|part| part == "tests");
    file.is_rust() && (in_tests_folder || file.path.ends_with("tests.rs"))
}

/// A folder counts as much as a file, because both become a module or a crate.
fn banned_component(file: &TextFile) -> Option<&str> {
    let path = file.path.strip_suffix(".rs")?;
    path.split('/').find(|part| NAMES.contains(part))
}

fn declared_module(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    words.find(|word| *word == "mod")?;
    words.next().map(|name| name.trim_end_matches([';', '{']))
}
