//! The interview of a damaged copy, compared with the one of an undamaged copy.

use std::{
    fmt,
    path::Path,
    process::{Command, Stdio},
};

use bankroll_store::{BOOKS_FILE, DatabaseUrl};
use bankroll_testkit::{
    damage::{CHECKED, FAILED, FOUND, SOUND},
    postgres::pairs,
};
use rusqlite::{Connection, types::ValueRef};

/// What became of a damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    RefusedAtOpen,
    RefusedInUse,
    FoundByAudit,
    Repaired,
    Harmless,
    NotOurs,
    /// Refused or found, and the rebuild that the message names repairs it.
    Rebuilt,
    /// There is no such file, or the table refused the edit.
    NotApplicable,
    Believed,
    /// The rebuild that the message names does not help.
    BadAdvice,
    Hang,
    Panic,
}

impl Outcome {
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Believed | Self::BadAdvice | Self::Hang | Self::Panic)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RefusedAtOpen => "refused at open",
            Self::RefusedInUse => "refused in use",
            Self::FoundByAudit => "found by the audit",
            Self::Repaired => "repaired",
            Self::Harmless => "harmless",
            Self::NotOurs => "not ours",
            Self::NotApplicable => "not applicable",
            Self::Rebuilt => "rebuilt as advised",
            Self::Believed => "BELIEVED",
            Self::BadAdvice => "BAD ADVICE",
            Self::Hang => "HANG",
            Self::Panic => "PANIC",
        })
    }
}

pub struct Examination {
    pub outcome: Outcome,
    /// The error, or the answer that differs.
    pub why: String,
}

impl Examination {
    pub fn of(outcome: Outcome, why: &str) -> Self {
        Self { outcome, why: why.to_owned() }
    }
}

impl Examination {
    /// Whether the message tells the operator to rebuild.
    pub fn advises_rebuild(&self) -> bool {
        !self.outcome.is_failure() && self.why.contains("bankroll rebuild")
    }

    /// Follows the advice with a second copy that has the same damage, and interviews that with `again`.
    pub fn follow_advice(self, location: &str, again: impl FnOnce() -> Self) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_examiner"));
        let output = command.args(["rebuild", location]).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        // A second place is damaged that does not follow from the journal: the rebuild says so and changes nothing.
        if output.status.success() && said.contains("nothing was changed; restore a backup") {
            return self;
        }
        if !output.status.success() || said != SOUND {
            let why = format!(
                "{}: {said} {} (advised by: {})",
                output.status,
                String::from_utf8_lossy(&output.stderr),
                self.why
            );
            return Self { outcome: Outcome::BadAdvice, why };
        }
        let after = again();
        match after.outcome {
            Outcome::Harmless => Self { outcome: Outcome::Rebuilt, why: self.why },
            other => Self {
                outcome: Outcome::BadAdvice,
                why: format!("rebuilt, and then {other}: {} (advised by: {})", after.why, self.why),
            },
        }
    }
}

/// The tables whose every row follows from the journal, and the journal. The indexes may differ: threads of their own
/// make them.
const OURS: &[&str] =
    &["journal", "batches", "assets", "accounts", "balances", "holds", "reversals", "outbox", "deposits"];

/// The lines of an interview, and the rows after it.
pub struct Truth {
    lines: Vec<String>,
    rows: Vec<String>,
}

impl Truth {
    /// Interviews an undamaged copy.
    pub fn of(location: &str, undamaged: &str, seed: u64) -> Self {
        let (lines, has_ended) = ask(location, undamaged, seed);
        let last = lines.last().cloned().unwrap_or_default();
        assert!(has_ended && last == format!("{FOUND} {SOUND}"), "of undamaged books: {last}");
        assert_eq!(lines[0], format!("{CHECKED} {SOUND}"), "of undamaged books");
        Self { lines, rows: rows(location) }
    }
}

/// The lines of an interview, and whether it came to its end.
fn ask(location: &str, undamaged: &str, seed: u64) -> (Vec<String>, bool) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_examiner"));
    let output = command.args(["ask", location, undamaged, &seed.to_string()]).stdin(Stdio::null()).output().unwrap();
    let mut lines: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    if !output.status.success() {
        lines.push(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).replace('\n', " ")));
    }
    (lines, output.status.success())
}

/// Interviews a damaged copy.
pub fn examine(location: &str, undamaged: &str, seed: u64, truth: &Truth) -> Examination {
    let (lines, has_ended) = ask(location, undamaged, seed);
    if !has_ended {
        let panic = lines.iter().find(|line| line.starts_with("panic "));
        let outcome = if panic.is_some() { Outcome::Panic } else { Outcome::Hang };
        // The last lines: which question it was, and which limit ended it.
        let last = lines[lines.len().saturating_sub(2)..].join(" / ");
        return Examination::of(outcome, panic.unwrap_or(&last));
    }
    let before = lines.first().map_or("", String::as_str);
    let differing = lines.iter().zip(&truth.lines).skip(1).find(|(line, expected)| line != expected);
    match differing {
        Some((line, _)) if line.starts_with(FAILED) => {
            let at_open = line.starts_with(&format!("{FAILED} open"));
            Examination::of(if at_open { Outcome::RefusedAtOpen } else { Outcome::RefusedInUse }, line)
        }
        Some((line, _)) if line.starts_with(FOUND) => Examination::of(Outcome::FoundByAudit, line),
        Some((line, expected)) => {
            let why = format!("{} (the check before: {before})", difference(line, expected));
            Examination::of(Outcome::Believed, &why)
        }
        None if lines.len() != truth.lines.len() => Examination::of(Outcome::Hang, "the interview ended early"),
        None => {
            let rows = rows(location);
            let differing = rows.iter().zip(&truth.rows).find(|(rows, expected)| rows != expected);
            match differing {
                Some((rows, _)) => Examination::of(Outcome::Believed, &format!("the audit calls it sound: {rows}")),
                None if lines[0] == truth.lines[0] => Examination::of(Outcome::Harmless, ""),
                None => Examination::of(Outcome::Repaired, before),
            }
        }
    }
}

/// Where two answers to one question begin to differ.
fn difference(line: &str, expected: &str) -> String {
    let same = line.chars().zip(expected.chars()).take_while(|(one, other)| one == other).count();
    let from = |text: &str| text.chars().skip(same.saturating_sub(20)).take(90).collect::<String>();
    let question: String = expected.split(": ").next().unwrap_or_default().chars().take(80).collect();
    format!("{question}: `...{}`, expected `...{}`", from(line), from(expected))
}

/// Each of our tables with its rows, in order, as a hash.
fn rows(location: &str) -> Vec<String> {
    if location.starts_with("postgres://") {
        let hash = |table: &&str| {
            let schema = if *table == "deposits" { "public" } else { "books" };
            let sql = format!(
                "SELECT '{table}', count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '')
                 FROM {schema}.{table} t"
            );
            format!("{:?}", pairs(&DatabaseUrl::new(location), &sql))
        };
        return OURS.iter().map(hash).collect();
    }
    let books = Connection::open(Path::new(location).join(BOOKS_FILE)).unwrap();
    OURS.iter().map(|table| format!("{table}: {:?}", hash_of(&books, table))).collect()
}

fn hash_of(books: &Connection, table: &str) -> rusqlite::Result<(u64, u64)> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut select = books.prepare(&format!("SELECT * FROM {table}"))?;
    let columns = select.column_count();
    let mut rows = select.query([])?;
    let (mut count, mut hasher) = (0, DefaultHasher::new());
    while let Some(row) = rows.next()? {
        count += 1;
        for place in 0..columns {
            match row.get_ref(place)? {
                ValueRef::Null => 0_u8.hash(&mut hasher),
                ValueRef::Integer(number) => number.hash(&mut hasher),
                ValueRef::Real(number) => number.to_bits().hash(&mut hasher),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.hash(&mut hasher),
            }
        }
    }
    Ok((count, hasher.finish()))
}
