//! `bankroll bench ledger`: what the books do per second on this machine, beside what the database alone would do.
//!
//! Every figure is of durable transfers: a call counts when its answer is there, and the answer comes after the sync.
//! Beside each shape stand, measured in the same run: the raw rate (the same rows in the same batches, written to
//! SQLite by one thread that decides nothing) and the rate of one SQL transaction per transfer.

mod evaluator;
mod growth;
mod load;
pub mod poker;
mod raw;
mod report;
mod seats;

use std::{path::PathBuf, time::Duration};

use anyhow::Context;

use load::{Keys, Shape};
use report::{Report, Row};
use seats::Seats;

/// What to measure, and how to tell it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Shorter runs: under 45 seconds in all.
    pub quick: bool,
    /// JSON instead of a table.
    pub json: bool,
    /// Where to put the books; a temporary folder below it is removed afterwards.
    pub dir: Option<PathBuf>,
}

/// Accounts that transfers are spread over.
const ACCOUNTS: usize = 10_000;

/// Runs the benchmark and prints its report.
///
/// # Errors
/// If the books cannot be made, or are not sound afterwards.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let parent = options.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let folder = parent.join(format!("bankroll-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let measured = measure(options, &folder);
    let removed = std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()));
    let report = measured?;
    removed?;
    if options.json {
        report.print_json()
    } else {
        report.print_table()
    }
    Ok(())
}

fn measure(options: &Options, folder: &std::path::Path) -> anyhow::Result<Report> {
    let (cell, side) = if options.quick { (0.8, 1.0) } else { (5.0, 3.0) };
    let (cell, side) = (Duration::from_secs_f64(cell), Duration::from_secs_f64(side));
    let mut rows = Vec::new();
    for accounts in [ACCOUNTS, 1] {
        let single_tx_per_s = raw::one_transaction_each(&folder.join(format!("single-{accounts}")), accounts, side)?;
        let seats = Seats::open(&folder.join(format!("books-{accounts}")), ACCOUNTS, accounts == 1)?;
        seats.remember(load::HISTORY)?;
        for shape in Shape::ALL {
            let mut runs = Vec::new();
            for keys in Keys::ALL {
                let name = keys.name();
                say(&format!("{} callers x {}, {accounts} accounts, {name} keys", shape.callers, shape.per_call));
                runs.push((name, load::run(&seats, shape, keys, cell)?));
            }
            // The batches that came about, stored again without deciding anything.
            let raw = raw::same_rows(&folder.join("raw"), accounts, runs[0].1.mean_batch, side)?;
            rows.extend(runs.iter().map(|(keys, run)| {
                // A replay stores no rows, so there is nothing to set beside it.
                let raw = (*keys != Keys::Replay.name()).then_some(raw);
                Row::new(shape.name(), accounts, keys, run, raw, Some(single_tx_per_s))
            }));
        }
        let pace = load::paced(&seats, 1_000, if options.quick { cell * 2 } else { cell * 4 })?;
        rows.push(Row::new("1000/s".into(), accounts, "ordered", &pace, None, None));
        seats.close_and_audit()?;
    }
    let (growth, spread) = growth::run(&folder.join("growth"), options.quick, cell)?;
    rows.extend(spread.map(|run| Row::new(Shape::FULL.name(), growth.accounts, "random", &run, None, None)));
    Ok(Report { rows, growth })
}

fn say(what: &str) {
    eprintln!("bench: {what}");
}
