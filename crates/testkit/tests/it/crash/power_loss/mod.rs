//! Power loss: everything that was not synced may be lost, present or torn, in any order.
//!
//! Killing a process does not show this, since the kernel still writes out its buffers. So a run is traced with all
//! its data, and disks are built from the trace: at some moment, what was synced before is present, and of the rest a
//! random choice of writes, complete or with sectors missing. On each such disk the books must open and have
//! everything that had been acknowledged at that moment.

mod disk;
mod trace;

use std::{collections::BTreeMap, path::Path};

use fastrand::Rng;

use super::{
    examine::{Found, copy_folder, examine, examine_again, records_in},
    points::{kill_before_a_checkpoint, worked_in_folder},
    strace::strace,
    victim::{Line, Role, parse},
};
use crate::{
    crash::soak_time,
    run::{is_soak, report, seed},
};
use disk::Disk;
use trace::{Event, read_trace};

#[test]
fn crash_by_power_loss_with_new_books() {
    for round in soak_time().rounds(1) {
        let role = Role { calls: 6, ..Role::usual(seed().wrapping_add(round)) };
        let empty = tempfile::tempdir().unwrap();
        Loss { name: "new books", role, earlier: None, records_before: 0 }.run(empty.path(), 250);
    }
}

#[test]
fn crash_by_power_loss_while_running() {
    for round in soak_time().rounds(1) {
        let role = Role::usual(seed().wrapping_add(round));
        let clean = worked_in_folder(&role);
        let records_before = records_in(clean.path());
        Loss { name: "running", role, earlier: None, records_before }.run(clean.path(), 400);
    }
}

#[test]
fn crash_by_power_loss_during_recovery() {
    for round in soak_time().rounds(1) {
        let role = Role::usual(seed().wrapping_add(round));
        let clean = worked_in_folder(&role);
        let records_before = records_in(clean.path());
        let (killed, lines) = kill_before_a_checkpoint(&role, clean.path());
        let opening = Role { threads: 0, ..role };
        Loss { name: "recovery", role: opening, earlier: Some((role, lines)), records_before }.run(killed.path(), 100);
    }
}

/// Long enough for a checkpoint and a reset of the log while the books are open. The trace has hundreds of megabytes,
/// so only a soak does it, and once.
#[test]
fn crash_by_power_loss_while_the_log_is_reset() {
    let ballast_mebibytes = if is_soak() { 18 } else { 1 };
    let role = Role { calls: 6, ballast_mebibytes, ..Role::usual(seed()) };
    let clean = worked_in_folder(&Role { ballast_mebibytes: 0, ..role });
    let records_before = records_in(clean.path());
    Loss { name: "long log", role, earlier: None, records_before }.run(clean.path(), 12);
}

/// A test of the test: commits that are acknowledged without a sync are lost with the power.
#[test]
fn crash_by_power_loss_is_detected_where_commits_are_not_synced() {
    let role = Role { weak: true, ..Role::usual(seed()) };
    let clean = worked_in_folder(&Role { weak: false, ..role });
    let found = Loss { name: "weak", role, earlier: None, records_before: 0 }.run(clean.path(), 40);
    assert!(found.lost > 0, "no test disk showed that commits were not synced");
}

/// A traced run, and the disks that may result from it.
struct Loss {
    name: &'static str,
    role: Role,
    /// The lines of an earlier victim.
    earlier: Option<(Role, Vec<Line>)>,
    records_before: u64,
}

impl Loss {
    fn run(&self, before: &Path, disks: usize) -> Found {
        let folder = tempfile::tempdir().unwrap();
        copy_folder(before, folder.path());
        let mut disk = Disk::holding(&files_of(folder.path()));
        let events = self.trace(folder.path());
        let mut rng = Rng::with_seed(self.role.seed);
        let mut cuts: BTreeMap<usize, u32> = BTreeMap::new();
        (0..disks).for_each(|_| *cuts.entry(rng.usize(0..=events.len())).or_default() += 1);
        let (mut found, mut lines, mut states, mut unsynced) = (Found::default(), Vec::new(), 0, 0);
        for (number, event) in events.iter().map(Some).chain([None]).enumerate() {
            for _ in 0..cuts.get(&number).copied().unwrap_or(0) {
                states += 1;
                unsynced += disk.unsynced();
                let what = format!("seed {}, {}, power lost before event {number}", self.role.seed, self.name);
                found.add(self.check(&disk.lose_power(&mut rng), &lines, &what));
            }
            match event {
                Some(Event::Line(line)) => lines.push(parse(line)),
                Some(event) => disk.note(number, event),
                None => {}
            }
        }
        if self.role.weak {
            report(&format!("crash by power loss without syncs: noticed on {states} disks, as it must be"));
            return found;
        }
        report(&format!(
            "crash by power loss ({}, seed {}): {states} disks with {unsynced} unsynced changes from a trace of {} \
             events; {found}",
            self.name,
            self.role.seed,
            events.len()
        ));
        assert!(states > 0 && unsynced > 0, "nothing could be lost");
        found
    }

    fn trace(&self, folder: &Path) -> Vec<Event> {
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut tracer = strace(log.path());
        tracer.args(["-y", "-xx", "-s", "100000", "-e"]);
        tracer.arg("trace=openat,write,pwrite64,fsync,fdatasync,ftruncate,unlink,rename,writev,pwritev");
        let lines = self.role.run_under(tracer, folder);
        let events = read_trace(log.path(), &folder.canonicalize().unwrap());
        let traced =
            events.iter().filter_map(|event| if let Event::Line(line) = event { Some(parse(line)) } else { None });
        assert_eq!(traced.collect::<Vec<_>>(), lines, "the trace does not have what the victim printed");
        assert_eq!(lines.last(), Some(&Line::Closed));
        events
    }

    fn check(&self, files: &BTreeMap<String, Vec<u8>>, lines: &[Line], what: &str) -> Found {
        let folder = tempfile::tempdir().unwrap();
        for (name, data) in files {
            std::fs::write(folder.path().join(name), data).unwrap();
        }
        let (role, lines) =
            self.earlier.as_ref().map_or((&self.role, lines), |(role, earlier)| (role, earlier.as_slice()));
        if role.weak {
            return examine_again(folder.path(), role, lines);
        }
        examine(folder.path(), role, lines, self.records_before, what)
    }
}

fn files_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .filter(|(name, _)| trace::is_stored(name))
        .collect()
}
