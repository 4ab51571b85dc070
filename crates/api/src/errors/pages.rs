//! The pages `docs/errors/CODE.md`: one for each code, written from the table of codes.

use std::{fmt::Write as _, fs, io, path::Path};

use super::ErrorCode;

/// The pages as they should be: file name and text.
#[must_use]
pub fn pages() -> Vec<(String, String)> {
    let mut pages: Vec<_> = ErrorCode::ALL.iter().map(|code| (format!("{}.md", code.as_str()), page(*code))).collect();
    pages.push(("README.md".to_owned(), contents()));
    pages
}

/// The page of one code.
#[must_use]
pub fn page(code: ErrorCode) -> String {
    let retry = if code.is_retriable() {
        "yes: the same request with the same key may succeed later"
    } else {
        "no: the same request gets the same answer"
    };
    let (name, status) = (code.as_str(), code.status());
    let explanation = wrapped(code.explanation());
    format!("# `{name}`\n\n{}.\n\n- Status: {status}\n- Retriable: {retry}\n\n{explanation}\n", code.title())
}

fn contents() -> String {
    let mut text = "# Error codes\n\nEvery error of the Funds API is `application/problem+json` with one of these \
                    codes.\n\n| code | status | meaning |\n| --- | --- | --- |\n"
        .to_owned();
    for code in ErrorCode::ALL {
        let (name, status) = (code.as_str(), code.status().as_u16());
        let _ = writeln!(text, "| [`{name}`]({name}.md) | {status} | {} |", code.title());
    }
    text
}

/// At most 120 columns.
fn wrapped(text: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && line.len() + 1 + word.len() > 120 {
            lines.push_str(&line);
            lines.push('\n');
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines + &line
}

/// Writes all pages into a folder, and removes pages of codes that no longer exist.
///
/// # Errors
/// If the folder cannot be written.
pub fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let pages = pages();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !pages.iter().any(|(name, _)| *name == *entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())?;
        }
    }
    pages.into_iter().try_for_each(|(name, text)| fs::write(folder.join(name), text))
}
