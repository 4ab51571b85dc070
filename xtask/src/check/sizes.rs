//! How long a source file may be.

use crate::check::tree::TextFile;

const RUST_NOTE: usize = 500;
const RUST_LIMIT: usize = 800;

pub fn findings(files: &[TextFile]) -> Vec<String> {
    files.iter().filter(|file| file.is_rust()).filter_map(rust_finding).collect()
}

fn rust_finding(file: &TextFile) -> Option<String> {
    let lines = file.lines().count();
    if (RUST_NOTE + 1..=RUST_LIMIT).contains(&lines) {
        println!("note: {} has {lines} lines; above {RUST_NOTE} it is time to talk about splitting it", file.path);
    }
    (lines > RUST_LIMIT).then(|| format!("{} has {lines} lines, the limit is {RUST_LIMIT}", file.path))
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
    fn the_limit_is_inclusive_and_for_source_alone() {
        check(&[("a.rs", 800), ("data.csv", 9000)], &[]);
        check(&[("a.rs", 801)], &["a.rs has 801 lines, the limit is 800"]);
    }
}
