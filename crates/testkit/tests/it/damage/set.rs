//! The books to be damaged, made once for a suite: closed, killed with a log, and of yesterday.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

use bankroll_store::{Audit, Ledger, Location, Reader};
use bankroll_testkit::damage::options;
use tempfile::TempDir;

use super::{
    copy_books,
    verdict::{Examination, Truth, examine},
};

/// How the last writer left the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    Closed,
    /// Killed: the newest batches are in the log only.
    Killed,
}

/// Interviews differ by this many seeds, so that most of their truths are known already.
const INTERVIEWS: u64 = 6;

pub struct BooksSet {
    folder: TempDir,
    truths: HashMap<(State, u64), Truth>,
}

impl BooksSet {
    pub fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let set = Self { folder, truths: HashMap::new() };
        let killed = set.path(State::Killed);
        let mut maker = MakerProcess::start(killed.to_str().unwrap());
        maker.expect("closed");
        copy_books(&killed, &set.yesterday());
        maker.go_on();
        maker.expect("open");
        std::fs::copy(killed.join("books.db-wal"), set.older_log()).unwrap();
        maker.go_on();
        maker.expect("ready");
        maker.kill();
        let closed = set.path(State::Closed);
        copy_books(&killed, &closed);
        let head = Reader::open(closed.as_path()).unwrap().head().unwrap();
        Ledger::open(options(&Location::from(closed.as_path()), head.at).0).unwrap().close();
        Audit::new(Reader::open(closed.as_path()).unwrap()).run(|_| {}).unwrap();
        set
    }

    pub fn path(&self, state: State) -> PathBuf {
        self.folder.path().join(format!("{state:?}"))
    }

    /// The folder as it was hundreds of batches before, closed.
    pub fn yesterday(&self) -> PathBuf {
        self.folder.path().join("yesterday")
    }

    /// The log as it was hundreds of batches before.
    pub fn older_log(&self) -> PathBuf {
        self.folder.path().join("older-log")
    }

    /// A copy to be damaged.
    pub fn copy(&self, state: State) -> TempDir {
        let copy = tempfile::tempdir().unwrap();
        copy_books(&self.path(state), copy.path());
        copy
    }

    /// Interviews a damaged copy.
    pub fn examine(&mut self, damaged: &Path, state: State, number: u64) -> Examination {
        // The questions are read from closed books: reading those with a log would need locks.
        let (undamaged, seed) = (self.path(State::Closed), number % INTERVIEWS);
        if !self.truths.contains_key(&(state, seed)) {
            let copy = self.copy(state);
            let truth = Truth::of(copy.path().to_str().unwrap(), undamaged.to_str().unwrap(), seed);
            self.truths.insert((state, seed), truth);
        }
        examine(damaged.to_str().unwrap(), undamaged.to_str().unwrap(), seed, &self.truths[&(state, seed)])
    }
}

impl BooksSet {
    /// Interviews a damaged copy; if its message advises to rebuild, the spare copy follows that.
    pub fn examine_and_follow(&mut self, damaged: &Path, spare: &Path, state: State, number: u64) -> Examination {
        let found = self.examine(damaged, state, number);
        if !found.advises_rebuild() {
            return found;
        }
        found.follow_advice(spare.to_str().unwrap(), || self.examine(spare, state, number))
    }
}

/// The process that makes books.
pub struct MakerProcess {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl MakerProcess {
    pub fn start(location: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_examiner"));
        let mut child = command.args(["make", location]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Waits for a step.
    pub fn expect(&mut self, step: &str) {
        assert_eq!(self.lines.next().unwrap().unwrap(), step);
    }

    pub fn go_on(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Lets it close the books.
    pub fn finish(mut self) {
        self.go_on();
        assert!(self.child.wait().unwrap().success());
    }
}
