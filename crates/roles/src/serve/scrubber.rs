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
//! The first pass begins when the last one, by its file, is old enough.

use std::{
    path::PathBuf,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use bankroll_ledger::Time;
use bankroll_store::{Clock, Ledger, Scrub, ScrubReport, ScrubStep};
use bankroll_terminal::{counted, thousands};

use crate::{
    flows::StopFlag,
    log::{NodeLog, on_one_line},
    scrub_file::ScrubRecord,
};

/// The pause after the books could not be read.
const RETRY: Duration = Duration::from_secs(60);

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
            Ok(Some(last)) if last.unsound.is_none() => {
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
                self.log.write("unsound", &format!("the scrub found: {what}"), &[("what", what.clone().into())]);
                self.record(&ScrubReport::default(), Some(what));
                self.ledger.stop_because(error);
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

    /// Writes the file. A node that cannot write it goes on: `doctor` then shows an older pass.
    fn record(&mut self, report: &ScrubReport, unsound: Option<String>) {
        let now = self.clock.now();
        let record = ScrubRecord {
            began: self.began.take().unwrap_or(now).0,
            ended: now.0,
            records: report.records,
            rows: report.rows,
            entries: report.entries,
            last: report.last.0,
            head: report.head.iter().map(|byte| format!("{byte:02x}")).collect(),
            repaired: std::mem::take(&mut self.repaired),
            unconfirmed: report.unconfirmed.clone(),
            unsound,
        };
        if let Err(error) = record.write(&self.settings.file) {
            let sentence = format!("cannot write {}: {error}", self.settings.file.display());
            self.log.write("scrub_failed", &sentence, &[]);
        }
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
