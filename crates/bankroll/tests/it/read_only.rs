//! Books that can be read and not written: copies of auditors, read-only disks, folders of another user.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, symlink},
        process::CommandExt,
    },
    path::Path,
    process::Command,
};

use bankroll_ledger::Principal;
use bankroll_store::{Ledger, LedgerOptions};
use tempfile::TempDir;

use crate::{
    casino,
    program::{Run, command, folder},
};

/// A folder that this user, or the other one if this is root, can only read.
struct Frozen(TempDir);

impl Frozen {
    fn new(copy: TempDir) -> Self {
        for file in fs::read_dir(copy.path()).unwrap() {
            set_mode(&file.unwrap().path(), 0o444);
        }
        set_mode(copy.path(), 0o555);
        Self(copy)
    }

    fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = names.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        set_mode(self.0.path(), 0o755);
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Root may write everywhere, so it reads as another user.
fn read(folder: &Path, args: &[&str]) -> Run {
    let mut reader = command(folder);
    if fs::metadata(folder).unwrap().uid() == 0 {
        reader.uid(65_534).gid(65_534);
    }
    let output = reader.args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Books with nine records in their file, and a tenth in the log of the writer that holds them.
fn books_with_a_log() -> (TempDir, Ledger) {
    let books = folder();
    casino::open(books.path());
    let ledger = Ledger::open(LedgerOptions::new(books.path())).unwrap();
    let bob = "arena/funds/1/0xb2".parse().unwrap();
    ledger.open_accounts(&Principal::System, vec![bob]).unwrap()[0].unwrap();
    (books, ledger)
}

/// By another process: closing a file of the books would release this process's locks on it.
fn copy(books: &Path, files: &[&str]) -> TempDir {
    let copy = folder();
    for file in files {
        assert!(Command::new("cp").arg(books.join(file)).arg(copy.path()).status().unwrap().success());
    }
    copy
}

/// The audit sees all ten records, every reading command works, and nothing is written.
fn check(copy: TempDir) {
    let copy = Frozen::new(copy);
    let before = copy.files();
    let text = read(copy.0.path(), &["audit"]).ok();
    assert!(text.contains("10 records in"), "{before:?}: {text}");
    for args in [
        &["accounts", "list"][..],
        &["balance", "arena/world/1"],
        &["statement", "arena/world/1"],
        &["explain", "=spawn"],
        &["search", "--wallet", "0xa1"],
        &["export"],
    ] {
        read(copy.0.path(), args).ok();
    }
    assert_eq!(copy.files(), before);
}

#[test]
fn a_read_only_copy_of_closed_books_is_audited() {
    let (books, ledger) = books_with_a_log();
    ledger.close();
    check(copy(books.path(), &["books.db"]));
    check(copy(books.path(), &["books.db", "books.lock", "statements.db"]));
    let with_an_empty_log = copy(books.path(), &["books.db"]);
    fs::write(with_an_empty_log.path().join("books.db-wal"), "").unwrap();
    check(with_an_empty_log);
}

/// Without its log the file has nine records: an answer from it alone would be wrong.
#[test]
fn a_read_only_copy_with_a_left_over_log_is_audited_with_what_is_in_the_log() {
    let (books, ledger) = books_with_a_log();
    check(copy(books.path(), &["books.db", "books.db-wal"]));
    check(copy(books.path(), &["books.db", "books.db-wal", "books.lock"]));
    check(copy(books.path(), &["books.db", "books.db-wal", "books.db-shm"]));
    ledger.close();
}

/// The log is next to the file, and not next to the link.
#[test]
fn a_link_to_read_only_books_with_a_left_over_log_is_audited_with_what_is_in_the_log() {
    let (books, ledger) = books_with_a_log();
    let copy = Frozen::new(copy(books.path(), &["books.db", "books.db-wal"]));
    let link = folder();
    symlink(copy.0.path().join("books.db"), link.path().join("books.db")).unwrap();
    check(link);
    ledger.close();
}

#[test]
fn live_books_that_cannot_be_read_beside_their_writer_are_refused() {
    let (books, ledger) = books_with_a_log();
    for (file, mode) in
        [("books.db", 0o644), ("books.db-wal", 0o644), ("books.lock", 0o644), ("books.db-shm", 0), (".", 0o555)]
    {
        set_mode(&books.path().join(file), mode);
    }
    read(books.path(), &["audit"]).fails(1, &["is being written to", "run this as the writer's user"]);
    set_mode(books.path(), 0o755);
    ledger.close();
}
