//! The replay file: what a node answers for each block, made once and kept.
//!
//! It guarantees: a file that was not written to its end is never read, and one of an older form is made again. All
//! answers are in one file and their places in another, so a reader needs little memory whatever the length.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;
use bankroll_chains_evm::B256;
use serde::{Deserialize, Serialize};

use super::{
    super::log,
    blocks::{BlockAnswers, BlockMaker, DepositTotals, Holding},
};

/// Changes with the content of the blocks.
const VERSION: u32 = 2;
const ANSWERS: &str = "answers.jsonl";
const INDEX: &str = "index.json";

/// What a node answers about a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerPart {
    Header,
    Block,
    Receipts,
    Traces,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReplayIndex {
    pub chain_id: u64,
    /// From the genesis block.
    blocks: Vec<ReplayedBlock>,
    /// The deposits in the first so many blocks after the genesis.
    pub totals: DepositTotals,
    /// Of the file with the answers.
    bytes: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct ReplayedBlock {
    hash: B256,
    start: u64,
    /// In the order of [`AnswerPart`], one after the other.
    lengths: [u64; 4],
    /// Of the paid addresses.
    holdings: Vec<Holding>,
}

/// A file that is complete.
#[derive(Debug)]
pub(super) struct ReplayFile {
    folder: PathBuf,
    pub index: ReplayIndex,
    numbers: HashMap<B256, u64>,
}

impl ReplayFile {
    /// The file with so many blocks after the genesis, below this folder; it is made if it is not there.
    pub fn open_or_make(parent: &Path, blocks: u64) -> anyhow::Result<Self> {
        let folder = parent.join(format!("bankroll-replay-{VERSION}-{blocks}-blocks"));
        if let Some(found) = Self::open(&folder).filter(|found| found.blocks() == blocks) {
            return Ok(found);
        }
        log(&format!("deposits: making {blocks} blocks in {}, once", folder.display()));
        let unfinished = parent.join(format!("bankroll-replay-{}", std::process::id()));
        let made = make(&unfinished, blocks).and_then(|()| {
            let _ = fs::remove_dir_all(&folder);
            fs::rename(&unfinished, &folder).with_context(|| format!("cannot create {}", folder.display()))
        });
        let _ = fs::remove_dir_all(&unfinished);
        made?;
        Self::open(&folder).context("the replay file cannot be read")
    }

    fn open(folder: &Path) -> Option<Self> {
        let index: ReplayIndex = serde_json::from_slice(&fs::read(folder.join(INDEX)).ok()?).ok()?;
        let is_whole = fs::metadata(folder.join(ANSWERS)).ok()?.len() == index.bytes && !index.blocks.is_empty();
        let numbers = (0..).zip(&index.blocks).map(|(number, block)| (block.hash, number)).collect();
        is_whole.then(|| Self { folder: folder.to_owned(), index, numbers })
    }

    /// The number of the last block.
    pub fn blocks(&self) -> u64 {
        self.index.blocks.len() as u64 - 1
    }

    pub fn genesis(&self) -> B256 {
        self.index.blocks[0].hash
    }

    pub fn number_of(&self, hash: B256) -> Option<u64> {
        self.numbers.get(&hash).copied()
    }

    /// What a paid address has after a block.
    pub fn holding(&self, number: u64, paid: usize) -> Option<Holding> {
        self.index.blocks.get(usize::try_from(number).ok()?)?.holdings.get(paid).copied()
    }

    pub fn reader(&self) -> anyhow::Result<ReplayReader<'_>> {
        let file = File::open(self.folder.join(ANSWERS)).context("cannot open the replay file")?;
        Ok(ReplayReader { index: &self.index, file })
    }
}

/// One reader of a file.
pub(super) struct ReplayReader<'a> {
    index: &'a ReplayIndex,
    file: File,
}

impl ReplayReader<'_> {
    /// Appends an answer as the node wrote it; `false` if there is no such block.
    pub fn append(&mut self, number: u64, part: AnswerPart, to: &mut Vec<u8>) -> std::io::Result<bool> {
        let block = usize::try_from(number).ok().and_then(|number| self.index.blocks.get(number));
        let Some(block) = block else { return Ok(false) };
        let place = part as usize;
        self.file.seek(SeekFrom::Start(block.start + block.lengths[..place].iter().sum::<u64>()))?;
        let (before, length) = (to.len(), block.lengths[place]);
        (&self.file).take(length).read_to_end(to)?;
        if to.len() - before == length as usize { Ok(true) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
    }
}

fn make(folder: &Path, blocks: u64) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut file = BufWriter::new(File::create(folder.join(ANSWERS))?);
    let mut maker = BlockMaker::new();
    let (mut replayed, mut start) = (Vec::new(), 0);
    for number in 0..=blocks {
        let answers = if number == 0 { maker.answers(0)? } else { maker.next()? };
        let BlockAnswers { hash, header, block, receipts, traces } = answers;
        let parts = [header, block, receipts, traces];
        for part in &parts {
            file.write_all(part.get().as_bytes())?;
        }
        let lengths = parts.map(|part| part.get().len() as u64);
        replayed.push(ReplayedBlock { hash: hash.parse()?, start, lengths, holdings: maker.holdings().to_vec() });
        start += lengths.iter().sum::<u64>();
    }
    file.into_inner()?.sync_all()?;
    let index =
        ReplayIndex { chain_id: maker.chain_id(), blocks: replayed, totals: maker.totals().clone(), bytes: start };
    fs::write(folder.join(INDEX), serde_json::to_vec(&index)?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_once_and_made_again_when_it_is_cut() {
        let folder = std::env::temp_dir().join(format!("bankroll-replay-test-{}", std::process::id()));
        let file = ReplayFile::open_or_make(&folder, 2).expect("a file");
        assert_eq!((file.blocks(), file.number_of(file.genesis())), (2, Some(0)));
        let answers = file.folder.join(ANSWERS);
        let made = fs::read(&answers).expect("answers");
        let mut block = Vec::new();
        let mut reader = file.reader().expect("a reader");
        assert!(reader.append(2, AnswerPart::Receipts, &mut block).expect("receipts"));
        assert!(!reader.append(3, AnswerPart::Receipts, &mut block).expect("no block"));
        let receipts: serde_json::Value = serde_json::from_slice(&block).expect("JSON");
        assert_eq!(receipts.as_array().map(Vec::len), Some(30));
        let written = fs::metadata(&answers).and_then(|file| file.modified()).expect("a time");
        ReplayFile::open_or_make(&folder, 2).expect("a file");
        assert_eq!(fs::metadata(&answers).and_then(|file| file.modified()).expect("a time"), written);
        fs::write(&answers, &made[..made.len() - 1]).expect("cut");
        ReplayFile::open_or_make(&folder, 2).expect("a file");
        assert_eq!(fs::read(&answers).expect("answers"), made);
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
        fs::remove_dir_all(&folder).expect("removed");
    }
}
