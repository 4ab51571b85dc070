//! The newest head, noted in a second place: what vanishes together with the journal's end must not look as if it had
//! never been there.
//!
//! A hash chain proves everything up to the last batch that is there, and says nothing about those behind it: a
//! write-ahead log that is damaged, removed or left out of a copy takes acknowledged records with it, and what is left
//! is sound. So after every commit the writer notes batch and head in [`HEAD_FILE`], and the statement index knows the
//! head under which its newest run was built. Both are written after the commit is durable, so they are never ahead of
//! it; if the journal does not have what one of them knows, records are lost.
//!
//! The note is not synced with every commit. It survives any end of the process; a power cut may take the last
//! seconds of it, but not more ([`SYNC_EVERY`], and the kernel's own delay while the ledger is idle).

use std::{
    fmt,
    fs::File,
    io::{self, ErrorKind, Read},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use bankroll_ledger::{AcceptedLoss, Record, Seq, merkle::Hash};

use super::ledger::STATEMENTS_FILE;
use crate::{
    Location, StoreError,
    engine::{JournalHead, Source, postgres::open_statement_tables, sqlite::open_statements},
    files,
    history::index::IndexSource,
};

/// The file with the newest head, next to the books; with books in a database, in the folder of the node.
pub const HEAD_FILE: &str = "books.head";

/// How often the note is synced while commits follow each other.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The file has two lines, of this length each. A note overwrites the older one, so that a torn write spoils at most
/// the line that was being written.
const LINE: usize = 128;

/// Batches read at a time.
const PAGE: usize = 4_096;

/// A head that the journal had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotedHead {
    pub batch: u64,
    /// A record of that batch.
    pub seq: Seq,
    /// The head of the chain after that batch.
    pub hash: Hash,
}

impl From<&JournalHead> for NotedHead {
    fn from(head: &JournalHead) -> Self {
        Self { batch: head.batch, seq: head.seq, hash: head.hash }
    }
}

impl NotedHead {
    /// One line of the file: numbers, head, and a checksum over them.
    fn line(&self) -> String {
        let content = format!("{:020} {:020} {}", self.batch, self.seq.0, Hex(&self.hash));
        let sum = crc32fast::hash(content.as_bytes());
        format!("{:<width$}\n", format!("{content} {sum:08x}"), width = LINE - 1)
    }

    fn parse(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?.trim_end();
        let (content, sum) = line.rsplit_once(' ')?;
        if u32::from_str_radix(sum, 16).ok()? != crc32fast::hash(content.as_bytes()) {
            return None;
        }
        let mut words = content.split(' ');
        let (batch, seq, hash) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?);
        Some(Self { batch, seq: Seq(seq), hash: parse_hash(hash)? })
    }
}

fn parse_hash(text: &str) -> Option<Hash> {
    let digits: &[u8; 64] = text.as_bytes().try_into().ok()?;
    let mut hash = Hash::default();
    for (byte, [high, low]) in hash.iter_mut().zip(digits.as_chunks::<2>().0) {
        let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(hash)
}

/// A hash in messages and in the file.
struct Hex<'a>(&'a Hash);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The file, open for notes.
#[derive(Debug)]
pub(crate) struct HeadFile {
    file: File,
    synced: Mutex<Instant>,
}

impl HeadFile {
    /// Opens or creates the file; from here on it knows this head and no other.
    pub fn start(path: &Path, head: &JournalHead) -> io::Result<Self> {
        let file = files::open_or_create_lock(path)?;
        let noted = NotedHead::from(head);
        // The newer line last: if this is interrupted, the file still has one of the two heads, or none.
        file.write_all_at(NotedHead { batch: 0, seq: Seq(0), ..noted }.line().as_bytes(), other_place(head.batch))?;
        file.write_all_at(noted.line().as_bytes(), place(head.batch))?;
        file.sync_data()?;
        Ok(Self { file, synced: Mutex::new(Instant::now()) })
    }

    /// Notes the head of a batch that is durable. A note that fails is not an error: the books are as durable without
    /// it, and `doctor` says how far it is behind.
    pub fn note(&self, head: &NotedHead) {
        let _ = self.file.write_all_at(head.line().as_bytes(), place(head.batch));
    }

    /// Syncs the notes, if they have waited long enough.
    pub fn sync_if_due(&self) {
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if synced.elapsed() >= SYNC_EVERY {
            *synced = Instant::now();
            let _ = self.file.sync_data();
        }
    }
}

impl Drop for HeadFile {
    fn drop(&mut self) {
        let _ = self.file.sync_data();
    }
}

/// Neighbouring batches use different lines.
fn place(batch: u64) -> u64 {
    (batch % 2) * LINE as u64
}

fn other_place(batch: u64) -> u64 {
    LINE as u64 - place(batch)
}

/// Where a head is noted, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotedIn {
    /// In this file.
    File(PathBuf),
    /// In the statement index.
    StatementIndex,
}

impl fmt::Display for NotedIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::StatementIndex => f.write_str("the statement index"),
        }
    }
}

/// The head that a file notes; `None` if there is no file, or none of its lines can be read.
pub(crate) fn read_file(path: &Path) -> Result<Option<NotedHead>, StoreError> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(2 * LINE as u64).read_to_end(&mut bytes)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.map_err(StoreError::io(path))?,
    };
    let lines = bytes.chunks(LINE).filter_map(NotedHead::parse).filter(|noted| noted.batch > 0);
    Ok(lines.max_by_key(|noted| noted.batch))
}

/// The heads that are noted outside the journal.
pub(crate) fn noted_heads(location: &Location, file: Option<&Path>) -> Result<Vec<(NotedIn, NotedHead)>, StoreError> {
    let in_file = match file {
        Some(path) => read_file(path)?.map(|noted| (NotedIn::File(path.into()), noted)),
        None => None,
    };
    let indexed = newest_indexed(location).map(|noted| (NotedIn::StatementIndex, noted));
    Ok(in_file.into_iter().chain(indexed).collect())
}

/// The head of the newest run of the statement index. An index that cannot be read knows nothing.
fn newest_indexed(location: &Location) -> Option<NotedHead> {
    let index: Box<dyn IndexSource> = match location {
        Location::Folder(folder) => {
            let path = folder.join(STATEMENTS_FILE);
            if !path.exists() {
                return None;
            }
            open_statements(&path).ok()?
        }
        Location::Postgres(url) => open_statement_tables(url).ok()?,
    };
    let newest = index.runs().ok()?.into_iter().max_by_key(|run| run.batch)?;
    Some(NotedHead { batch: newest.batch, seq: newest.meta.last, hash: newest.head })
}

/// The newest noted head that the journal does not have, unless its loss was accepted.
pub(crate) fn lost(
    source: &dyn Source,
    noted: &[(NotedIn, NotedHead)],
) -> Result<Option<(NotedIn, NotedHead)>, StoreError> {
    let mut lost: Option<(NotedIn, NotedHead)> = None;
    for (place, head) in noted {
        let newer = lost.as_ref().is_none_or(|(_, known)| head.batch > known.batch);
        if newer && !has(source, head.batch, &head.hash)? && !is_accepted(source, head)? {
            lost = Some((place.clone(), *head));
        }
    }
    Ok(lost)
}

/// Whether the journal has this batch, with this head.
pub(crate) fn has(source: &dyn Source, batch: u64, hash: &Hash) -> Result<bool, StoreError> {
    let stored = source.batches_from(batch, 1)?.pop();
    Ok(stored.is_some_and(|(stored, head)| stored.number == batch && head == *hash))
}

/// Whether a person has accepted the loss of this head: of exactly this one, or of a later one after whose loss the
/// journal begins again at or before this place.
fn is_accepted(source: &dyn Source, lost: &NotedHead) -> Result<bool, StoreError> {
    let accepted = accepted_losses(source)?;
    Ok(accepted
        .iter()
        .any(|(batch, loss)| loss.head == lost.hash || (*batch <= lost.batch && lost.batch <= loss.batch)))
}

/// The accepted losses, each with the batch that records it. Such a batch has one record.
pub(crate) fn accepted_losses(source: &dyn Source) -> Result<Vec<(u64, AcceptedLoss)>, StoreError> {
    let (mut found, mut number) = (Vec::new(), 1);
    loop {
        let batches = source.batches_from(number, PAGE)?;
        let Some((last, _)) = batches.last() else { return Ok(found) };
        number = last.number.saturating_add(1);
        for (batch, _) in batches.iter().filter(|(batch, _)| batch.count == 1) {
            let bytes = source.record(batch.first)?;
            let bytes = bytes.ok_or_else(|| StoreError::diverged(batch.first, "the journal has a gap"))?;
            if let Record::LossAccepted(loss) = Record::decode(&bytes).map_err(StoreError::unreadable(batch.first))? {
                found.push((batch.number, loss));
            }
        }
    }
}
