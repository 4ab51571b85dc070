//! A sync that fails: the writer stops at once, answers no caller, and the books open again.
//!
//! After a failed sync it is unknown what is on disk, and a retried sync may lie. So the call in flight is unknown,
//! every later one is refused, and only reopening the books resolves it.

use fastrand::Rng;

use super::{
    examine::{Found, examine, records_in},
    strace::{BOOKS, most_of_a_thread, only_on, strace},
    victim::{Line, Role},
};
use crate::{
    crash::{examine::copy_folder, points::worked_in_folder, soak_time},
    run::{report, seed},
};

#[test]
fn crash_of_the_writer_when_a_sync_fails() {
    let time = soak_time();
    for round in time.rounds(1) {
        let role = Role::usual(seed().wrapping_add(round));
        let clean = worked_in_folder(&role);
        let records_before = records_in(clean.path());
        let run = |fault: Option<&str>| {
            let folder = tempfile::tempdir().unwrap();
            copy_folder(clean.path(), folder.path());
            let log = tempfile::NamedTempFile::new().unwrap();
            let mut tracer = strace(log.path());
            only_on(&mut tracer, folder.path(), &BOOKS);
            tracer.args(["-e", "trace=fsync,fdatasync"]);
            tracer.args(fault.iter().flat_map(|fault| ["-e", fault]));
            (role.run_under(tracer, folder.path()), folder, log)
        };
        let (lines, _, log) = run(None);
        assert!(lines.contains(&Line::Closed));
        // The last syncs belong to closing, when every caller has been answered.
        let syncs = most_of_a_thread(log.path()).into_values().max().unwrap();
        let mut numbers: Vec<u32> = (1..syncs).collect();
        Rng::with_seed(role.seed).shuffle(&mut numbers);
        let (mut found, mut stopped, mut refused) = (Found::default(), 0, 0);
        for (tried, number) in numbers.into_iter().enumerate() {
            if tried >= 10 && time.is_up() {
                break;
            }
            let what = format!("seed {}, sync {number} failed", role.seed);
            let (lines, folder, log) = run(Some(&format!("inject=fsync,fdatasync:error=EIO:when={number}")));
            if !std::fs::read_to_string(log.path()).unwrap().contains("INJECTED") {
                // The threads shared the work differently this time, and there were fewer syncs.
                continue;
            }
            stopped += u32::from(check_stop(&lines, &what));
            refused += lines.iter().filter(|line| matches!(line, Line::Stopped { .. })).count();
            found.add(examine(folder.path(), &role, &lines, records_before, &what));
        }
        assert!(stopped > 0 && refused > 0, "no failed sync met a caller");
        report(&format!(
            "crash by failed sync (seed {}): {stopped} writers stopped at one of {syncs} syncs, {refused} later calls \
             refused; {found}",
            role.seed
        ));
    }
}

/// A background thread makes checkpoints. When one fails the writer stops at its next commit, if there is one; in any
/// case everything is still in the log.
#[test]
fn crash_of_the_writer_when_a_checkpoint_fails() {
    let role = Role { ballast_mebibytes: 18, ..Role::usual(seed()) };
    let clean = worked_in_folder(&Role { ballast_mebibytes: 0, ..role });
    let records_before = records_in(clean.path());
    let (mut found, mut stopped) = (Found::default(), 0);
    for fault in ["fsync,fdatasync:error=EIO:when=1", "pwrite64:error=EIO:when=100"] {
        let what = format!("seed {}, {fault} while the log is copied back", role.seed);
        let folder = tempfile::tempdir().unwrap();
        copy_folder(clean.path(), folder.path());
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut tracer = strace(log.path());
        only_on(&mut tracer, folder.path(), &["books.db"]);
        let calls = fault.split(':').next().unwrap();
        tracer.args(["-e", &format!("trace={calls}"), "-e", &format!("inject={fault}")]);
        let lines = role.run_under(tracer, folder.path());
        assert!(std::fs::read_to_string(log.path()).unwrap().contains("INJECTED"), "{what}: it did not fail");
        stopped += u32::from(check_stop(&lines, &what));
        found.add(examine(folder.path(), &role, &lines, records_before, &what));
    }
    report(&format!("crash by failed copying back (seed {}): {stopped} writers stopped in time; {found}", role.seed));
}

/// Whether callers were affected; if so, nothing may have been acknowledged after the first unknown outcome.
fn check_stop(lines: &[Line], what: &str) -> bool {
    let unknown = lines.iter().position(|line| matches!(line, Line::Unknown { .. } | Line::Stopped { .. }));
    let Some(unknown) = unknown else {
        // It failed when the books were being closed: every caller had been answered.
        return false;
    };
    // Another thread may have received its answer from an earlier commit without having printed it yet.
    let begun_before = |thread: u64, call: u64| lines[..unknown].contains(&Line::Begin { thread, call });
    for line in &lines[unknown..] {
        match line {
            Line::Done { thread, call, .. } => {
                assert!(begun_before(*thread, *call), "{what}: acknowledged after the writer had stopped: {line:?}");
            }
            Line::Full { .. } | Line::Other(_) => panic!("{what}: {line:?}"),
            _ => {}
        }
    }
    true
}
