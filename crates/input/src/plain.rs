//! The texts of libraries, in plain words.

/// Phrases of the standard library, serde and the argument parser, and what we say instead.
const PHRASES: &[(&str, &str)] = &[
    ("invalid digit found in string", "not a whole number"),
    ("cannot parse integer from empty string", "a whole number is missing"),
    ("number would be zero for non-zero type", "it must not be 0"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
    ("invalid string length", "the wrong number of digits"),
    ("stream did not contain valid UTF-8", "it is not text in UTF-8"),
    ("invalid utf-8 sequence", "text that is not UTF-8"),
    ("EOF while parsing a value", "it ends too early,"),
    ("EOF while parsing a string", "it ends within a text,"),
    ("EOF while parsing a list", "it ends within a list,"),
    ("EOF while parsing an object", "it ends within an object,"),
    ("invalid type: ", "found "),
    ("invalid value: ", "found "),
    ("unknown variant ", "unknown value "),
    ("invalid length ", "found a list of length "),
    ("missing field ", "missing key "),
    ("unknown field ", "unknown key "),
    ("duplicate field ", "duplicate key "),
    ("expected a sequence", "expected a list"),
    ("expected a map", "expected a table of keys"),
];

/// Types of the language: after `expected ` they become what a person writes.
const NUMBERS: &[&str] = &["usize", "u128", "u64", "u32", "u16", "u8"];
const SIGNED_NUMBERS: &[&str] = &["isize", "i128", "i64", "i32", "i16", "i8"];

/// The text without words of the programming language and without error numbers of the operating system.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut text = without_error_numbers(text);
    for (theirs, ours) in PHRASES {
        text = text.replace(theirs, ours);
    }
    for number in NUMBERS {
        text = text.replace(&format!("expected {number}"), "expected a whole number of at least 0");
    }
    for number in SIGNED_NUMBERS {
        text = text.replace(&format!("expected {number}"), "expected a whole number");
    }
    ranges(&structures(&text))
}

/// `Permission denied (os error 13)` is `Permission denied`.
fn without_error_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut all, part| {
        match part.split_once(')') {
            Some((number, rest)) if number.chars().all(|digit| digit.is_ascii_digit()) => all.push_str(rest),
            _ => {
                all.push_str(" (os error ");
                all.push_str(part);
            }
        }
        all
    })
}

/// `expected struct Books` is `expected a table of keys`.
fn structures(text: &str) -> String {
    let mut parts = text.split("expected struct ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let rest = part.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_');
        format!("{all}expected a table of keys{rest}")
    })
}

/// `0 is not in 1..=100` is `0 is not from 1 to 100`.
fn ranges(text: &str) -> String {
    let mut parts = text.split(" is not in ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let bounds = part.split_once("..=").filter(|(from, to)| {
            from.chars().all(|digit| digit.is_ascii_digit()) && to.starts_with(|digit: char| digit.is_ascii_digit())
        });
        match bounds {
            Some((from, to)) => format!("{all} is not from {from} to {to}"),
            None => format!("{all} is not in {part}"),
        }
    })
}

/// The report of a TOML parser in one line, without its excerpt of the file: that may be a line with a password.
#[must_use]
pub fn without_excerpt(report: &str) -> String {
    let is_excerpt = |line: &&str| {
        let number = line.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit());
        number.trim_start().starts_with('|')
    };
    let mut lines = report.lines().filter(|line| !is_excerpt(line)).map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default().to_owned();
    let rest: Vec<&str> = lines.collect();
    plain(&if rest.is_empty() { first } else { format!("{first}: {}", rest.join(", ")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(theirs: &str, ours: &str) {
        assert_eq!(plain(theirs), ours);
    }

    #[test]
    fn error_numbers_of_the_machine_are_left_out() {
        check("Permission denied (os error 13)", "Permission denied");
        check("a (os error 2), then b (os error 3): c", "a, then b: c");
        check("a key named (os error x)", "a key named (os error x)");
    }

    #[test]
    fn types_of_the_language_become_what_a_person_writes() {
        check(
            "invalid type: string \"x\", expected u64 at line 1 column 5",
            "found string \"x\", expected a whole number of at least 0 at line 1 column 5",
        );
        check("invalid type: integer `3`, expected struct Books", "found integer `3`, expected a table of keys");
        check("missing field `batch` at line 1", "missing key `batch` at line 1");
        check("0 is not in 1..=100000", "0 is not from 1 to 100000");
        check("this key is not in the file", "this key is not in the file");
        check("nothing of the kind", "nothing of the kind");
    }

    #[test]
    fn a_report_of_the_toml_parser_repeats_no_line_of_the_file() {
        let report = "TOML parse error at line 2, column 7\n  |\n2 | database = postgres://a:secret@b\n  |       ^\n\
                      invalid type: string \"x\", expected u64\n";
        let expected =
            "TOML parse error at line 2, column 7: found string \"x\", expected a whole number of at least 0";
        assert_eq!(without_excerpt(report), expected);
        assert_eq!(without_excerpt("no such thing"), "no such thing");
    }
}
