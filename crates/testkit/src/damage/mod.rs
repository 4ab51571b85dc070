//! Books to be damaged, and an interview that uses them as their users do.
//!
//! The `examiner` program makes the books, and later interviews a damaged copy of them in a process of its own, whose
//! memory and processor time are bounded. The interview follows from a seed and from undamaged books, so that a test
//! compares its lines with those of an undamaged copy: the first line that differs is an error, or an answer that
//! believed the damage.

mod interview;
mod maker;
mod questions;

use std::{
    fs::OpenOptions,
    os::unix::fs::FileExt,
    path::Path,
    sync::{Arc, atomic::AtomicU64},
};

use bankroll_ledger::Time;
use bankroll_store::{BOOKS_FILE, Clock, LedgerOptions, Location};
use rusqlite::Connection;

pub use interview::{CHECKED, FAILED, FOUND, SAID, SOUND, check, interview};
pub use maker::Maker;

use crate::script::TABLES;

/// Few keys in memory, so that most of them are in runs.
const KEYS_IN_MEMORY: usize = 64;

/// The options for books to be damaged, and the hand that sets their clock.
#[must_use]
pub fn options(location: &Location, now: Time) -> (LedgerOptions, Arc<AtomicU64>) {
    let (clock, hand) = Clock::manual(now);
    let options = LedgerOptions {
        clock,
        keys_in_memory_max: KEYS_IN_MEMORY,
        background_commit_min: 2,
        index_records_max: 200,
        index_pause: std::time::Duration::from_millis(1),
        migrations: vec![TABLES],
        ..LedgerOptions::new(location.clone())
    };
    (options, hand)
}

/// Overwrites the first page of a table or an index of closed books, as a failing disk does.
///
/// # Panics
/// If the folder has no such books.
pub fn spoil_first_page(folder: &Path, what: &str) {
    let path = folder.join(BOOKS_FILE);
    let books = Connection::open(&path).expect("books");
    let sql = "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_master WHERE name = ?1";
    let place = books.query_row(sql, [what], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?)));
    let (page, size) = place.expect("a table or an index");
    drop(books);
    let file = OpenOptions::new().write(true).open(path).expect("a file that can be written");
    file.write_all_at(&[0xff; 512], u64::from(page - 1) * u64::from(size)).expect("a page");
}
