//! Conditions of the scrub: what it found before these books were opened, what it repaired, and when it last ran.

use std::path::PathBuf;

use bankroll_alerts::{
    AlertCondition,
    AlertKind::{self, BooksUnsound, IndexDamaged, ScrubOverdue},
    AlertObservation,
};
use bankroll_ledger::{Seq, Time};
use bankroll_nodes::NodeName;
use bankroll_store::{Reader, StoreError};
use bankroll_terminal::when;
use serde_json::json;

use super::ConditionSource;
use crate::{ScrubFinding, ScrubRecord};

/// The oldest pass that is good enough: as `doctor` says.
const OVERDUE: u64 = 7 * 86_400 * 1_000_000;

pub(super) fn scrub(node: NodeName, file: PathBuf, in_folder: bool, held_since: Time) -> ConditionSource {
    Box::new(move |reader, now| {
        let last = ScrubRecord::read(&file)?;
        let finding = if in_folder {
            last.as_ref().and_then(|last| last.last_finding.as_ref()).map(|found| found_at(BooksUnsound, &node, found))
        } else {
            // Any node may have found it: the database has it.
            reader.last_finding()?.map(|(epoch, what)| {
                let summary = format!("the holder of epoch {epoch} found that the books were not sound: {what}");
                AlertCondition::new(BooksUnsound, &format!("epoch {epoch}"), &summary)
            })
        };
        let repair = last.as_ref().and_then(|last| last.last_repair.as_ref());
        let repair = repair.map(|found| found_at(IndexDamaged, &node, found));
        // In a database another node may have read them: the pass of this one begins when it acquires them.
        let held_since = if in_folder { Time(0) } else { held_since };
        let overdue = overdue(&node, last.as_ref(), first_record(reader)?, held_since, now);
        Ok(vec![
            AlertObservation::all(BooksUnsound, finding.into_iter().collect()),
            AlertObservation::all(IndexDamaged, repair.into_iter().collect()),
            AlertObservation::of_subject(ScrubOverdue, &node.to_string(), overdue),
        ])
    })
}

/// Something that was found once: the time is in the subject, so that the next one is another alert.
fn found_at(kind: AlertKind, node: &NodeName, found: &ScrubFinding) -> AlertCondition {
    let at = when::seconds(Time(found.at));
    let summary = match kind {
        BooksUnsound => format!("{node} found at {at} that the books were not sound: {}", found.what),
        _ => format!("{node} found at {at}: {}", found.what),
    };
    AlertCondition::new(kind, &format!("{node} {}", when::show(Time(found.at))), &summary)
        .with(&json!({ "found": found.what }))
}

fn overdue(
    node: &NodeName,
    last: Option<&ScrubRecord>,
    first: Option<Time>,
    held_since: Time,
    now: Time,
) -> Option<AlertCondition> {
    // Books without records need no pass.
    let since = last.map_or(0, |last| last.ended).max(first?.0).max(held_since.0);
    let days = now.0.saturating_sub(since) / (OVERDUE / 7);
    let is_overdue = now.0.saturating_sub(since) > OVERDUE;
    let summary = format!("{node} did not re-read the books completely for {days} days");
    is_overdue.then(|| AlertCondition::new(ScrubOverdue, &node.to_string(), &summary))
}

fn first_record(reader: &Reader) -> Result<Option<Time>, StoreError> {
    Ok(reader.journal_after(Seq(0), 1)?.first().map(|first| first.at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 86_400 * 1_000_000;

    #[test]
    fn a_pass_is_overdue_after_a_week_and_young_books_need_none() {
        let node: NodeName = "node-1".parse().expect("a name");
        let check = |ended: Option<u64>, first: Option<u64>, held: u64, day: u64| {
            let last = ended.map(|ended| ScrubRecord { ended: ended * DAY, ..ScrubRecord::default() });
            let found =
                overdue(&node, last.as_ref(), first.map(|day| Time(day * DAY)), Time(held * DAY), Time(day * DAY));
            found.map(|found| found.summary)
        };
        assert_eq!(check(None, None, 0, 100), None);
        assert_eq!(check(None, Some(95), 0, 100), None);
        let eight = "node-1 did not re-read the books completely for 8 days";
        assert_eq!(check(None, Some(92), 0, 100).as_deref(), Some(eight));
        assert_eq!(check(Some(92), Some(1), 0, 100).as_deref(), Some(eight));
        assert_eq!(check(Some(94), Some(1), 0, 100), None);
        assert_eq!(check(Some(50), Some(1), 99, 100), None, "it acquired the database yesterday");
    }

    #[test]
    fn a_finding_outlives_later_passes_and_the_next_one_replaces_it() {
        let record = |ended, unsound: Option<&str>, repaired: &[&str]| ScrubRecord {
            ended,
            unsound: unsound.map(str::to_owned),
            repaired: repaired.iter().map(|what| (*what).to_owned()).collect(),
            ..ScrubRecord::default()
        };
        let finding = |at, what: &str| Some(ScrubFinding { at, what: what.to_owned() });
        let first = record(5, Some("a balance"), &[]).after(None);
        let sound = record(6, None, &["an index"]).after(Some(&first));
        assert_eq!((&sound.unsound, &sound.last_finding), (&None, &finding(5, "a balance")));
        let later = record(7, None, &[]).after(Some(&sound));
        assert_eq!((&later.last_finding, &later.last_repair), (&finding(5, "a balance"), &finding(6, "an index")));
        let second = record(8, Some("a hold"), &[]).after(Some(&later));
        assert_eq!(second.last_finding, finding(8, "a hold"));
    }
}
