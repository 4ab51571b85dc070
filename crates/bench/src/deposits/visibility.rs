//! How long it takes from a new block at the node until another reader sees the row of its deposit.
//!
//! The indexer is a process of its own that follows the node; the reader is this process, which opens the books as a
//! second reader and asks again and again.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use bankroll_deposits::view::{self, DepositFilter};
use bankroll_store::Reader;

use super::{
    DepositMode,
    blocks::DepositTotals,
    cell::{CellOrder, CellWork, RunningCell},
    replay_server::ReplayServer,
};

const WATCHED: u64 = 1_000;
/// New blocks, at most.
const BLOCKS: u64 = 300;
/// A part of the file, so that a short file has some, too.
const PART: u64 = 5;
/// How often the reader asks.
const LOOK: Duration = Duration::from_micros(500);
/// A row that takes longer has not come.
const PATIENCE: Duration = Duration::from_secs(30);

/// Announces one block after the other; returns the times, shortest first.
pub(super) fn measure(folder: &Path, server: &ReplayServer) -> anyhow::Result<Vec<Duration>> {
    let file = &server.node.file;
    let count = BLOCKS.min(file.blocks() / PART).max(1);
    let before = file.blocks() - count;
    server.node.set_head(before);
    let books = folder.join("visible");
    let order = CellOrder {
        work: CellWork::Follow,
        url: server.url(),
        heads_url: server.heads_url(),
        chain_id: file.index.chain_id,
        genesis: file.genesis(),
        mode: DepositMode::Traces,
        watched: WATCHED,
        start: before,
        last: before,
        books: books.clone(),
    };
    let mut cell = RunningCell::start(&order)?;
    cell.line::<u64>().context("the indexer did not begin")?;
    let reader = Reader::open(&books)?;
    let (mut times, mut random) = (Vec::new(), fastrand::Rng::with_seed(count));
    for number in before + 1..=file.blocks() {
        // Not in step with anything that asks at intervals.
        thread::sleep(Duration::from_micros(random.u64(10_000..60_000)));
        let start = Instant::now();
        server.node.set_head(number);
        wait_for_row(&reader, number, start)?;
        times.push(start.elapsed());
    }
    drop(reader);
    let found: DepositTotals = cell.end()?.totals;
    let natives = found.get("native").map_or(0, |total| total.count);
    anyhow::ensure!(natives == count + 1, "{natives} deposits are there after {count} new blocks");
    times.sort();
    Ok(times)
}

fn wait_for_row(reader: &Reader, number: u64, start: Instant) -> anyhow::Result<()> {
    // A block has more than one deposit.
    let is_there = || -> anyhow::Result<bool> {
        let newest = view::list(reader, &DepositFilter::default(), 10)?;
        Ok(newest.iter().any(|deposit| deposit.block == number))
    };
    while !is_there()? {
        anyhow::ensure!(start.elapsed() < PATIENCE, "the deposit of block {number} did not come");
        thread::sleep(LOOK);
    }
    Ok(())
}
