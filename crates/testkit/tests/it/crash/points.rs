//! The victim killed at each write and each sync: while it works, while books are created, while they are recovered.

use std::{collections::BTreeMap, path::Path};

use fastrand::Rng;
use tempfile::TempDir;

use super::{
    examine::{Found, copy_folder, examine, orphaned_chunks, records_in},
    strace::{BOOKS, WRITES_AND_SYNCS, most_of_a_thread, only_on, strace},
    victim::{Line, Role},
};
use crate::{
    crash::soak_time,
    run::{SoakTime, report, seed},
};

#[test]
fn crash_at_each_write_and_sync_of_a_run_with_flushes_and_merges() {
    let time = soak_time();
    let campaign = |round: u64| {
        let role = Role::usual(seed().wrapping_add(round));
        let before = worked_in_folder(&role);
        let (before, records_before) = (Some(before.path()), records_in(before.path()));
        Campaign { name: "running", role, before, records_before, earlier: None, files: &BOOKS }.run(150, &time)
    };
    let rounds = time.rounds(1).map(campaign).collect::<Vec<_>>();
    // A background thread flushes, so whether a point falls into a flush is random: few do.
    let further = (0..ROUNDS_MORE).map(|more| campaign(rounds.len() as u64 + more));
    let interrupted = rounds.iter().copied().chain(further).find(|interrupted| *interrupted > 0);
    assert!(interrupted.is_some(), "no point hit a flush or merge of the key index");
}

/// Additional rounds until a point falls into a flush.
const ROUNDS_MORE: u64 = 5;

#[test]
fn crash_while_new_books_are_made() {
    let time = soak_time();
    for round in time.rounds(1) {
        let role = Role { threads: 1, calls: 2, ..Role::usual(seed().wrapping_add(round)) };
        Campaign { name: "new books", role, before: None, records_before: 0, earlier: None, files: &BOOKS }
            .run(60, &time);
    }
}

#[test]
fn crash_while_books_are_recovered() {
    let time = soak_time();
    for round in time.rounds(1) {
        let role = Role::usual(seed().wrapping_add(round));
        let clean = worked_in_folder(&role);
        let records_before = records_in(clean.path());
        let (before, earlier) = kill_before_a_checkpoint(&role, clean.path());
        // Only opens and closes: every write belongs to the recovery.
        let opening = Role { threads: 0, ..role };
        let earlier = Some((role, earlier));
        Campaign {
            name: "recovery",
            role: opening,
            before: Some(before.path()),
            records_before,
            earlier,
            files: &BOOKS,
        }
        .run(60, &time);
    }
}

/// Rebuilt while the books are opened (its summaries are damaged), or in the middle of a batch (its chunks are).
#[test]
fn crash_while_a_damaged_key_index_is_rebuilt() {
    let time = soak_time();
    for round in time.rounds(1) {
        for damage in ["UPDATE key_runs SET summary = x''", "UPDATE key_chunks SET data = x''"] {
            let role = Role::usual(seed().wrapping_add(round));
            let before = worked_in_folder(&role);
            let books = rusqlite::Connection::open(before.path().join(bankroll_store::BOOKS_FILE)).unwrap();
            books.execute_batch(damage).unwrap();
            drop(books);
            let (before, records_before) = (Some(before.path()), records_in(before.path()));
            Campaign { name: "index rebuilt", role, before, records_before, earlier: None, files: &BOOKS }
                .run(40, &time);
        }
    }
}

#[test]
fn crash_during_a_checkpoint() {
    let time = soak_time();
    for round in time.rounds(1) {
        let role = Role { ballast_mebibytes: 18, ..Role::usual(seed().wrapping_add(round)) };
        let before = worked_in_folder(&Role { ballast_mebibytes: 0, ..role });
        let records_before = records_in(before.path());
        let files = &["books.db"];
        let campaign =
            Campaign { name: "copying back", role, before: Some(before.path()), records_before, earlier: None, files };
        campaign.run(6, &time);
    }
}

/// One way to run the victim, which is killed at many points.
pub struct Campaign<'a> {
    pub name: &'static str,
    pub role: Role,
    /// The folder before the victim starts.
    pub before: Option<&'a Path>,
    pub records_before: u64,
    /// The lines of an earlier victim.
    pub earlier: Option<(Role, Vec<Line>)>,
    /// The files whose writes and syncs are points.
    pub files: &'a [&'static str],
}

impl Campaign<'_> {
    /// Kills the victim at so many of its points, and in a soak at as many as the time allows; returns how often a
    /// flush or merge was interrupted.
    pub fn run(&self, usual: usize, time: &SoakTime) -> u32 {
        let points = self.points();
        let chosen = self.shuffled(&points, usual);
        let (mut found, mut interrupted, mut killed) = (Found::default(), 0, BTreeMap::new());
        for (tried, (call, number)) in chosen.into_iter().enumerate() {
            if tried >= usual && time.is_up() {
                break;
            }
            let (folder, lines) = self.attempt(call, &format!("signal=SIGKILL:when={number}"));
            if lines.contains(&Line::Closed) {
                // The threads shared the work differently this time, and none reached the point.
                continue;
            }
            *killed.entry(call).or_insert(0_u64) += 1;
            interrupted += u32::from(orphaned_chunks(folder.path()) > 0);
            let what = format!("seed {}, {}, killed at {call} {number}", self.role.seed, self.name);
            let (role, lines) = self.earlier.as_ref().map_or((&self.role, &lines), |(role, earlier)| (role, earlier));
            found.add(examine(folder.path(), role, lines, self.records_before, &what));
        }
        let counts: Vec<String> = killed.iter().map(|(call, count)| format!("{call} {count}")).collect();
        report(&format!(
            "crash points ({}, seed {}): {} of {points:?}; {interrupted} in a flush or merge; {found}",
            self.name,
            self.role.seed,
            counts.join(", "),
        ));
        assert!(killed.values().sum::<u64>() > 0, "nothing was killed");
        interrupted
    }

    fn attempt(&self, call: &str, fault: &str) -> (TempDir, Vec<Line>) {
        let folder = tempfile::tempdir().unwrap();
        if let Some(before) = self.before {
            copy_folder(before, folder.path());
        }
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut tracer = strace(log.path());
        only_on(&mut tracer, folder.path(), self.files);
        tracer.args(["-e", &format!("trace={call}"), "-e", &format!("inject={call}:{fault}")]);
        let lines = self.role.run_under(tracer, folder.path());
        (folder, lines)
    }

    /// The number of points by system call.
    fn points(&self) -> BTreeMap<&'static str, u32> {
        let folder = tempfile::tempdir().unwrap();
        if let Some(before) = self.before {
            copy_folder(before, folder.path());
        }
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut tracer = strace(log.path());
        only_on(&mut tracer, folder.path(), self.files);
        tracer.args(["-e", &format!("trace={}", WRITES_AND_SYNCS.join(","))]);
        let lines = self.role.run_under(tracer, folder.path());
        assert!(lines.contains(&Line::Closed), "the victim came to no end: {lines:?}");
        most_of_a_thread(log.path())
    }

    /// All points in random order; the first have two writes for each other call.
    fn shuffled(&self, points: &BTreeMap<&'static str, u32>, first: usize) -> Vec<(&'static str, u32)> {
        let all = points.iter().flat_map(|(call, count)| (1..=*count).map(|number| (*call, number)));
        let (mut writes, mut others): (Vec<_>, Vec<_>) = all.partition(|(call, _)| *call == "pwrite64");
        let mut rng = Rng::with_seed(self.role.seed);
        rng.shuffle(&mut writes);
        rng.shuffle(&mut others);
        let later_writes = writes.split_off(writes.len().min(first * 2 / 3));
        let later_others = others.split_off(others.len().min(first / 3));
        [writes, others, later_writes, later_others].concat()
    }
}

/// Books that a victim has used before, closed, with an empty log.
pub fn worked_in_folder(role: &Role) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let earlier = Role { seed: role.seed ^ 0xffff, ..*role };
    for role in [earlier, Role { threads: 0, ..earlier }] {
        assert!(role.run(folder.path()).contains(&Line::Closed));
    }
    // A merge that still read the books may have prevented the checkpoint.
    let books = rusqlite::Connection::open(folder.path().join(bankroll_store::BOOKS_FILE)).unwrap();
    books.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    folder
}

/// Lets a victim work in a copy of the folder and kills it when its checkpoint begins. (While a merge still reads the
/// books there is no checkpoint; then the log just stays.)
pub fn kill_before_a_checkpoint(role: &Role, clean: &Path) -> (TempDir, Vec<Line>) {
    let folder = tempfile::tempdir().unwrap();
    copy_folder(clean, folder.path());
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut tracer = strace(log.path());
    only_on(&mut tracer, folder.path(), &["books.db"]);
    tracer.args(["-e", "trace=pwrite64", "-e", "inject=pwrite64:signal=SIGKILL:when=1"]);
    let lines = role.run_under(tracer, folder.path());
    assert!(lines.iter().any(|line| matches!(line, Line::Done { .. })), "the victim was killed before it did anything");
    let left = std::fs::metadata(folder.path().join("books.db-wal")).map(|log| log.len());
    assert!(left.is_ok_and(|length| length > 0), "the log was copied back");
    (folder, lines)
}
