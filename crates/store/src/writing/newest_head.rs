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
    collections::BTreeMap,
    fmt,
    fs::File,
    io::{ErrorKind, Read},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bankroll_ledger::{AcceptedLoss, Record, Seq, merkle::Hash};

use super::ledger::STATEMENTS_FILE;
use crate::{
    Location, LostTail, StoreError,
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
const LINE: usize = 192;

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
    /// What only the file knows; `None` for a note of the statement index.
    origin: Option<NoteOrigin>,
}

/// What a note in a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NoteOrigin {
    /// The beginning of the head of batch 1: a note of other books proves nothing about these.
    books: u64,
    /// The batch that recorded the newest accepted loss when this was noted; 0 if there was none. An acceptance excuses
    /// the notes that are older than itself, and no later one.
    era: u64,
}

impl NotedHead {
    /// A head for a file that adds where it comes from.
    pub(crate) fn new(batch: u64, seq: Seq, hash: Hash) -> Self {
        Self { batch, seq, hash, origin: None }
    }

    /// One line of the file: numbers, head, and a checksum over them.
    fn line(&self, origin: NoteOrigin) -> String {
        let Self { batch, seq, hash, .. } = self;
        let NoteOrigin { books, era } = origin;
        let content = format!("{batch:020} {:020} {era:020} {books:016x} {}", seq.0, Hex(hash));
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
        let (batch, seq, era) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let books = u64::from_str_radix(words.next()?, 16).ok()?;
        let hash = parse_hash(words.next()?)?;
        Some(Self { batch, seq: Seq(seq), hash, origin: Some(NoteOrigin { books, era }) })
    }
}

impl From<&JournalHead> for NotedHead {
    fn from(head: &JournalHead) -> Self {
        Self::new(head.batch, head.seq, head.hash)
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
    era: u64,
    /// The beginning of the head of batch 1, once there is one.
    books: AtomicU64,
    synced: Mutex<Instant>,
}

impl HeadFile {
    /// Opens or creates the file; from here on it knows the present head and no other. The caller has compared what it
    /// knew before.
    pub fn start(path: &Path, source: &dyn Source) -> Result<Self, StoreError> {
        let (head, noted) = (source.head()?, read_file(path)?);
        let era = match noted {
            Some(noted) => match standing(source, &noted)? {
                Standing::Accepted { by } => by,
                _ => noted.origin.map_or(0, |origin| origin.era),
            },
            None => accepted_losses(source)?.last().map_or(0, |(batch, _)| *batch),
        };
        let books = books_of(source)?.unwrap_or(0);
        let file = files::open_or_create_lock(path).map_err(StoreError::io(path))?;
        let noted = NotedHead::from(&head);
        let origin = NoteOrigin { books, era };
        let write = || {
            // The newer line last: if this is interrupted, the file still has one of the two heads, or none.
            let none = NotedHead { batch: 0, seq: Seq(0), ..noted };
            file.write_all_at(none.line(origin).as_bytes(), other_place(head.batch))?;
            file.write_all_at(noted.line(origin).as_bytes(), place(head.batch))?;
            file.sync_data()
        };
        write().map_err(StoreError::io(path))?;
        Ok(Self { file, era, books: AtomicU64::new(books), synced: Mutex::new(Instant::now()) })
    }

    /// Notes the head of a batch that is durable. A note that fails is not an error: the books are as durable without
    /// it, and `doctor` says how far it is behind.
    pub fn note(&self, head: &NotedHead) {
        if head.batch == 1 {
            self.books.store(beginning(&head.hash), Ordering::Relaxed);
        }
        let origin = NoteOrigin { books: self.books.load(Ordering::Relaxed), era: self.era };
        let _ = self.file.write_all_at(head.line(origin).as_bytes(), place(head.batch));
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
    Some(NotedHead::new(newest.batch, newest.meta.last, newest.head))
}

/// How a noted head stands to the journal.
pub(crate) enum Standing {
    There,
    /// The batch with this number accepts its loss.
    Accepted {
        by: u64,
    },
    Lost,
    /// It is a head of other books.
    OfOthers,
}

/// Refuses if the journal does not have one of these heads, and its loss was not accepted.
pub(crate) fn refuse_lost(source: &dyn Source, noted: &[(NotedIn, NotedHead)]) -> Result<(), StoreError> {
    match lost(source, noted)? {
        None => Ok(()),
        Some((noted_in, noted)) => {
            Err(StoreError::TailLost(Box::new(LostTail { noted_in, noted, journal: source.head()? })))
        }
    }
}

/// The same where what cannot be read is no answer yet: those who read it next say what is damaged, and where.
pub(crate) fn refuse_certainly_lost(source: &dyn Source, noted: &[(NotedIn, NotedHead)]) -> Result<(), StoreError> {
    match refuse_lost(source, noted) {
        Err(error @ (StoreError::TailLost(_) | StoreError::OtherBooksNoted { .. })) => Err(error),
        _ => Ok(()),
    }
}

/// The newest noted head that the journal does not have, unless its loss was accepted.
pub(crate) fn lost(
    source: &dyn Source,
    noted: &[(NotedIn, NotedHead)],
) -> Result<Option<(NotedIn, NotedHead)>, StoreError> {
    let mut lost: Option<(NotedIn, NotedHead)> = None;
    for (place, head) in noted {
        match standing(source, head)? {
            Standing::Lost if lost.as_ref().is_none_or(|(_, known)| head.batch > known.batch) => {
                lost = Some((place.clone(), *head));
            }
            Standing::OfOthers => return Err(StoreError::OtherBooksNoted { noted_in: place.clone() }),
            _ => {}
        }
    }
    Ok(lost)
}

pub(crate) fn standing(source: &dyn Source, noted: &NotedHead) -> Result<Standing, StoreError> {
    let books = books_of(source)?;
    if let (Some(NoteOrigin { books: noted_books @ 1.., .. }), Some(books)) = (noted.origin, books)
        && noted_books != books
    {
        return Ok(Standing::OfOthers);
    }
    if has(source, noted.batch, &noted.hash)? {
        return Ok(Standing::There);
    }
    // An acceptance names one head, and covers those before it that were noted before it: nodes note at different times.
    let covers = |(batch, loss): &&(u64, AcceptedLoss)| {
        let is_older = noted.origin.is_some_and(|origin| origin.era < *batch);
        loss.head == noted.hash || (is_older && *batch <= noted.batch && noted.batch <= loss.batch)
    };
    let accepted = accepted_losses(source)?;
    Ok(accepted.iter().rfind(covers).map_or(Standing::Lost, |(batch, _)| Standing::Accepted { by: *batch }))
}

/// The beginning of the head of batch 1: it tells books apart.
fn books_of(source: &dyn Source) -> Result<Option<u64>, StoreError> {
    Ok(source.batches_from(1, 1)?.first().map(|(_, head)| beginning(head)))
}

fn beginning(hash: &Hash) -> u64 {
    hash.first_chunk::<8>().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// Whether the journal has this batch, with this head.
pub(crate) fn has(source: &dyn Source, batch: u64, hash: &Hash) -> Result<bool, StoreError> {
    // Asking behind the end is no damage.
    if batch > source.head()?.batch {
        return Ok(false);
    }
    let stored = source.batches_from(batch, 1)?.pop();
    Ok(stored.is_some_and(|(stored, head)| stored.number == batch && head == *hash))
}

/// The accepted losses, each with the batch that records it. Such a batch has one record.
pub(crate) fn accepted_losses(source: &dyn Source) -> Result<Vec<(u64, AcceptedLoss)>, StoreError> {
    let (mut found, mut number) = (Vec::new(), 1);
    loop {
        let batches = source.batches_from(number, PAGE)?;
        let Some((last, _)) = batches.last() else { return Ok(found) };
        number = last.number.saturating_add(1);
        let single = batches.iter().filter(|(batch, _)| batch.count == 1);
        let numbers: BTreeMap<Seq, u64> = single.map(|(batch, _)| (batch.first, batch.number)).collect();
        let places: Vec<Seq> = numbers.keys().copied().collect();
        for (seq, bytes) in source.records(&places)? {
            let record = Record::decode(&bytes).map_err(StoreError::unreadable(seq))?;
            if let (Record::LossAccepted(loss), Some(number)) = (record, numbers.get(&seq)) {
                found.push((*number, loss));
            }
        }
    }
}
