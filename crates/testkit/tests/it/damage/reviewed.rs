//! The damages that a review found believed, each exactly as it was found.

use std::{fs, path::Path};

use bankroll_ledger::{AccountId, Seq};
use bankroll_store::{BOOKS_FILE, Reader};
use rusqlite::Connection;

use super::{
    copy_books,
    set::{BooksSet, State},
    verdict::Outcome,
};
use crate::run::report;

const PAGE: usize = 4_096;
/// The first byte of a page that has entries of an index, and of one that names pages of a table.
const INDEX_LEAF: u8 = 10;
const TABLE_INTERIOR: u8 = 5;

/// Damages copies of the books, and interviews each: once opened for writing first, once read first.
fn never_believed(what: &str, state: State, damage: impl Fn(&Path, &BooksSet)) -> Vec<Outcome> {
    let mut set = BooksSet::make();
    let mut outcomes = Vec::new();
    for number in [1, 0] {
        let copy = set.copy(state);
        damage(copy.path(), &set);
        let examination = set.examine(copy.path(), state, number);
        let outcome = examination.outcome;
        assert!(!outcome.is_failure(), "{what}, interview {number}: {outcome}: {}", examination.why);
        report(&format!("damage, reviewed: {what}: {outcome}: {}", examination.why));
        outcomes.push(outcome);
    }
    outcomes
}

/// Changes a file in place.
fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

fn log_of(folder: &Path) -> std::path::PathBuf {
    folder.join("books.db-wal")
}

/// A killed writer leaves its newest batches in the log only.
#[test]
fn damage_that_loses_the_log_is_refused() {
    let refused = |outcomes: Vec<Outcome>| {
        let is_refused = |outcome| matches!(outcome, Outcome::RefusedAtOpen | Outcome::RefusedInUse);
        assert!(outcomes.iter().copied().all(is_refused), "acknowledged records are gone: {outcomes:?}");
    };
    refused(never_believed("the log removed", State::Killed, |folder, _| fs::remove_file(log_of(folder)).unwrap()));
    refused(never_believed("the log empty", State::Killed, |folder, _| change(&log_of(folder), Vec::clear)));
    refused(never_believed("a bit of the log flipped", State::Killed, |folder, _| {
        change(&log_of(folder), |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        });
    }));
}

/// The lowest bit of an account's number in SQLite's index of names: another player's account.
#[test]
fn damage_to_the_index_of_names_gives_no_player_another_account() {
    never_believed("a bit of the index of names", State::Closed, |folder, _| {
        // In the index the number follows the name; in the table it is another byte.
        let id = 101_u8;
        let account = Reader::open(folder).unwrap().account(AccountId(u64::from(id))).unwrap().unwrap();
        let entry: Vec<u8> = account.name.to_string().bytes().chain([id]).collect();
        change(&folder.join(BOOKS_FILE), |bytes| {
            // The root of the index may still have the bytes from when it was a leaf.
            let in_leaf = |place: &usize| bytes[place / PAGE * PAGE] == INDEX_LEAF;
            let places: Vec<usize> = places_of(bytes, &entry).into_iter().filter(in_leaf).collect();
            assert_eq!(places.len(), 1, "the entry of the index");
            bytes[places[0] + entry.len() - 1] ^= 1;
        });
    });
}

fn places_of(bytes: &[u8], part: &[u8]) -> Vec<usize> {
    bytes.windows(part.len()).enumerate().filter(|(_, window)| *window == part).map(|(place, _)| place).collect()
}

/// The keys between the true and the stored end of a run would be in no run, and not be read from the tail.
#[test]
fn damage_to_the_end_of_a_run_of_keys_lets_no_key_be_decided_twice() {
    for by in [5, 1, -1, 1_000_000] {
        never_believed(&format!("key_runs.last_seq changed by {by}"), State::Closed, |folder, _| {
            let newest = "id = (SELECT id FROM key_runs ORDER BY last_seq DESC LIMIT 1)";
            let sql = format!("UPDATE key_runs SET last_seq = last_seq + {by} WHERE {newest}");
            assert_eq!(Connection::open(folder.join(BOOKS_FILE)).unwrap().execute(&sql, []), Ok(1));
        });
    }
}

/// The fingerprint of the key index names the record, and the record has another key, or another body.
#[test]
fn damage_to_a_key_or_body_in_the_journal_lets_no_key_be_decided_twice() {
    for (what, from_end) in [("key", false), ("body", true)] {
        never_believed(&format!("a bit of the {what} of an old record"), State::Closed, |folder, _| {
            let seq = Seq(700);
            let record = Reader::open(folder).unwrap().record(seq).unwrap().unwrap();
            let key = places_of(&record, b"made-")[0];
            // The fourth letter of the key, or the last byte.
            let place = if from_end { record.len() - 1 } else { key + 3 };
            change(&folder.join(BOOKS_FILE), |bytes| {
                let places = places_of(bytes, &record);
                assert_eq!(places.len(), 1, "the record in its table");
                bytes[places[0] + place] ^= 1;
            });
        });
    }
}

/// The numbers of the pages that have the rows of a table, in the order of the rows; page 1 is the first.
fn leaves(folder: &Path, table: &str) -> Vec<usize> {
    let books = Connection::open(folder.join(BOOKS_FILE)).unwrap();
    let root = "SELECT rootpage FROM sqlite_master WHERE name = ?1";
    let root: u32 = books.query_row(root, [table], |row| row.get(0)).unwrap();
    let root = root as usize;
    drop(books);
    let bytes = fs::read(folder.join(BOOKS_FILE)).unwrap();
    let page = &bytes[(root - 1) * PAGE..root * PAGE];
    let number = |place: usize| u32::from_be_bytes(page[place..place + 4].try_into().unwrap()) as usize;
    let short = |place: usize| usize::from(u16::from_be_bytes(page[place..place + 2].try_into().unwrap()));
    // An interior page of a table names its children in its cells, and the last one in its header.
    if page[0] != TABLE_INTERIOR {
        return vec![root];
    }
    (0..short(3)).map(|cell| number(short(12 + 2 * cell))).chain([number(8)]).collect()
}

fn swap(folder: &Path, one: usize, other: usize) {
    change(&folder.join(BOOKS_FILE), |bytes| {
        for place in 0..PAGE {
            bytes.swap((one - 1) * PAGE + place, (other - 1) * PAGE + place);
        }
    });
}

/// Numbers of accounts that do not grow made the audit go on for ever, and the writer miss accounts.
#[test]
fn damage_that_swaps_leaves_of_accounts_ends_no_audit_in_a_loop() {
    never_believed("the last leaf of accounts swapped", State::Closed, |folder, _| {
        let leaves = leaves(folder, "accounts");
        assert!(leaves.len() > 2, "accounts have {} leaves", leaves.len());
        swap(folder, leaves[0], leaves[leaves.len() - 1]);
    });
    never_believed("two other leaves of accounts swapped", State::Closed, |folder, _| {
        let leaves = leaves(folder, "accounts");
        swap(folder, leaves[0], leaves[1]);
    });
}

/// What is derived is made again, when the books are opened or by the command that the message names.
#[test]
fn damage_to_the_key_index_does_not_lock_the_books_for_ever() {
    let mut set = BooksSet::make();
    for (what, leaf_byte) in [("zeroed", None), ("with a wrong type", Some(0)), ("with a wrong cell", Some(9))] {
        let copy = set.copy(State::Closed);
        let leaf = leaves(copy.path(), "key_chunks")[0];
        change(&copy.path().join(BOOKS_FILE), |bytes| {
            let page = &mut bytes[(leaf - 1) * PAGE..leaf * PAGE];
            match leaf_byte {
                None => page.fill(0),
                Some(place) => page[place] ^= 0x70,
            }
        });
        let spare = tempfile::tempdir().unwrap();
        copy_books(copy.path(), spare.path());
        let examination = set.examine_and_follow(copy.path(), spare.path(), State::Closed, 1);
        let (outcome, why) = (examination.outcome, examination.why);
        report(&format!("damage, reviewed: a page of key_chunks {what}: {outcome}: {why}"));
        let repaired = matches!(outcome, Outcome::Repaired | Outcome::Harmless | Outcome::Rebuilt);
        assert!(repaired, "a page of key_chunks {what}: {outcome}: {why}");
    }
}
