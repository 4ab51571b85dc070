//! The thread that re-reads the books while this node holds them, slowly: after a piece of work it pauses, so that it
//! works a small share of the time.
//!
//! | what a pass finds | what happens |
//! | --- | --- |
//! | journal, balances, holds, reversals, assets, events or facts that do not agree, twice | the writer stops with that error, and the node ends with exit code 4 |
//! | a damaged key index | the writer rebuilds it |
//! | a damaged statement index | its thread rebuilds it |
//! | something that a second pass does not find | it is logged |
//!
//! The first pass begins when the last one, by its file, is old enough; in a database at once, since the holder before
//! may have stopped because of what it found. After a finding, a node of the same folder opens the books again only if
//! a complete pass finds them sound: an operator has restored them, or rebuilt what is derived. In a database the writer
//! notes the finding as it stops, and no node acquires the ledger before `bankroll rebuild` has verified it.

use std::{
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use bankroll_ledger::Time;
use bankroll_store::{Clock, Ledger, Location, Scrub, ScrubReport, ScrubStep, StoreError};
use bankroll_terminal::{counted, thousands};

use crate::{
    flows::StopFlag,
    log::{NodeLog, on_one_line},
    scrub_file::ScrubRecord,
};

/// The pause after the books could not be read.
const RETRY: Duration = Duration::from_secs(60);
/// The same, while nothing else happens.
const RETRY_SOON: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub struct ScrubSettings {
    /// The share of the time in which it works; 0 is never.
    pub percent: u32,
    /// Between two passes.
    pub pause: Duration,
    /// Where the last pass is recorded.
    pub file: PathBuf,
}

/// Runs with a ledger that this node holds.
#[derive(Debug)]
pub struct Scrubber {
    stop: StopFlag,
    thread: Option<JoinHandle<()>>,
}

impl Scrubber {
    /// Starts the thread, unless the settings say never.
    pub fn start(settings: &ScrubSettings, ledger: &Ledger, log: &NodeLog) -> Self {
        let stop = StopFlag::default();
        let run = ScrubLoop {
            scrub: Scrub::new(ledger.location()),
            settings: settings.clone(),
            ledger: ledger.clone(),
            log: log.clone(),
            stop: stop.clone(),
            clock: Clock::machine(),
            began: None,
            repaired: Vec::new(),
        };
        let thread = (settings.percent > 0).then(|| thread::spawn(move || run.run()));
        Self { stop, thread }
    }

    /// Ends it after the present piece.
    pub fn stop(self) {
        self.stop.request();
        // A thread that panicked has printed its message.
        self.thread.into_iter().for_each(|thread| drop(thread.join()));
    }
}

struct ScrubLoop {
    scrub: Scrub,
    settings: ScrubSettings,
    ledger: Ledger,
    log: NodeLog,
    stop: StopFlag,
    clock: Clock,
    /// When the present pass began.
    began: Option<Time>,
    repaired: Vec<String>,
}

impl ScrubLoop {
    fn run(mut self) {
        let mut rest = self.until_due();
        loop {
            self.stop.rest(rest);
            if self.stop.is_requested() || self.ledger.stopped_by().is_some() {
                return;
            }
            rest = self.piece();
        }
    }

    /// How long the last pass, if there was one, keeps the next from being due.
    fn until_due(&self) -> Duration {
        match ScrubRecord::read(&self.settings.file) {
            Ok(Some(last)) if matches!(self.ledger.location(), Location::Folder(_)) => {
                let age = Duration::from_secs(last.age_seconds(self.clock.now()));
                self.settings.pause.saturating_sub(age)
            }
            _ => Duration::ZERO,
        }
    }

    /// Does one piece of work; returns the pause after it.
    fn piece(&mut self) -> Duration {
        let begun = Instant::now();
        self.began.get_or_insert_with(|| self.clock.now());
        let worked = self.scrub.piece();
        let took = begun.elapsed();
        match worked {
            Ok(ScrubStep::More) if self.scrub.is_confirming() => Duration::ZERO,
            Ok(ScrubStep::More) => pause_after(took, self.settings.percent),
            Ok(ScrubStep::KeyIndexDamaged { what }) => {
                self.repair(&format!("the key index was damaged, and is rebuilt: {what}"));
                if let Err(error) = self.ledger.rebuild_key_index() {
                    self.log.write("scrub_failed", &format!("cannot rebuild the key index: {error}"), &[]);
                }
                pause_after(took, self.settings.percent)
            }
            Ok(ScrubStep::StatementIndexDamaged { what }) => {
                self.repair(&format!("the statement index was damaged, and is rebuilt: {what}"));
                self.ledger.rebuild_statement_index();
                pause_after(took, self.settings.percent)
            }
            Ok(ScrubStep::Unsound(error)) => {
                let what = on_one_line(&error);
                // First: nothing more is decided.
                self.ledger.stop_because(error);
                log_unsound(&self.log, &what);
                self.record(&ScrubReport::default(), Some(what));
                Duration::ZERO
            }
            Ok(ScrubStep::Complete(report)) => {
                self.complete(&report);
                self.settings.pause
            }
            Err(error) => {
                self.began = None;
                let why = on_one_line(&error);
                self.log.write(
                    "scrub_failed",
                    &format!("the scrub could not read the books, and begins again: {why}"),
                    &[],
                );
                RETRY
            }
        }
    }

    fn repair(&mut self, sentence: &str) {
        self.log.write("repaired", sentence, &[]);
        self.repaired.push(sentence.to_owned());
    }

    fn complete(&mut self, report: &ScrubReport) {
        let seconds = self.began.map_or(0, |began| self.clock.now().0.saturating_sub(began.0) / 1_000_000);
        let (records, rows) = (counted(report.records, "record", "records"), counted(report.rows, "row", "rows"));
        let sentence = format!(
            "re-read all books in {}: {records}, {rows}, {} index entries; sound",
            counted(seconds, "second", "seconds"),
            thousands(report.entries)
        );
        self.log.write("scrubbed", &sentence, &[("records", report.records.into()), ("seconds", seconds.into())]);
        if let Some(what) = &report.unconfirmed {
            let sentence = format!("the pass before had found this, and a second one did not: {what}");
            self.log.write("unconfirmed", &sentence, &[]);
        }
        self.record(report, None);
    }

    fn record(&mut self, report: &ScrubReport, unsound: Option<String>) {
        let now = self.clock.now();
        let of_report = record_of(report, self.began.take().unwrap_or(now), now);
        let record = ScrubRecord { repaired: std::mem::take(&mut self.repaired), unsound, ..of_report };
        write_record(&record, &self.settings.file, &self.log);
    }
}

/// Before the books are opened: if the last pass found them unsound, or its file cannot be read, reads all of them again, without pauses. An error
/// of another kind is left to the opening.
///
/// # Errors
/// What the pass finds.
pub fn verify_after_finding(
    settings: &ScrubSettings,
    location: &Location,
    log: &NodeLog,
    stop: &StopFlag,
) -> Result<(), StoreError> {
    let found = match ScrubRecord::read(&settings.file) {
        Ok(last) => last.and_then(|last| last.unsound),
        // What the last pass found is not known, so it may have been a finding.
        Err(error) => Some(format!("what {} does not say: it cannot be read: {error}", settings.file.display())),
    };
    let Some(found) = found else { return Ok(()) };
    log.write(
        "verifying",
        &format!("re-reads all books before it opens them, since the last pass found: {found}"),
        &[],
    );
    let (clock, mut scrub) = (Clock::machine(), Scrub::new(location));
    let began = clock.now();
    while !stop.is_requested() {
        match scrub.piece() {
            // Opening, or the next pass, repairs an index.
            Ok(ScrubStep::More | ScrubStep::KeyIndexDamaged { .. } | ScrubStep::StatementIndexDamaged { .. }) => {}
            Ok(ScrubStep::Unsound(error)) => {
                log_unsound(log, &on_one_line(&error));
                return Err(error);
            }
            Ok(ScrubStep::Complete(report)) => {
                write_record(&record_of(&report, began, clock.now()), &settings.file, log);
                return Ok(());
            }
            Err(error) if error.is_transient() => stop.rest(RETRY_SOON),
            // There is nothing to verify, or another process has the books: opening says so.
            Err(StoreError::NoLedger { .. } | StoreError::NoBooks | StoreError::InUse { .. }) => return Ok(()),
            // A disk that cannot be read does not take the finding back.
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn log_unsound(log: &NodeLog, what: &str) {
    log.write("unsound", &format!("the scrub found: {what}"), &[("what", what.into())]);
}

/// A node that cannot write the file goes on: `doctor` then shows an older pass.
fn write_record(record: &ScrubRecord, file: &Path, log: &NodeLog) {
    // A file that cannot be read has no finding to keep; the record before it said what was wrong with it.
    let before = ScrubRecord::read(file).ok().flatten();
    if let Err(error) = record.clone().after(before.as_ref()).write(file) {
        log.write("scrub_failed", &format!("cannot write {}: {error}", file.display()), &[]);
    }
}

fn record_of(report: &ScrubReport, began: Time, ended: Time) -> ScrubRecord {
    ScrubRecord {
        began: began.0,
        ended: ended.0,
        records: report.records,
        rows: report.rows,
        entries: report.entries,
        last: report.last.0,
        head: report.head.iter().map(|byte| format!("{byte:02x}")).collect(),
        repaired: Vec::new(),
        unconfirmed: report.unconfirmed.clone(),
        unsound: None,
        last_finding: None,
        last_repair: None,
    }
}

/// The pause that makes a piece of this length the given share of the time.
fn pause_after(took: Duration, percent: u32) -> Duration {
    let percent = percent.clamp(1, 100);
    took.saturating_mul(100 - percent) / percent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_makes_a_piece_its_share_of_the_time() {
        let took = Duration::from_millis(4);
        assert_eq!(pause_after(took, 5), Duration::from_millis(76));
        assert_eq!(pause_after(took, 50), took);
        assert_eq!(pause_after(took, 100), Duration::ZERO);
    }
}
