//! Pages for people: which must exist, how long they may be, and how wide.

use crate::check::tree::TextFile;

/// Pages that must exist, and the most lines of those that are read whole.
const PAGES: &[(&str, usize)] = &[
    ("README.md", 120),
    ("ARCHITECTURE.md", 400),
    ("CONTRIBUTING.md", 400),
    ("SECURITY.md", 400),
    ("CHANGELOG.md", usize::MAX),
    ("docs/glossary.md", 400),
    ("docs/testing.md", 400),
    ("docs/tutorial.md", 400),
];

/// Columns that a line of prose may have. Rows of tables cannot be wrapped, and samples show what they show.
const WIDTH: usize = 120;

pub fn findings(files: &[TextFile]) -> Vec<String> {
    let short = PAGES.iter().filter_map(|(page, limit)| page_finding(files, page, *limit));
    let pages = files.iter().filter(|file| file.path.ends_with(".md"));
    short.chain(pages.flat_map(wide_lines)).collect()
}

fn page_finding(files: &[TextFile], page: &str, limit: usize) -> Option<String> {
    let Some(file) = files.iter().find(|file| file.path == page) else {
        return Some(format!("{page} is missing"));
    };
    let lines = file.lines().count();
    (lines > limit).then(|| format!("{page} has {lines} lines, the limit is {limit}"))
}

fn wide_lines(file: &TextFile) -> Vec<String> {
    let mut in_sample = false;
    let mut findings = Vec::new();
    for (number, line) in file.lines() {
        let columns = line.chars().count();
        if line.trim_start().starts_with("```") {
            in_sample = !in_sample;
        } else if columns > WIDTH && !in_sample && !line.starts_with('|') {
            findings.push(format!("{}:{number} has {columns} columns, prose ends before {}", file.path, WIDTH + 1));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, text: &str) -> TextFile {
        TextFile { path: path.into(), text: text.into() }
    }

    fn all() -> Vec<TextFile> {
        PAGES.iter().map(|(path, _)| page(path, "x\n")).collect()
    }

    #[test]
    fn limits_are_inclusive() {
        let mut files = all();
        files[0].text = "x\n".repeat(120);
        assert_eq!(findings(&files), Vec::<String>::new());
        files[0].text = "x\n".repeat(121);
        assert_eq!(findings(&files), ["README.md has 121 lines, the limit is 120"]);
    }

    #[test]
    fn a_missing_page_is_a_finding() {
        let files: Vec<_> = all().into_iter().skip(1).collect();
        assert_eq!(findings(&files), ["README.md is missing"]);
    }

    #[test]
    fn prose_ends_before_column_121_and_tables_and_samples_may_be_wider() {
        let wide = "x".repeat(121);
        let text = format!("{}\n| {wide}\n```text\n{wide}\n```\n{wide}\n", "x".repeat(120));
        let files: Vec<_> = all().into_iter().chain([page("docs/a.md", &text)]).collect();
        assert_eq!(findings(&files), ["docs/a.md:6 has 121 columns, prose ends before 121"]);
    }
}
