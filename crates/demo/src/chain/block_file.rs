//! The blocks in a file: a line of JSON each, with the bytes of its transactions. The chain is pure, so the same bytes
//! give the same chain, hash by hash.
//!
//! Guarantees: a line is synced before the chain's lock is released. A last line without its end is a block that no
//! reader has seen, and is cut off. It does not detect edits of the file: the books do, by the block hashes they have
//! stored.

use std::{
    fs::{File, OpenOptions},
    io::{BufRead, BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use bankroll_chains_simulated::{B256, Bytes, SimulatedChain};
use serde::{Deserialize, Serialize};

/// In the demo's folder.
pub const FILE: &str = "chain.jsonl";
/// What a unit of gas costs in every block, before any tip.
pub const BASE_FEE: u64 = 1_000_000_000;

/// The first line: which chain this is.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileHeader {
    genesis: B256,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockLine {
    time: u64,
    transactions: Vec<Bytes>,
}

pub struct BlockFile {
    path: PathBuf,
    file: File,
}

impl BlockFile {
    /// Replays the file into the chain; creates the file if there is none.
    pub fn open(folder: &Path, chain: &mut SimulatedChain) -> anyhow::Result<Self> {
        let path = folder.join(FILE);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.with_context(|| format!("cannot open {}", path.display()))?;
        let mut blocks = Self { path, file };
        let whole = blocks.replay(chain).with_context(|| format!("{} cannot be replayed", blocks.path.display()))?;
        blocks.file.set_len(whole).and_then(|()| blocks.file.seek(SeekFrom::End(0))).context("cannot truncate it")?;
        if whole == 0 {
            blocks.write(&FileHeader { genesis: chain.genesis() })?;
        }
        Ok(blocks)
    }

    /// Replays every complete line, and returns their length in bytes.
    fn replay(&self, chain: &mut SimulatedChain) -> anyhow::Result<u64> {
        let (mut lines, mut whole, mut text) = (BufReader::new(&self.file), 0_u64, String::new());
        for number in 1_u64.. {
            text.clear();
            let read = lines.read_line(&mut text).context("cannot read it")?;
            if !text.ends_with('\n') {
                break;
            }
            whole += read as u64;
            if number == 1 {
                let begin: FileHeader = serde_json::from_str(&text).context("line 1 is not the header of a chain")?;
                ensure!(
                    begin.genesis == chain.genesis(),
                    "it belongs to another chain: delete the folder, or use --fresh"
                );
                continue;
            }
            let line: BlockLine =
                serde_json::from_str(&text).with_context(|| format!("line {number} is not a block"))?;
            append(chain, &line).with_context(|| format!("line {number}"))?;
        }
        Ok(whole)
    }

    /// Mines a block of the pending transactions, and stores it.
    pub fn mine(&mut self, chain: &mut SimulatedChain, time: u64) -> anyhow::Result<()> {
        chain.set_base_fee(BASE_FEE);
        let block = chain.mine(time);
        let transactions = block.transactions.iter().map(|included| included.transaction.raw()).collect();
        let line = BlockLine { time: block.time(), transactions };
        // Clients ask for the price of the next block before it exists.
        chain.set_base_fee(BASE_FEE);
        self.write(&line)
    }

    fn write(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        written.with_context(|| format!("cannot write to {}", self.path.display()))
    }
}

fn append(chain: &mut SimulatedChain, line: &BlockLine) -> anyhow::Result<()> {
    for raw in &line.transactions {
        chain.send(raw).context("the chain refuses a transaction")?;
    }
    chain.set_base_fee(BASE_FEE);
    let mined = chain.mine(line.time).transactions.len();
    if mined != line.transactions.len() {
        bail!("{mined} of its {} transactions can be mined", line.transactions.len());
    }
    chain.set_base_fee(BASE_FEE);
    Ok(())
}
