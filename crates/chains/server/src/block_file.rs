//! The blocks in a file: a line of JSON for each change, with everything that its blocks are made of. The chain is pure,
//! so the same lines give the same chain, hash by hash.
//!
//! | line | content |
//! | --- | --- |
//! | 1 | the format, and which chain this is |
//! | others | `after`: the last block that stays; `blocks`: those that follow it |
//!
//! Guarantees: [`BlockFile::save`] has synced a change when it returns. A last line without its end is a change that
//! was being written when the process or the machine stopped, and is cut off: with the chain's lock held until `save`
//! returns, no reader has seen it. Any other line that does not give the stored hashes is refused, and nothing is
//! written. One process uses a file at a time.
//!
//! It does not keep the mempool: senders send again, as after the restart of any node.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use bankroll_chains_simulated::{B256, SimulatedBlock, SimulatedChain, StoredBlock};
use serde::{Deserialize, Serialize};

use crate::block_tracker::BlockTracker;

const FORMAT: u32 = 1;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileHeader {
    bankroll_chain: u32,
    chain_id: u64,
    seed: u64,
    genesis: B256,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeLine {
    after: u64,
    blocks: Vec<StoredBlock>,
}

#[derive(Debug)]
pub struct BlockFile {
    path: PathBuf,
    file: File,
    tracker: BlockTracker,
}

impl BlockFile {
    /// Replays the file into a chain that has its genesis block only; creates the file if there is none.
    pub fn open(path: &Path, chain: &mut SimulatedChain) -> anyhow::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path);
        let mut file = file.with_context(|| format!("cannot open {}", path.display()))?;
        let kind = file.metadata().with_context(|| format!("cannot open {}", path.display()))?;
        ensure!(kind.is_file(), "{} is not a file that can be kept", path.display());
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("{} is in use by another process: end it, or use another file", path.display())
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", path.display()));
            }
        }
        let header = line(&FileHeader::of(chain))?;
        let whole = replay(&file, chain, &header).with_context(|| format!("{} cannot be replayed", path.display()))?;
        let cut = file.set_len(whole).and_then(|()| file.seek(SeekFrom::End(0)));
        cut.with_context(|| format!("cannot write to {}", path.display()))?;
        let mut blocks = Self { path: path.to_owned(), file, tracker: BlockTracker::new(chain) };
        if whole == 0 {
            // Before the header: if this is interrupted, the next start does both.
            sync_folder(path).with_context(|| format!("cannot sync the folder of {}", path.display()))?;
            blocks.write(&header)?;
        }
        Ok(blocks)
    }

    /// Stores what changed since the last call. The caller holds the lock of the chain until this returns.
    pub fn save(&mut self, chain: &SimulatedChain) -> anyhow::Result<()> {
        let Some(change) = self.tracker.look(chain) else { return Ok(()) };
        let blocks = change.blocks(chain).map(SimulatedBlock::stored).collect();
        self.write(&line(&ChangeLine { after: change.after, blocks })?)
    }

    fn write(&mut self, line: &[u8]) -> anyhow::Result<()> {
        let written = self.file.write_all(line).and_then(|()| self.file.sync_data());
        written.with_context(|| format!("cannot write to {}", self.path.display()))
    }
}

impl Drop for BlockFile {
    fn drop(&mut self) {
        // Closing the file would be enough, unless a child process that is just starting has inherited it.
        let _ = self.file.unlock();
    }
}

impl FileHeader {
    fn of(chain: &SimulatedChain) -> Self {
        let (config, genesis) = (chain.config(), chain.genesis());
        Self { bankroll_chain: FORMAT, chain_id: config.chain_id, seed: config.seed, genesis }
    }

    fn check(&self, chain: &SimulatedChain) -> anyhow::Result<()> {
        let ours = Self::of(chain);
        ensure!(self.bankroll_chain == FORMAT, "it has format {}, not {FORMAT}", self.bankroll_chain);
        ensure!(
            (self.chain_id, self.seed) == (ours.chain_id, ours.seed),
            "it has the chain with id {} and seed {}, and this is id {} and seed {}: start with the same, or use another \
             file",
            self.chain_id,
            self.seed,
            ours.chain_id,
            ours.seed,
        );
        ensure!(self.genesis == ours.genesis, "it has another genesis block: {}, not {}", self.genesis, ours.genesis);
        Ok(())
    }
}

/// Makes the name of a new file durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

fn line(value: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    Ok(text)
}

/// Replays every complete line, and returns their length in bytes.
fn replay(file: &File, chain: &mut SimulatedChain, header: &[u8]) -> anyhow::Result<u64> {
    let (mut lines, mut whole, mut text) = (BufReader::new(file), 0_u64, Vec::new());
    for number in 1_u64.. {
        text.clear();
        let read = lines.read_until(b'\n', &mut text).context("cannot read it")?;
        if !text.ends_with(b"\n") {
            // Only our own torn first line is overwritten, not the file of another program.
            ensure!(number > 1 || header.starts_with(&text), NO_HEADER);
            break;
        }
        whole += read as u64;
        if number == 1 {
            serde_json::from_slice::<FileHeader>(&text).context(NO_HEADER)?.check(chain)?;
            continue;
        }
        let damaged = || format!("line {number} is damaged; restore the file, or begin with another one");
        let change: ChangeLine = serde_json::from_slice(&text).with_context(damaged)?;
        chain.replay(change.after, &change.blocks).with_context(damaged)?;
    }
    Ok(whole)
}

/// A file that cannot be written to, as on a full disk.
#[cfg(test)]
pub(crate) fn broken(path: &Path, chain: &mut SimulatedChain) -> anyhow::Result<BlockFile> {
    let mut blocks = BlockFile::open(path, chain)?;
    blocks.file = File::open(path)?;
    Ok(blocks)
}

const NO_HEADER: &str = "it is not a chain file of this version: line 1 is not its header";
