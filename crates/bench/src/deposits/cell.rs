//! A cell: one measurement in a process of its own, so that its peak of memory is its own.
//!
//! The order is one line of JSON on its input, the outcome one line on its output. A cell that follows new blocks ends
//! when its input does, so no cell outlives the bench.

use std::{
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::Context;
use bankroll_chains_evm::B256;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    super::growth::peak_rss_mib,
    DepositMode,
    blocks::DepositTotals,
    indexing::{self, IndexedBooks},
    raw,
};

/// The command of the program that runs a cell; it is not for people.
pub(in super::super) const COMMAND: &str = "deposits-cell";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CellWork {
    /// Fetches and decodes, and does nothing else.
    Raw,
    Backfill,
    /// Follows new blocks until its input ends.
    Follow,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CellOrder {
    pub work: CellWork,
    pub url: String,
    /// Where new blocks are announced.
    pub heads_url: String,
    pub chain_id: u64,
    pub genesis: B256,
    pub mode: DepositMode,
    pub watched: u64,
    /// The first block that is read.
    pub start: u64,
    /// The last one, unless it follows.
    pub last: u64,
    /// Made, audited and removed.
    pub books: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CellOutcome {
    pub per_s: f64,
    pub rss_mib: u64,
    pub totals: DepositTotals,
}

impl CellOrder {
    /// Runs the cell to its end.
    pub fn run(&self) -> anyhow::Result<CellOutcome> {
        RunningCell::start(self)?.end()
    }
}

/// A process of this program. It is ended with the bench.
pub(super) struct RunningCell {
    process: Child,
    output: BufReader<ChildStdout>,
    input: Option<ChildStdin>,
}

impl RunningCell {
    pub fn start(order: &CellOrder) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut process = Command::new(program)
            .args(["bench", COMMAND])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a cell")?;
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().context("a cell has no output")?);
        let mut cell = Self { process, output, input };
        let line = serde_json::to_string(order)? + "\n";
        cell.input.as_mut().context("a cell has no input")?.write_all(line.as_bytes())?;
        Ok(cell)
    }

    /// Waits for the cell's next line.
    pub fn line<T: DeserializeOwned>(&mut self) -> anyhow::Result<T> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        // It has reported why on the standard error.
        anyhow::ensure!(!line.is_empty(), "a cell failed");
        Ok(serde_json::from_str(&line)?)
    }

    /// Ends its input and waits for its outcome.
    pub fn end(mut self) -> anyhow::Result<CellOutcome> {
        self.input = None;
        let outcome = self.line()?;
        let status = self.process.wait()?;
        anyhow::ensure!(status.success(), "a cell failed: {status}");
        Ok(outcome)
    }
}

impl Drop for RunningCell {
    fn drop(&mut self) {
        // It has ended, or its outcome does not matter any more.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The cell itself: the order from its input, the outcome to its output.
pub(in super::super) fn run() -> anyhow::Result<()> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    let order: CellOrder = serde_json::from_str(&line).context("this command is for the bench itself")?;
    let blocks = order.last + 1 - order.start;
    let (took, totals) = match order.work {
        CellWork::Raw => (raw::fetch_all(&order.url, order.mode, blocks)?, DepositTotals::new()),
        CellWork::Backfill => {
            let mut books = IndexedBooks::open(&order)?;
            let took = books.read_to(order.last)?;
            return say(&CellOutcome {
                per_s: blocks as f64 / took.as_secs_f64(),
                rss_mib: peak_rss_mib(),
                totals: books.close()?,
            });
        }
        CellWork::Follow => {
            let mut books = IndexedBooks::open(&order)?;
            let took = books.read_to(order.last)?;
            indexing::follow(&mut books, &order.heads_url, || say(&blocks))?;
            (took, books.close()?)
        }
    };
    say(&CellOutcome { per_s: blocks as f64 / took.as_secs_f64(), rss_mib: peak_rss_mib(), totals })
}

fn say(what: &impl Serialize) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all((serde_json::to_string(what)? + "\n").as_bytes())?;
    Ok(out.flush()?)
}
