//! `strace`: kills the victim at a chosen system call, lets the call fail, or records all calls.

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Command, Stdio},
};

/// The calls by which SQLite changes files or makes changes durable.
pub const WRITES_AND_SYNCS: [&str; 5] = ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink"];

/// A `strace` command that follows threads; add the rest and the program.
pub fn strace(log: &Path) -> Command {
    let found = Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(
        found.is_ok_and(|status| status.success()),
        "strace is missing: install it with `apt-get install strace` (Debian package strace), or run `cargo xtask test`"
    );
    let mut command = Command::new("strace");
    command.arg("-f").arg("-o").arg(log);
    command
}

/// The books and their logs. Not the shared memory of readers and writers: it is created whenever books are opened.
pub const BOOKS: [&str; 5] = ["books.db", "books.db-wal", "books.db-journal", "books.db.new", "books.db.new-journal"];

/// Only calls on these files of the folder count.
pub fn only_on(command: &mut Command, folder: &Path, files: &[&str]) {
    let folder = folder.canonicalize().unwrap();
    command.args(files.iter().flat_map(|file| ["-P".into(), folder.join(file).into_os_string()]));
}

/// For each system call, the most that one thread made: injections count per thread.
pub fn most_of_a_thread(log: &Path) -> BTreeMap<&'static str, u32> {
    let text = std::fs::read_to_string(log).unwrap();
    let mut counts: BTreeMap<(&str, &'static str), u32> = BTreeMap::new();
    for line in text.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let name = rest.trim_start().split('(').next().unwrap_or_default();
        if let Some(call) = WRITES_AND_SYNCS.into_iter().find(|call| *call == name) {
            *counts.entry((thread, call)).or_default() += 1;
        }
    }
    let mut most = BTreeMap::new();
    for ((_, call), count) in counts {
        let largest = most.entry(call).or_insert(0);
        *largest = count.max(*largest);
    }
    most
}
