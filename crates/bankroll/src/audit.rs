//! `bankroll audit`, and the audit inside other commands: the books computed again from the journal, with a bar that says
//! how far it is.

use std::{
    fmt,
    time::{Duration, Instant},
};

use bankroll_ledger::Account;
use bankroll_store::{Audit, AuditReport, IndexReport, Location, Progress, Reader, StoreError};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use serde_json::{Value, json};

use crate::{
    decimal::Assets,
    exit::Exit,
    place::Place,
    terminal::{self, Paint, per_second, thousands},
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll audit --dir casino            beside a running writer, or of closed books
  bankroll audit --dir backup --full     a copy, and the indexes beside the books too
  bankroll audit --json

Every batch is hashed again and followed along the chain, every request decided
again, and at the end every account, hold, reversal and asset compared with its
table, and every deposit and payout with what the journal has set of it. The
first difference is named, with the record it is at: exit code 4.
With --full the key index and the statement index are compared with the journal
as well; what is wrong with those is no danger to money (exit code 1). That is
done as of one moment, so that the log of a busy writer grows meanwhile.")]
pub struct AuditArgs {
    #[command(flatten)]
    place: Place,
    /// Compare the derived indexes with the journal as well
    #[arg(long)]
    full: bool,
}

pub fn command(args: &AuditArgs, json: bool) -> anyhow::Result<Exit> {
    // Says where the demo's books are, if these are none.
    let reader = args.place.reader()?;
    let audited = run(&args.place.load()?.books(), json)?;
    let indexes = if args.full { Some(check_indexes(&reader, json)) } else { None };
    let assets = Assets::read(&reader)?;
    let report = &audited.report;
    if json {
        let totals: Vec<Value> = report
            .totals
            .iter()
            .map(|(asset, (debits, credits))| {
                json!({ "asset": asset, "debits": debits.to_string(), "credits": credits.to_string() })
            })
            .collect();
        let indexes = indexes.as_ref().map(|checked| match checked {
            Ok(report) => json!({ "ok": true, "keys": report.keys, "terms": report.terms, "covered": report.covered }),
            Err(error) => json!({ "ok": false, "found": error.to_string() }),
        });
        terminal::answer_json(&json!({
            "ok": true, "rows": report.rows, "batches": report.batches, "accounts": report.accounts,
            "flow_rows": report.flow_rows, "head": hex::encode(report.head), "totals": totals, "rows_per_s": audited.rows_per_s(), "indexes": indexes,
        }))?;
    } else {
        terminal::answer(&audited.told(&assets, indexes.as_ref()))?;
    }
    Ok(if matches!(indexes, Some(Err(_))) { Exit::Failed } else { Exit::Ok })
}

fn check_indexes(reader: &Reader, quiet: bool) -> Result<IndexReport, StoreError> {
    let bar = bar("indexes", quiet);
    let checked = reader.check_indexes(|progress| show(&bar, progress));
    bar.finish_and_clear();
    checked
}

/// What an audit of sound books found, and how long it took.
#[derive(Debug)]
pub struct Audited {
    pub report: AuditReport,
    /// Every account as the journal gives it, which is as it is stored.
    pub accounts: Vec<Account>,
    pub took: Duration,
}

impl Audited {
    pub fn rows_per_s(&self) -> u64 {
        per_second(self.report.rows, self.took)
    }

    fn told(&self, assets: &Assets, indexes: Option<&Result<IndexReport, StoreError>>) -> String {
        let (paint, report) = (Paint::stdout(), &self.report);
        let (rows, batches, accounts) = (thousands(report.rows), thousands(report.batches), thousands(report.accounts));
        let mut text = format!("{} books balance to the wei\n", paint.good("\u{2713}"));
        text += &format!("  {rows} records in {batches} batches decided again, {accounts} accounts compared\n");
        if report.flow_rows > 0 {
            text += &format!(
                "  {} rows of deposits and payouts are as the journal has left them\n",
                thousands(report.flow_rows)
            );
        }
        text += &format!("  {} records/s, {:.1} s\n", thousands(self.rows_per_s()), self.took.as_secs_f32());
        for (asset, (debits, _)) in &report.totals {
            let total = debits.amount().map_or_else(|| debits.to_string(), |sum| assets.with_symbol(*asset, sum));
            text += &format!("  asset {asset}: {total} on either side\n");
        }
        text += &format!("  head {}\n", hex::encode(report.head));
        match indexes {
            None => {}
            Some(Ok(found)) => {
                let (keys, terms) = (thousands(found.keys), thousands(found.terms));
                text += &format!(
                    "{} the indexes say what the journal says: {keys} keys, {terms} terms\n",
                    paint.good("\u{2713}")
                );
            }
            Some(Err(error)) => {
                text += &format!(
                    "{} {error}\n  {} open the books for writing: it is made again\n",
                    paint.bad("\u{2717}"),
                    paint.strong("fix:")
                );
            }
        }
        text
    }
}

/// Computes the books again from the journal. The bar is on standard error, and only on a terminal.
pub fn run(location: &Location, quiet: bool) -> Result<Audited, StoreError> {
    let begun = Instant::now();
    let bar = bar("audit", quiet);
    let audited = Audit::new(Reader::open(location)?).run(|progress| show(&bar, progress));
    bar.finish_and_clear();
    let (report, accounts) = audited?;
    Ok(Audited { report, accounts, took: begun.elapsed() })
}

fn show(bar: &ProgressBar, progress: Progress) {
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
    // A rate for people has no digits behind the point.
    let rate = |state: &ProgressState, text: &mut dyn fmt::Write| {
        // A line that cannot be drawn is not worth an error.
        let _ = text.write_str(&thousands(state.per_sec() as u64));
    };
    ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("rate", rate)
}
