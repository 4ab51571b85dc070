//! A disk that is full for a while: callers are refused, nothing is lost, and afterwards the writer continues.

use std::path::Path;

use fastrand::Rng;
use tempfile::TempDir;

use super::{
    examine::{Found, copy_folder, examine, records_in},
    points::{kill_before_a_checkpoint, worked_in_folder},
    strace::{BOOKS, most_of_a_thread, only_on, strace},
    victim::{Line, Role},
};
use crate::{
    crash::soak_time,
    run::{report, seed},
};

#[test]
fn crash_of_nothing_when_the_disk_is_full() {
    let time = soak_time();
    for round in time.rounds(1) {
        let role = Role::usual(seed().wrapping_add(round));
        let clean = worked_in_folder(&role);
        let records_before = records_in(clean.path());
        let (folder, _, writes) = run(&role, clean.path(), &BOOKS, None);
        drop(folder);
        let mut rng = Rng::with_seed(role.seed);
        let mut chosen: Vec<(u32, u32)> = (1..writes).map(|first| (first, rng.u32(0..12))).collect();
        rng.shuffle(&mut chosen);
        let (mut found, mut refused, mut places) = (Found::default(), 0, 0);
        for (first, more) in chosen {
            if places >= 30 && time.is_up() {
                break;
            }
            places += 1;
            let what = format!("seed {}, disk full at writes {first} to {}", role.seed, first + more);
            let fault = format!("inject=pwrite64:error=ENOSPC:when={first}..{}", first + more);
            let (folder, lines, _) = run(&role, clean.path(), &BOOKS, Some(&fault));
            refused += check_continued(&role, &lines, &what);
            found.add(examine(folder.path(), &role, &lines, records_before, &what));
        }
        assert!(refused > 0, "no caller was refused because of the full disk");
        report(&format!(
            "crash by full disk (seed {}): {places} places of {writes}, {refused} calls refused and retried; {found}",
            role.seed
        ));
    }
}

#[test]
fn crash_of_nothing_when_the_disk_is_full_at_a_checkpoint() {
    let role = Role { ballast_mebibytes: 18, ..Role::usual(seed()) };
    let clean = worked_in_folder(&Role { ballast_mebibytes: 0, ..role });
    let records_before = records_in(clean.path());
    let mut found = Found::default();
    for (first, last) in [(100, 100), (1, 200)] {
        let what = format!("seed {}, books cannot grow at writes {first} to {last}", role.seed);
        let fault = format!("inject=pwrite64:error=ENOSPC:when={first}..{last}");
        let (folder, lines, _) = run(&role, clean.path(), &["books.db"], Some(&fault));
        check_continued(&role, &lines, &what);
        found.add(examine(folder.path(), &role, &lines, records_before, &what));
    }
    report(&format!("crash by full disk while the log is copied back (seed {}): {found}", role.seed));
}

/// Opening copies the whole log into the file, since after a failed sync the log may be readable and not durable.
/// Without space for that the books stay closed, instead of being relied on.
#[test]
fn crash_of_nothing_when_the_log_cannot_be_copied_back_at_opening() {
    let role = Role::usual(seed());
    let clean = worked_in_folder(&role);
    let records_before = records_in(clean.path());
    let (killed, lines) = kill_before_a_checkpoint(&role, clean.path());
    let opening = Role { threads: 0, ..role };
    let (folder, opened, writes) =
        run(&opening, killed.path(), &["books.db"], Some("inject=pwrite64:error=ENOSPC:when=1+"));
    assert!(writes > 0, "there was nothing to copy back");
    let is_refused = |printed: &str| printed.starts_with("cannot open") && printed.contains("Full");
    assert!(matches!(opened.as_slice(), [Line::Other(printed)] if is_refused(printed)), "{opened:?}");
    let what = format!("seed {}, disk full when the books were opened", role.seed);
    let found = examine(folder.path(), &role, &lines, records_before, &what);
    report(&format!("crash by full disk when books are opened (seed {}): {found}", role.seed));
}

fn run(role: &Role, clean: &Path, files: &[&str], fault: Option<&str>) -> (TempDir, Vec<Line>, u32) {
    let folder = tempfile::tempdir().unwrap();
    copy_folder(clean, folder.path());
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut tracer = strace(log.path());
    only_on(&mut tracer, folder.path(), files);
    tracer.args(["-e", "trace=pwrite64"]).args(fault.iter().flat_map(|fault| ["-e", fault]));
    let lines = role.run_under(tracer, folder.path());
    let writes = most_of_a_thread(log.path()).into_values().max().unwrap_or(0);
    (folder, lines, writes)
}

/// The victim finished, call by call; returns how many calls were refused because of the full disk. Books that need a
/// clean-up may not even open; then they report why.
fn check_continued(role: &Role, lines: &[Line], what: &str) -> u32 {
    if matches!(lines, [Line::Other(printed)] if printed.starts_with("cannot open") && printed.contains("Full")) {
        return 0;
    }
    let mut refused = 0;
    for line in lines {
        match line {
            Line::Full { .. } => refused += 1,
            Line::Unknown { .. } | Line::Stopped { .. } | Line::Other(_) => {
                panic!("{what}: {line:?} {:?}", lines.last());
            }
            _ => {}
        }
    }
    let done = lines.iter().filter(|line| matches!(line, Line::Done { .. })).count() as u64;
    assert_eq!(done, role.threads * role.calls, "{what}: not every call was answered in the end");
    assert!(lines.contains(&Line::Closed), "{what}: the books were not closed");
    refused
}
