//! Damages of files: bits, bytes, bursts, pages, the log, and files of yesterday.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use bankroll_store::{BOOKS_FILE, STATEMENTS_FILE};
use fastrand::Rng;

use super::set::{BooksSet, State};

const LOG_FILE: &str = "books.db-wal";
/// The newest head, known in a second place.
const HEAD_FILE: &str = "books.head";
/// The size of a page of the databases, and of a sector that a disk writes at once.
const PAGE: usize = 4_096;
const SECTOR: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileDamage {
    Bit(&'static str),
    Byte(&'static str),
    /// 2 to 64 bytes.
    Burst(&'static str),
    ZeroedPage(&'static str),
    SwappedPages(&'static str),
    /// As it was yesterday.
    StalePage(&'static str),
    /// Some sectors as they were yesterday.
    TornPage(&'static str),
    Truncated(&'static str),
    Removed(&'static str),
    /// The whole file as it was yesterday.
    Yesterday(&'static str),
}

impl FileDamage {
    /// In an order that spreads a short run over all of them.
    pub fn kinds() -> Vec<Self> {
        let mut kinds = Vec::new();
        for file in [BOOKS_FILE, LOG_FILE, STATEMENTS_FILE, HEAD_FILE] {
            kinds.extend([Self::Bit(file), Self::Byte(file), Self::Burst(file), Self::Yesterday(file)]);
            kinds.extend([Self::Truncated(file), Self::Removed(file)]);
        }
        // The pages of the books twice: most of a disk's damage is there.
        for file in [BOOKS_FILE, STATEMENTS_FILE, BOOKS_FILE] {
            kinds.extend([
                Self::ZeroedPage(file),
                Self::SwappedPages(file),
                Self::StalePage(file),
                Self::TornPage(file),
            ]);
        }
        kinds
    }

    fn file(self) -> &'static str {
        match self {
            Self::Bit(file)
            | Self::Byte(file)
            | Self::Burst(file)
            | Self::ZeroedPage(file)
            | Self::SwappedPages(file)
            | Self::StalePage(file)
            | Self::TornPage(file)
            | Self::Truncated(file)
            | Self::Removed(file)
            | Self::Yesterday(file) => file,
        }
    }

    /// Which books are damaged: closed ones have no log.
    pub fn state(self, rng: &mut Rng) -> State {
        if self.file() == LOG_FILE || rng.u32(0..4) == 0 { State::Killed } else { State::Closed }
    }

    /// Damages the file in this folder and says where; `None` if there is no such file, or nothing to change.
    pub fn inflict(self, folder: &Path, set: &BooksSet, rng: &mut Rng) -> Option<String> {
        let path = folder.join(self.file());
        let mut bytes = fs::read(&path).ok().filter(|bytes| !bytes.is_empty())?;
        let old = fs::read(self.yesterday(set)).ok();
        let what = match self {
            Self::Bit(_) => {
                let (place, bit) = (rng.usize(..bytes.len()), rng.u32(0..8));
                bytes[place] ^= 1 << bit;
                format!("bit {bit} of byte {place}")
            }
            Self::Byte(_) => {
                let place = rng.usize(..bytes.len());
                bytes[place] ^= rng.u8(1..);
                format!("byte {place}, now {}", bytes[place])
            }
            Self::Burst(_) => {
                let (place, length) = (rng.usize(..bytes.len()), rng.usize(2..=64));
                let end = bytes.len().min(place + length);
                bytes[place..end].iter_mut().for_each(|byte| *byte ^= rng.u8(1..));
                format!("bytes {place} to {end}")
            }
            Self::ZeroedPage(_) => {
                let page = rng.usize(..bytes.len() / PAGE);
                page_of(&mut bytes, page).fill(0);
                format!("page {}", page + 1)
            }
            Self::SwappedPages(_) => {
                let pages = bytes.len() / PAGE;
                let (one, other) = (rng.usize(..pages), rng.usize(..pages));
                let kept = page_of(&mut bytes, one).to_vec();
                let moved = page_of(&mut bytes, other).to_vec();
                page_of(&mut bytes, one).copy_from_slice(&moved);
                page_of(&mut bytes, other).copy_from_slice(&kept);
                format!("pages {} and {}", one + 1, other + 1)
            }
            Self::StalePage(_) | Self::TornPage(_) => {
                let mut old = old?;
                let pages = 0..(bytes.len() / PAGE).min(old.len() / PAGE);
                let changed = pages.filter(|page| page_of(&mut bytes, *page) != page_of(&mut old, *page));
                let page = rng.choice(changed.collect::<Vec<_>>())?;
                let from = if matches!(self, Self::TornPage(_)) { SECTOR * rng.usize(1..PAGE / SECTOR) } else { 0 };
                page_of(&mut bytes, page)[from..].copy_from_slice(&page_of(&mut old, page)[from..]);
                format!("page {} from its byte {from} on", page + 1)
            }
            Self::Truncated(_) => {
                let length = rng.usize(..bytes.len());
                bytes.truncate(length);
                format!("to {length} bytes")
            }
            Self::Removed(_) => {
                fs::remove_file(path).unwrap();
                return Some(String::new());
            }
            Self::Yesterday(_) => {
                bytes = old?;
                String::new()
            }
        };
        // A new file, as a copy would be.
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        Some(what)
    }

    fn yesterday(self, set: &BooksSet) -> PathBuf {
        if self.file() == LOG_FILE { set.older_log() } else { set.yesterday().join(self.file()) }
    }
}

fn page_of(bytes: &mut [u8], page: usize) -> &mut [u8] {
    &mut bytes[page * PAGE..(page + 1) * PAGE]
}

impl fmt::Display for FileDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::Bit(_) => "a bit",
            Self::Byte(_) => "a byte",
            Self::Burst(_) => "a burst",
            Self::ZeroedPage(_) => "page zeroed",
            Self::SwappedPages(_) => "pages swapped",
            Self::StalePage(_) => "page stale",
            Self::TornPage(_) => "page torn",
            Self::Truncated(_) => "truncated",
            Self::Removed(_) => "removed",
            Self::Yesterday(_) => "of yesterday",
        };
        write!(f, "{} {what}", self.file())
    }
}
