//! `bankroll bench deposits`: what following a chain costs, from a node's answers to the deposits' rows.
//!
//! The chain is a file of answers that the bench makes itself, served on loopback by threads of this process. Each
//! cell is a process of its own, so that its memory is its own: it opens real books, and the indexer of the product
//! reads all blocks. Before each cell another process fetches and decodes the same answers and does nothing else,
//! because the speed of a machine changes from one minute to the next. A rate is reported only if the rows are what the
//! file contains, by count and sum.

mod blocks;
mod cell;
mod indexing;
mod raw;
mod replay_file;
mod replay_heads;
mod replay_rpc;
mod replay_server;
mod report;
mod visibility;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::log;
use cell::{CellOrder, CellWork};
use replay_file::ReplayFile;
use replay_rpc::ReplayNode;
use replay_server::ReplayServer;
use report::{BackfillRow, DepositsReport};

pub(super) use cell::run as run_cell;

/// What the indexer reads of each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DepositMode {
    /// Blocks and receipts.
    Transactions,
    /// Traces too: transfers by contracts.
    Traces,
}

impl DepositMode {
    const ALL: [Self; 2] = [Self::Transactions, Self::Traces];

    const fn name(self) -> &'static str {
        match self {
            Self::Transactions => "transactions",
            Self::Traces => "traces",
        }
    }
}

/// Watched addresses, one for each player.
const WATCHED: [u64; 3] = [10, 1_000, 100_000];

/// The length of the chain, and where things are.
#[derive(Debug)]
pub(super) struct DepositsBench {
    /// After the genesis.
    pub blocks: u64,
    /// The replay file is kept below it.
    pub replay: PathBuf,
}

/// Measures with books in this folder, which are audited and removed afterwards.
pub(super) fn measure(folder: &Path, bench: &DepositsBench) -> anyhow::Result<DepositsReport> {
    let file = ReplayFile::open_or_make(&bench.replay, bench.blocks)?;
    let server = ReplayServer::start(ReplayNode::new(file))?;
    let mut backfill = Vec::new();
    for mode in DepositMode::ALL {
        for watched in WATCHED {
            log(&format!("deposits: {} blocks, {}, {watched} addresses", bench.blocks, mode.name()));
            backfill.push(measure_cell(folder, &server, mode, watched)?);
        }
    }
    log("deposits: from a new block to its deposit's row");
    let visible = visibility::measure(folder, &server)?;
    Ok(DepositsReport::new(backfill, &visible))
}

fn measure_cell(folder: &Path, server: &ReplayServer, mode: DepositMode, watched: u64) -> anyhow::Result<BackfillRow> {
    let file = &server.node.file;
    server.node.set_head(file.blocks());
    let order = |work| CellOrder {
        work,
        url: server.url(),
        heads_url: server.heads_url(),
        chain_id: file.index.chain_id,
        genesis: file.genesis(),
        mode,
        watched,
        start: 1,
        last: file.blocks(),
        books: folder.join("deposits"),
    };
    let raw = order(CellWork::Raw).run()?;
    let indexed = order(CellWork::Backfill).run()?;
    let expected = indexing::expected(mode, &file.index.totals);
    let found = &indexed.totals;
    anyhow::ensure!(*found == expected, "the rows are not what the file contains: {found:?}, expected {expected:?}");
    Ok(BackfillRow::new(mode.name(), watched, indexed.per_s, raw.per_s, indexed.rss_mib))
}
