//! The blocks in a file: a line of JSON each, with the bytes of its transactions. The chain is pure, so the same bytes make
//! the same chain again, hash by hash.
//!
//! Guarantees: a line is synced before the chain is let go of. A last line without its end is a block that nobody has seen,
//! and is cut off. It does not know whether somebody has edited the file: the books' own memory of block hashes does.

use std::{
    fs::{File, OpenOptions},
    io::{BufRead, BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use bankroll_chains_simulated::{B256, Bytes, Chain};
use serde::{Deserialize, Serialize};

/// In the demo's folder.
pub const FILE: &str = "chain.jsonl";
/// What a unit of gas costs in every block, before any tip.
pub const BASE_FEE: u64 = 1_000_000_000;

/// The first line: which chain this is.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Begin {
    genesis: B256,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    time: u64,
    transactions: Vec<Bytes>,
}

pub struct Blocks {
    path: PathBuf,
    file: File,
}

impl Blocks {
    /// Makes the chain what the file says; makes the file if there is none.
    pub fn open(folder: &Path, chain: &mut Chain) -> anyhow::Result<Self> {
        let path = folder.join(FILE);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.with_context(|| format!("cannot open {}", path.display()))?;
        let mut blocks = Self { path, file };
        let whole =
            blocks.replay(chain).with_context(|| format!("{} cannot be played again", blocks.path.display()))?;
        blocks.file.set_len(whole).and_then(|()| blocks.file.seek(SeekFrom::End(0))).context("cannot cut it")?;
        if whole == 0 {
            blocks.write(&Begin { genesis: chain.genesis() })?;
        }
        Ok(blocks)
    }

    /// Plays every whole line; how many bytes those are.
    fn replay(&self, chain: &mut Chain) -> anyhow::Result<u64> {
        let (mut lines, mut whole, mut text) = (BufReader::new(&self.file), 0_u64, String::new());
        for number in 1_u64.. {
            text.clear();
            let read = lines.read_line(&mut text).context("cannot read it")?;
            if !text.ends_with('\n') {
                break;
            }
            whole += read as u64;
            if number == 1 {
                let begin: Begin = serde_json::from_str(&text).context("line 1 is not its beginning")?;
                ensure!(begin.genesis == chain.genesis(), "it is another chain's: delete the folder, or use --fresh");
                continue;
            }
            let line: Line = serde_json::from_str(&text).with_context(|| format!("line {number} is no block"))?;
            append(chain, &line).with_context(|| format!("line {number}"))?;
        }
        Ok(whole)
    }

    /// Makes a block of what waits, and keeps it.
    pub fn mine(&mut self, chain: &mut Chain, time: u64) -> anyhow::Result<()> {
        chain.set_base_fee(BASE_FEE);
        let block = chain.mine(time);
        let transactions = block.transactions.iter().map(|included| included.transaction.raw()).collect();
        let line = Line { time: block.time(), transactions };
        // What the next one will cost is asked before it is made.
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

fn append(chain: &mut Chain, line: &Line) -> anyhow::Result<()> {
    for raw in &line.transactions {
        chain.send(raw).context("a transaction that the chain does not take")?;
    }
    chain.set_base_fee(BASE_FEE);
    let mined = chain.mine(line.time).transactions.len();
    if mined != line.transactions.len() {
        bail!("{mined} of its {} transactions can be mined", line.transactions.len());
    }
    chain.set_base_fee(BASE_FEE);
    Ok(())
}
