//! The audit inside commands: computes the books again from the journal, with a progress bar.

use std::{
    fmt,
    time::{Duration, Instant},
};

use bankroll_ledger::Account;
use bankroll_store::{
    Audit, AuditProgress, AuditReport, IndexReport, JournalHead, Location, Reader, SchemaReport, StoreError,
};
use bankroll_terminal::{per_second, thousands};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::flows;

/// A head from outside that the journal does not have.
#[derive(Debug, thiserror::Error)]
#[error(
    "the journal does not have this head: batch {batch} is not in it with this hash (it ends at batch {}). These books are \
     an older copy, other books, or were written anew",
    journal.batch
)]
pub struct HeadMissing {
    pub batch: u64,
    pub journal: JournalHead,
}

/// The report of an audit that found the books sound.
#[derive(Debug)]
pub struct AuditOutcome {
    pub report: AuditReport,
    /// Every account as the journal gives it, which is also how it is stored.
    pub accounts: Vec<Account>,
    /// Whether tables, indexes and triggers are what the migrations made.
    pub schema: SchemaReport,
    pub took: Duration,
}

impl AuditOutcome {
    pub fn rows_per_s(&self) -> u64 {
        per_second(self.report.rows, self.took)
    }
}

/// Computes the books again from the journal. The bar is on standard error, and only on a terminal.
pub fn run(location: &Location, quiet: bool) -> Result<AuditOutcome, StoreError> {
    let begun = Instant::now();
    let bar = bar("audit", quiet);
    let audited = Audit::new(Reader::open(location)?).run(|progress| show(&bar, progress));
    bar.finish_and_clear();
    let (report, accounts) = audited?;
    let schema = Reader::open(location)?.compare_schema(&flows::migrations())?;
    Ok(AuditOutcome { report, accounts, schema, took: begun.elapsed() })
}

/// Compares the derived indexes with the journal.
pub fn check_indexes(reader: &Reader, quiet: bool) -> Result<IndexReport, StoreError> {
    let bar = bar("indexes", quiet);
    let checked = reader.check_indexes(|progress| show(&bar, progress));
    bar.finish_and_clear();
    checked
}

fn show(bar: &ProgressBar, progress: AuditProgress) {
    bar.set_length(progress.rows_total.max(progress.rows));
    bar.set_position(progress.rows);
}

fn bar(what: &str, quiet: bool) -> ProgressBar {
    ProgressBar::with_draw_target(None, target(quiet)).with_style(style(what))
}

fn target(quiet: bool) -> ProgressDrawTarget {
    if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}

fn style(what: &str) -> ProgressStyle {
    let template =
        format!("  {what:<10} {{wide_bar:.green}} {{human_pos}} of {{human_len}} records, {{rate}}/s, {{eta}} left");
    ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("rate", rate)
}

/// The rate of a progress bar in whole numbers, for the key `rate` of its style.
pub fn rate(state: &ProgressState, text: &mut dyn fmt::Write) {
    // A progress bar that cannot be drawn is not an error.
    let _ = text.write_str(&thousands(state.per_sec() as u64));
}
