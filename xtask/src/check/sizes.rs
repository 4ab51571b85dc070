//! How long a file may be.

use crate::check::tree::TextFile;

const RUST_NOTE: usize = 500;
const RUST_LIMIT: usize = 800;

/// Pages that must exist and stay short enough to be read whole.
const PAGES: &[(&str, usize)] = &[("README.md", 120), ("ARCHITECTURE.md", 400)];

pub fn findings(files: &[TextFile]) -> Vec<String> {
    let rust = files.iter().filter(|file| file.is_rust()).filter_map(rust_finding);
    rust.chain(PAGES.iter().filter_map(|(page, limit)| page_finding(files, page, *limit))).collect()
}

fn rust_finding(file: &TextFile) -> Option<String> {
    let lines = file.lines().count();
    if (RUST_NOTE + 1..=RUST_LIMIT).contains(&lines) {
        println!("note: {} has {lines} lines; above {RUST_NOTE} it is time to talk about splitting it", file.path);
    }
    (lines > RUST_LIMIT).then(|| too_long(&file.path, lines, RUST_LIMIT))
}

fn page_finding(files: &[TextFile], page: &str, limit: usize) -> Option<String> {
    let Some(file) = files.iter().find(|file| file.path == page) else {
        return Some(format!("{page} is missing"));
    };
    let lines = file.lines().count();
    (lines > limit).then(|| too_long(page, lines, limit))
}

fn too_long(path: &str, lines: usize, limit: usize) -> String {
    format!("{path} has {lines} lines, the limit is {limit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, usize)], expected: &[&str]) {
        let file = |(path, lines): &(&str, usize)| TextFile { path: (*path).into(), text: "x\n".repeat(*lines) };
        let files: Vec<_> = files.iter().map(file).collect();
        assert_eq!(findings(&files), expected);
    }

    #[test]
    fn limits_are_inclusive() {
        check(&[("README.md", 120), ("ARCHITECTURE.md", 400), ("a.rs", 800), ("data.csv", 9000)], &[]);
    }

    #[test]
    fn one_line_more_is_too_long() {
        check(
            &[("README.md", 121), ("ARCHITECTURE.md", 401), ("a.rs", 801)],
            &[
                "a.rs has 801 lines, the limit is 800",
                "README.md has 121 lines, the limit is 120",
                "ARCHITECTURE.md has 401 lines, the limit is 400",
            ],
        );
    }

    #[test]
    fn a_missing_page_is_a_finding() {
        check(&[("docs/README.md", 1)], &["README.md is missing", "ARCHITECTURE.md is missing"]);
    }
}
