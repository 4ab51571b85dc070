//! The check of the last complete re-reading of the books, which `bankroll serve` does in the background.

use std::path::Path;

use bankroll_ledger::{Seq, Time};
use bankroll_roles::ScrubRecord;
use bankroll_store::{Reader, StoreError};
use bankroll_terminal::{counted, when};

use super::Check;

const NAME: &str = "scrub";
const DAY: u64 = 86_400;
/// The oldest pass that is good enough. Younger books need none.
const DAYS_MAX: u64 = 7;
const FIX: &str =
    "run `bankroll serve` with books.scrub_percent above 0 (5 is the default), or `bankroll audit --full`";

/// `in_database`: another node may hold the books and re-read them, so this one's last pass proves nothing.
pub fn check(file: &Path, reader: &Reader, in_database: bool, now: Time) -> Check {
    let last = match ScrubRecord::read(file) {
        Ok(last) => last,
        Err(error) => {
            let found = format!("{} cannot be read: {error}", file.display());
            return Check::red(NAME, found, "remove the file: the next pass writes it again");
        }
    };
    if let Some(what) = last.as_ref().and_then(|last| last.unsound.as_ref()) {
        let fix = "stop the writer and run `bankroll rebuild`; if it refuses, go on with your newest sound copy (`bankroll \
                   doctor --help` says how to make copies)";
        return Check::unsound(NAME, format!("the last pass found: {what}"), fix);
    }
    let (found, age) = match &last {
        Some(last) => (describe(last, now), Some(last.age_seconds(now))),
        None if in_database => {
            ("no complete pass by this node; the node that holds the books re-reads them".into(), None)
        }
        None => ("the books were never re-read completely".into(), None),
    };
    let is_recent = age.is_some_and(|age| age <= DAYS_MAX * DAY);
    match is_young(reader, now) {
        _ if is_recent || in_database => Check::green(NAME, found),
        Ok(true) => Check::green(NAME, format!("{found}; they are younger than {DAYS_MAX} days")),
        Ok(false) => Check::red(NAME, found, FIX),
        Err(error) => Check::red(NAME, format!("{:#}", anyhow::Error::from(error)), FIX),
    }
}

fn describe(last: &ScrubRecord, now: Time) -> String {
    let age = match last.age_seconds(now) {
        seconds if seconds < 3_600 => counted(seconds / 60, "minute", "minutes"),
        seconds if seconds < 2 * DAY => counted(seconds / 3_600, "hour", "hours"),
        seconds => counted(seconds / DAY, "day", "days"),
    };
    let (records, ended) = (counted(last.records, "record", "records"), when::show(Time(last.ended)));
    let repaired = match last.repaired.len() {
        0 => String::new(),
        count => format!("; it repaired {}", counted(count as u64, "index", "indexes")),
    };
    format!("the last complete pass ended {age} ago, at {ended}: {records}{repaired}")
}

/// Whether the first record is younger than the oldest pass may be.
fn is_young(reader: &Reader, now: Time) -> Result<bool, StoreError> {
    let first = reader.journal_after(Seq(0), 1)?;
    Ok(first.first().is_none_or(|first| now.0.saturating_sub(first.at.0) / 1_000_000 <= DAYS_MAX * DAY))
}
