//! Only the owner may read the files of books.

use std::{
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    process::Command,
};

use bankroll_ledger::{Asset, Unit};
use bankroll_store::{BOOKS_FILE, LOCK_FILE, Ledger, LedgerOptions, STATEMENTS_FILE};

use crate::world::name;

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode() & 0o777
}

#[test]
fn files_and_folders_of_books_are_for_their_owner_alone() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("server").join("books");
    let ledger = Ledger::create(LedgerOptions::new(&folder)).unwrap();
    let ether = Asset { chain: name("eip155:1"), unit: Unit::Native, decimals: 18, symbol: "ETH".into() };
    ledger.list_asset(ether).unwrap();
    let log = format!("{BOOKS_FILE}-wal");
    let memory = format!("{BOOKS_FILE}-shm");
    for file in [BOOKS_FILE, LOCK_FILE, &log, &memory] {
        assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
    }
    // The index has something to list, and the thread that makes its file has ended when the books are closed.
    ledger.close();
    assert_eq!(mode(&folder.join(STATEMENTS_FILE)), 0o600);
    for folder in [&folder, folder.parent().unwrap()] {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
}

/// The umask belongs to the whole process, so another process runs the test above.
#[test]
fn a_permissive_umask_opens_nothing() {
    let run = Command::new("sh")
        .args(["-c", "umask 0000 && exec \"$0\" --exact files::files_and_folders_of_books_are_for_their_owner_alone"])
        .arg(std::env::current_exe().unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
}

/// A process that closes any descriptor of a file loses all its POSIX locks on it. If the writer lost SQLite's, a program
/// that opens and closes the books, as a shell or a backup does, could believe it is the last one, and delete the log.
#[test]
fn the_writer_keeps_its_lock_on_the_books() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::create(LedgerOptions::new(folder.path())).unwrap();
    let inode = std::fs::metadata(folder.path().join(BOOKS_FILE)).unwrap().ino();
    // The first of the bytes that a connection locks for as long as it is open in WAL mode.
    let (owner, shared) = (std::process::id().to_string(), "1073741826");
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    let is_ours = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let file = format!(":{inode}");
        words.get(1..).is_some_and(|words| {
            words.starts_with(&["POSIX", "ADVISORY", "READ", &owner])
                && words.get(4).is_some_and(|at| at.ends_with(&file))
                && words.get(5) == Some(&shared)
        })
    };
    // Other tests lock and unlock meanwhile, and the list may then name a lock twice.
    assert!(locks.lines().any(|line| is_ours(&line)), "{locks}");
    ledger.close();
}
