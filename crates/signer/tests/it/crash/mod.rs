//! The real process, killed at each write and each sync of its memory, with a full disk, and with syncs that fail.
//!
//! Always: no intent has two payments, no nonce two meanings, every answer is in the memory, and the newest head of a
//! caller is in the memory.

mod script;
mod strace;

use std::{collections::BTreeMap, fs, path::Path};

use bankroll_orders::SignerRefusal;
use bankroll_signer::memory::MemorySnapshot;
use fastrand::Rng;
use tempfile::TempDir;

use crate::{
    process::{Running, folder, memory_of, run},
    world::{Soak, print_line, seed},
};
use script::{Script, ScriptOutcome};
use strace::{most_of_a_thread, strace_answers, strace_on_memory, syncs_before_answers};

/// The number of points in a run; in a soak, as many as the time allows.
const POINTS: usize = 36;

#[test]
fn crash_at_each_write_and_sync() {
    let points = points(&folder(), &[]);
    let (mut counts, mut tried) = (BTreeMap::new(), 0);
    for (call, number) in chosen(&points, POINTS) {
        tried += 1;
        let folder = folder();
        let script = Script::run(&folder, call, &format!("signal=SIGKILL:when={number}"), &[]);
        if script.is_whole() {
            // Another thread made the call this time.
            continue;
        }
        *counts.entry(call).or_insert(0) += 1;
        script.check(folder.path(), &format!("killed at {call} {number}"));
    }
    print_line(&format!("signer killed at {counts:?} of {points:?} (seed {})", seed()));
    // Of those tried: how many a soak can try in its time depends on the machine.
    assert!(tried > 0 && counts.values().sum::<u32>() * 4 >= tried, "hardly anything was killed");
}

/// A power loss keeps only synced data: the promise and the transaction are each synced before the answer is sent.
#[test]
fn crash_of_the_power_keeps_both_entries_on_disk() {
    let (folder, log) = (folder(), tempfile::NamedTempFile::new().unwrap());
    let script = Script::run_under(strace_answers(log.path()), folder.path(), &[]);
    assert!(script.is_whole());
    // The status needs no sync; the first signature needs two more, for the log that SQLite begins.
    assert_eq!(script.answered(), 8);
    assert_eq!(syncs_before_answers(log.path())[..9], [0, 4, 2, 2, 2, 2, 2, 2, 2]);
}

#[test]
fn crash_while_a_memory_is_created() {
    let bare = || {
        let folder = folder();
        fs::remove_file(memory_of(folder.path())).unwrap();
        folder
    };
    let points = points(&bare(), &["--new-memory"]);
    let mut counts = BTreeMap::new();
    for (call, number) in chosen(&points, POINTS / 2) {
        let folder = bare();
        let script = Script::run(&folder, call, &format!("signal=SIGKILL:when={number}"), &["--new-memory"]);
        if script.is_whole() {
            continue;
        }
        *counts.entry(call).or_insert(0) += 1;
        let what = format!("killed at {call} {number} while the memory was begun");
        if let Err(said) = Running::start_under(None, folder.path(), &[]) {
            // Nothing was created or answered: the operator starts it again the same way.
            assert!(said.contains("there is no memory") && script.answered() == 0, "{what}: {said}");
            Running::start_under(None, folder.path(), &["--new-memory"]).unwrap().end();
        }
        script.check(folder.path(), &what);
    }
    print_line(&format!("signer killed while its memory was created at {counts:?} of {points:?} (seed {})", seed()));
    assert!(!counts.is_empty());
}

#[test]
fn crash_free_refusal_when_the_disk_is_full() {
    let points = points(&folder(), &[]);
    let (mut refused, mut tried) = (0, 0);
    for (call, number) in chosen(&points, POINTS).filter(|(call, _)| *call == "pwrite64") {
        let folder = folder();
        let fault =
            format!("error=ENOSPC:when={number}..{}", number + Rng::with_seed(seed() ^ u64::from(number)).u32(0..6));
        let script = Script::run(&folder, call, &fault, &[]);
        tried += 1;
        refused += script.outcomes().filter(|said| **said == ScriptOutcome::Refused(SignerRefusal::MemoryFull)).count();
        // A full disk is a refusal, never an unknown outcome.
        assert!(!script.outcomes().any(|said| *said == ScriptOutcome::Unknown), "{fault}");
        script.check(folder.path(), &format!("full at write {number}"));
    }
    print_line(&format!(
        "signer with a full disk at {tried} places, {refused} requests refused for it (seed {})",
        seed()
    ));
    assert!(refused > 0, "no request was refused for a full disk");
}

#[test]
fn crash_after_a_sync_that_failed() {
    let points = points(&folder(), &[]);
    let mut unknown = 0;
    for (call, number) in chosen(&points, POINTS).filter(|(call, _)| ["fsync", "fdatasync"].contains(call)) {
        let folder = folder();
        let script = Script::run(&folder, call, &format!("error=EIO:when={number}"), &[]);
        // The content of the disk is unknown: the signer neither signs nor refuses, and ends by itself.
        if script.outcomes().any(|said| *said == ScriptOutcome::Unknown) {
            unknown += 1;
            assert!(script.last_words.contains("the memory failed"), "{}", script.last_words);
        }
        script.check(folder.path(), &format!("sync {number} failed"));
    }
    print_line(&format!("signer with failing syncs: {unknown} requests with an unknown outcome (seed {})", seed()));
    assert!(unknown > 0, "no sync failed in the middle of a request");
}

#[test]
fn crash_in_a_loop() {
    let folder = folder();
    let mut rng = Rng::with_seed(seed());
    let mut script = Script::new();
    let mut rounds = 0;
    for _ in Soak::unless_soaking(6).seeds() {
        let running = Running::start(folder.path());
        script.go_on_and_kill(running, rng.usize(0..6));
        rounds += 1;
    }
    script.check(folder.path(), &format!("seed {}, killed {rounds} times", seed()));
    print_line(&format!(
        "signer killed {rounds} times in a row, {} requests answered (seed {})",
        script.answered(),
        seed()
    ));
}

#[test]
fn crash_is_not_needed_to_refuse_a_second_process() {
    let folder = folder();
    let first = Running::start(folder.path());
    let (code, out, said) = run(&["run"], folder.path());
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(said.contains("in use by another process"), "{said}");
    // Nor under another name.
    let other = self::folder();
    fs::remove_file(memory_of(other.path())).unwrap();
    fs::hard_link(memory_of(folder.path()), memory_of(other.path())).unwrap();
    let (code, _, said) = run(&["run"], other.path());
    assert!(code == 1 && said.contains("in use by another process"), "{said}");
    // The memory can be read meanwhile, as `bankroll signer show` does.
    assert_eq!(MemorySnapshot::read(&memory_of(folder.path()), 1).unwrap().head.count, 1);
    first.kill();
    assert!(Running::start(folder.path()).end().success());
}

/// The calls of one thread in a run without faults.
fn points(folder: &TempDir, args: &[&str]) -> BTreeMap<&'static str, u32> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let script = Script::run_under(strace_on_memory(log.path(), folder.path(), None), folder.path(), args);
    assert!(script.is_whole(), "the script came to no end");
    most_of_a_thread(log.path())
}

/// Points in random order, as many syncs as writes; in a soak, while there is time.
fn chosen(points: &BTreeMap<&'static str, u32>, usual: usize) -> impl Iterator<Item = (&'static str, u32)> {
    let mut rng = Rng::with_seed(seed());
    let all = points.iter().flat_map(|(call, count)| (1..=*count).map(move |number| (*call, number)));
    let (mut writes, mut others): (Vec<_>, Vec<_>) = all.partition(|(call, _)| *call == "pwrite64");
    rng.shuffle(&mut writes);
    rng.shuffle(&mut others);
    let later = writes.split_off(writes.len().min(others.len()));
    let both = writes.into_iter().zip(others).flat_map(|(write, other)| [write, other]);
    let soak = Soak::unless_soaking(usual);
    both.chain(later).enumerate().take_while(move |(tried, _)| soak.goes_on(*tried)).map(|(_, point)| point)
}

/// The memory's files, as SQLite names them.
fn files(folder: &Path) -> [std::path::PathBuf; 3] {
    ["memory.db", "memory.db-wal", "memory.db-journal"].map(|file| folder.canonicalize().unwrap().join(file))
}
