//! The files of a victim after its end, compared with the answers that it got.

use std::path::Path;

use bankroll_ledger::{Record, Seq, Verdict};
use bankroll_store::{Audit, BOOKS_FILE, Ledger, Reader};
use bankroll_testkit::script::{SET_UP_RECORDS, Script, VictimAnswer, options, set_up};

use super::victim::{Line, Role};

/// The findings of one or many examinations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Acknowledged requests, each repeated.
    pub acknowledged: u64,
    /// Calls that had begun without an answer, and were applied completely.
    pub whole: u64,
    /// Calls that had begun without an answer, and were not applied.
    pub absent: u64,
    pub lost: u64,
    pub half_done: u64,
}

impl Found {
    pub fn add(&mut self, other: Self) {
        self.acknowledged += other.acknowledged;
        self.whole += other.whole;
        self.absent += other.absent;
        self.lost += other.lost;
        self.half_done += other.half_done;
    }
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { acknowledged, whole, absent, lost, half_done } = self;
        write!(
            f,
            "acknowledged requests checked: {acknowledged}; calls in flight: {whole} there, {absent} not; lost: {lost}; \
             half done: {half_done}"
        )
    }
}

/// Opens the books and compares them with the lines of the victim, which started with so many records.
pub fn examine(folder: &Path, role: &Role, lines: &[Line], records_before: u64, what: &str) -> Found {
    let ledger = Ledger::open_or_create(options(folder.to_str().unwrap(), role.keys_in_memory))
        .unwrap_or_else(|error| panic!("{what}: the books do not open: {error:?}"));
    let reader = Reader::open(folder).unwrap();
    let records = reader.head().unwrap().seq.0;
    set_up(&ledger).unwrap();
    let mut found = Found::default();
    let mut present = 0;
    for thread in 0..role.threads {
        present += examine_thread(&ledger, &mut Script::new(role.seed, thread), thread, lines, &mut found, what);
    }
    assert_eq!((found.lost, found.half_done), (0, 0), "{what}: {found}");
    if present > 0 {
        let expected = records_before.max(SET_UP_RECORDS) + present;
        assert_eq!(records, expected, "{what}: the journal has a record that no caller requested");
    }
    check_rows(folder, &reader, lines, what);
    ledger.close();
    let audited = Audit::new(Reader::open(folder).unwrap()).run(|_| {});
    assert!(audited.is_ok(), "{what}: {:?}", audited.err());
    found
}

/// Repeats all requests of an earlier victim.
pub fn examine_again(folder: &Path, role: &Role, lines: &[Line]) -> Found {
    let ledger = Ledger::open(options(folder.to_str().unwrap(), role.keys_in_memory)).unwrap();
    let mut found = Found::default();
    for thread in 0..role.threads {
        examine_thread(&ledger, &mut Script::new(role.seed, thread), thread, lines, &mut found, "later");
    }
    found
}

/// Repeats all requests of one thread; returns how many of them were in the journal.
pub fn examine_thread(
    ledger: &Ledger,
    script: &mut Script,
    thread: u64,
    lines: &[Line],
    found: &mut Found,
    what: &str,
) -> u64 {
    let mut present = 0;
    let done = lines.iter().filter_map(|line| match line {
        Line::Done { thread: of, call, answers } if *of == thread => Some((*call, answers)),
        _ => None,
    });
    for ((call, answers), expected) in done.zip(1..) {
        assert_eq!(call, expected, "{what}: the victim's lines are not in order");
        let requests = script.call();
        let again: Vec<VictimAnswer> =
            ledger.submit(requests).unwrap().wait().unwrap().iter().map(VictimAnswer::from).collect();
        assert_eq!(again.len(), answers.len());
        for (again, answers) in again.iter().zip(answers) {
            found.acknowledged += 1;
            present += 1;
            let kept = again.replayed && again.seq == answers.seq && again.outcome == answers.outcome;
            if !kept {
                found.lost += 1;
                println!("{what}: thread {thread} was answered {answers} in call {call}, and now {again}");
            }
        }
        script.learn(answers);
    }
    let begun = lines.iter().filter(|line| matches!(line, Line::Begin { thread: of, .. } if *of == thread)).count();
    if begun == 0 {
        return present;
    }
    // The call after the last answer: in flight if it had begun, and harmless if not.
    let again = ledger.submit(script.call()).unwrap().wait().unwrap();
    let replayed = again.iter().filter(|answer| answer.replayed).count();
    if replayed == again.len() {
        found.whole += 1;
    } else if replayed == 0 {
        found.absent += 1;
    } else {
        found.half_done += 1;
    }
    present + replayed as u64
}

/// Facts and events were stored with the money: one row for each fact, one announcement for each event.
fn check_rows(folder: &Path, reader: &Reader, lines: &[Line], what: &str) {
    let (mut facts, mut events) = (0, 0);
    for seq in 1..=reader.head().unwrap().seq.0 {
        let bytes = reader.record(Seq(seq)).unwrap().unwrap();
        if let Record::Decided { request, verdict: Verdict::Applied(_) } = Record::decode(&bytes).unwrap() {
            facts += request.facts.len();
            events += request.events.len();
        }
    }
    let books = rusqlite::Connection::open(folder.join(BOOKS_FILE)).unwrap();
    let count = |sql: &str| books.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM deposits") as usize, facts, "{what}: rows of facts");
    assert_eq!(reader.events_after(Seq(0), usize::MAX).unwrap().len(), events, "{what}: announcements");
    for line in lines {
        if let Line::Noted(id) = line {
            let kept = books.query_row("SELECT count(*) FROM notes WHERE id = ?1", [id], |row| row.get::<_, u32>(0));
            assert_eq!(kept, Ok(1), "{what}: the row {id} was acknowledged");
        }
    }
}

/// Copies a folder of books, so that one state can be tried many times.
pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// The number of records in a folder of books. Opens a copy.
pub fn records_in(folder: &Path) -> u64 {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(folder, copy.path());
    Reader::open(copy.path()).unwrap().head().unwrap().seq.0
}

/// Chunks of the key index that no run refers to, left by an interrupted flush or merge. Opens a copy, so that the
/// examination is the first to open the books themselves.
pub fn orphaned_chunks(folder: &Path) -> u32 {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(folder, copy.path());
    let books = rusqlite::Connection::open(copy.path().join(BOOKS_FILE)).unwrap();
    let sql = "SELECT count(*) FROM key_chunks WHERE NOT EXISTS (SELECT * FROM key_runs
               WHERE key_chunks.id >= first_chunk AND key_chunks.id < first_chunk + chunks)";
    books.query_row(sql, [], |row| row.get(0)).unwrap_or(0)
}
