//! `bankroll bench`: the cost of the books, of reading them, of HTTP, deposits and hands of poker on this machine.
//!
//! `bench ledger` compares the books with the database alone. Every figure is of durable transfers: a call counts when
//! its answer is there, and the answer comes after the sync. Each shape is compared, in the same run, with the raw rate
//! (the same rows in the same batches, written by one thread that decides nothing) and with one SQL transaction per
//! transfer. `bench http` compares the Funds API with its own no-op and with the books alone, `bench events` the books
//! with and without slow consumers of events, `bench deposits` the indexer with fetching and decoding alone.
//!
//! It guarantees: measured books are audited before they are removed, and it removes only the folder and the databases
//! that it created. It does not know: configuration, real chains, nodes of the product.

mod args;
mod deposits;
mod evaluator;
mod events;
mod growth;
mod http;
mod load;
mod poker;
mod postgres;
mod raw;
mod reading;
mod report;
mod seats;

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use bankroll_store::Location;
use bankroll_terminal::counted;

pub use args::{BenchCommand, EXAMPLES, run};
use growth::GrowthLength;
use load::{Keys, Shape};
use report::{LedgerReport, LedgerRow};
use seats::Seats;

#[derive(Clone, Debug)]
struct BenchOptions {
    /// Shorter runs: under 45 seconds in all.
    pub quick: bool,
    /// Only growth; on the server, if one is named.
    pub growth_only: bool,
    /// A Postgres server to measure on as well: `postgres://user@host:port`.
    pub postgres: Option<String>,
    /// JSON instead of a table.
    pub json: bool,
    /// Where to put the books; a temporary folder below it is removed afterwards.
    pub dir: Option<PathBuf>,
}

/// Accounts that transfers are spread over.
const ACCOUNTS: usize = 10_000;

/// Runs the benchmark of the ledger and prints its report.
fn run_ledger(options: &BenchOptions) -> anyhow::Result<()> {
    let report = in_folder(options, |folder| measure(options, folder))?;
    if options.json {
        report.print_json();
        return Ok(());
    }
    report.print_table()
}

/// Runs the benchmark of reading and prints its report.
fn run_reading(options: &BenchOptions, entries: Option<u64>) -> anyhow::Result<()> {
    let entries = entries.unwrap_or(if options.quick { 300_000 } else { 10_000_000 });
    in_folder(options, |folder| reading::measure(folder, entries))?.print(options.json)
}

/// Runs the benchmark of the Funds API and prints its report.
fn run_http(options: &BenchOptions) -> anyhow::Result<()> {
    in_folder(options, |folder| http::measure(folder, options.quick))?.print(options.json)
}

/// Runs the benchmark of slow consumers of events and prints its report.
fn run_events(options: &BenchOptions) -> anyhow::Result<()> {
    in_folder(options, |folder| events::measure(folder, options.quick))?.print(options.json)
}

/// Runs the benchmark of deposits and prints its report.
fn run_deposits(bench: &deposits::DepositsBench, options: &BenchOptions) -> anyhow::Result<()> {
    in_folder(options, |folder| deposits::measure(folder, bench))?.print(options.json)
}

/// Measures in a temporary folder, and removes it.
fn in_folder<T>(
    options: &BenchOptions,
    measure: impl FnOnce(&std::path::Path) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let parent = options.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let folder = parent.join(format!("bankroll-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let measured = measure(&folder);
    let removed = std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()));
    let report = measured?;
    removed?;
    Ok(report)
}

fn measure(options: &BenchOptions, folder: &std::path::Path) -> anyhow::Result<LedgerReport> {
    let (cell, side) = if options.quick { (0.5, 0.4) } else { (5.0, 3.0) };
    let (cell, side) = (Duration::from_secs_f64(cell), Duration::from_secs_f64(side));
    let server = options.postgres.as_deref().map(postgres::PostgresServer::at).transpose()?;
    let targets: Vec<BenchTarget> =
        [BenchTarget::Folder(folder.to_owned())].into_iter().chain(server.map(BenchTarget::Server)).collect();
    let mut rows = Vec::new();
    for target in targets.iter().filter(|_| !options.growth_only) {
        rows.extend(measure_on(target, cell, side)?);
    }
    let grown = match targets.len() {
        last if options.growth_only => last - 1..last,
        _ if options.quick => 0..1,
        all => 0..all,
    };
    let mut growths = Vec::new();
    for target in &targets[grown] {
        let length = if options.quick { GrowthLength::QUICK } else { GrowthLength::LONG };
        let (growth, spread) = growth::run(target, length, cell)?;
        let row =
            |run| LedgerRow::new(target.engine(), Shape::FULL.name(), growth.accounts, "random", &run, None, None);
        rows.extend(spread.map(row));
        growths.push(growth);
    }
    Ok(LedgerReport { rows, growth: growths })
}

/// Where the books are.
enum BenchTarget {
    Folder(PathBuf),
    Server(postgres::PostgresServer),
}

impl BenchTarget {
    const fn engine(&self) -> &'static str {
        match self {
            Self::Folder(_) => "sqlite",
            Self::Server(_) => "postgres",
        }
    }

    fn shapes(&self) -> Vec<Shape> {
        let crowd = matches!(self, Self::Server(_)).then_some(Shape::CROWD);
        Shape::ALL.into_iter().chain(crowd).collect()
    }

    fn books(&self, accounts: usize) -> anyhow::Result<Location> {
        match self {
            Self::Folder(folder) => Ok(folder.join(format!("books-{accounts}")).into()),
            Self::Server(server) => server.new_database(),
        }
    }

    fn same_rows(&self, accounts: usize, batch: usize, time: Duration) -> anyhow::Result<f64> {
        match self {
            Self::Folder(folder) => raw::same_rows(&folder.join("raw"), accounts, batch, time),
            Self::Server(server) => server.same_rows(accounts, batch, time),
        }
    }

    fn one_transaction_each(&self, accounts: usize, time: Duration) -> anyhow::Result<f64> {
        match self {
            Self::Folder(folder) => {
                raw::one_transaction_each(&folder.join(format!("single-{accounts}")), accounts, time)
            }
            Self::Server(server) => server.one_transaction_each(accounts, time),
        }
    }

    fn bytes(&self, location: &Location) -> anyhow::Result<u64> {
        match (self, location) {
            (Self::Server(server), Location::Postgres(url)) => server.database_bytes(url),
            (_, Location::Folder(folder)) => {
                let sizes = std::fs::read_dir(folder)?.map(|file| Ok(file?.metadata()?.len()));
                Ok(sizes.sum::<std::io::Result<u64>>()?)
            }
            _ => anyhow::bail!("these books are on another target"),
        }
    }

    fn sync(&self, location: &Location) -> anyhow::Result<()> {
        if let (Self::Folder(_), Location::Folder(folder)) = (self, location) {
            for file in std::fs::read_dir(folder)? {
                std::fs::File::open(file?.path())?.sync_all()?;
            }
        }
        Ok(())
    }

    fn clear(&self, location: &Location) -> anyhow::Result<()> {
        match (self, location) {
            (Self::Server(server), Location::Postgres(url)) => server.drop_database(url),
            _ => Ok(()),
        }
    }
}

fn measure_on(target: &BenchTarget, cell: Duration, side: Duration) -> anyhow::Result<Vec<LedgerRow>> {
    let (engine, mut rows) = (target.engine(), Vec::new());
    for accounts in [ACCOUNTS, 1] {
        let single_tx_per_s = target.one_transaction_each(accounts, side)?;
        let location = target.books(accounts)?;
        let seats = Seats::open(&location, ACCOUNTS, accounts == 1)?;
        seats.remember(load::HISTORY)?;
        for shape in target.shapes() {
            for keys in Keys::ALL {
                let (name, of) = (keys.name(), counted(accounts as u64, "account", "accounts"));
                log(&format!("{engine}: {} x {}, {of}, {name} keys", shape.callers, shape.per_call));
                let run = load::run(&seats, shape, keys, cell)?;
                // The raw engine stores batches of the same size, without deciding anything. It runs right after the
                // books, because the speed of a disk changes from one minute to the next. A replay stores no rows.
                let raw = (keys != Keys::Replay).then(|| {
                    seats.settle()?;
                    target.same_rows(accounts, run.mean_batch, side)
                });
                rows.push(LedgerRow::new(
                    engine,
                    shape.name(),
                    accounts,
                    name,
                    &run,
                    raw.transpose()?,
                    Some(single_tx_per_s),
                ));
            }
        }
        // Latency is measured on an idle disk: what earlier runs left in the page cache is synced first.
        seats.settle()?;
        target.sync(&location)?;
        let pace = load::paced(&seats, 1_000, cell * 3)?;
        rows.push(LedgerRow::new(engine, "1000/s".into(), accounts, "ordered", &pace, None, None));
        seats.close_and_audit()?;
        target.clear(&location)?;
    }
    Ok(rows)
}

fn log(what: &str) {
    eprintln!("bench: {what}");
}
