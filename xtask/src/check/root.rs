//! What may be at the root of the repository: a program left any other folder behind.

use std::collections::BTreeSet;

use crate::check::tree::TextFile;

/// Folders at the root. Adding one is a decision.
const FOLDERS: &[&str] = &[".cargo", ".ci", "crates", "docs", "examples", "xtask"];

/// Files at the root, in addition to pages in capitals: README.md, LICENSE-MIT.
const FILES: &[&str] =
    &[".gitignore", "Cargo.lock", "Cargo.toml", "clippy.toml", "deny.toml", "rust-toolchain.toml", "rustfmt.toml"];

pub fn findings(files: &[TextFile]) -> Vec<String> {
    let stray: BTreeSet<String> = files.iter().filter_map(|file| stray(&file.path)).collect();
    stray.into_iter().collect()
}

fn stray(path: &str) -> Option<String> {
    match path.split_once('/') {
        Some((folder, _)) if !FOLDERS.contains(&folder) => {
            Some(format!("{folder}/ is a stray folder at the root: delete it, or list it in xtask/src/check/root.rs"))
        }
        None if !FILES.contains(&path) && !path.starts_with(|first: char| first.is_ascii_uppercase()) => {
            Some(format!("{path} is a stray file at the root: delete it, or list it in xtask/src/check/root.rs"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_planned_folders_and_files_are_at_the_root() {
        let file = |path: &str| TextFile { path: path.into(), text: String::new() };
        let known = ["README.md", "LICENSE-MIT", "Cargo.toml", "crates/a/b.rs", "docs/x/y.md"];
        assert_eq!(findings(&known.map(file)), Vec::<String>::new());
        let left = [".tmpLUmDvB/memory.txt", ".tmpLUmDvB/b", "notes.txt"].map(file);
        assert_eq!(
            findings(&left),
            [
                ".tmpLUmDvB/ is a stray folder at the root: delete it, or list it in xtask/src/check/root.rs",
                "notes.txt is a stray file at the root: delete it, or list it in xtask/src/check/root.rs",
            ]
        );
    }
}
