//! The victim killed after a random number of answers, repeatedly on the same folder.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::Stdio,
};

use fastrand::Rng;

use super::{
    examine::{Found, examine, examine_again, records_in},
    victim::{Line, Role, parse},
};
use crate::{
    crash::soak_time,
    run::{report, seed},
};

#[test]
fn crash_again_and_again_on_one_folder() {
    let mut rng = Rng::with_seed(seed());
    let folder = tempfile::tempdir().unwrap();
    let (mut found, mut earlier) = (Found::default(), Vec::new());
    for round in soak_time().rounds(25) {
        // More calls than it can make: it must not end by itself before the kill.
        let calls = 1_000_000;
        let role = Role { threads: 3, calls, keys_in_memory: 32, ..Role::usual(seed().wrapping_add(round)) };
        let records_before = if round == 0 { 0 } else { records_in(folder.path()) };
        let lines = kill_after(&role, folder.path(), rng.usize(0..40));
        let what = format!("seed {}, round {round}", seed());
        found.add(examine(folder.path(), &role, &lines, records_before, &what));
        earlier.push((role, lines));
        if earlier.len() == 50 {
            // A soak continues in the same folder and checks no more than this part of the past.
            earlier.drain(..25);
        }
    }
    let rounds = earlier.len();
    for (role, lines) in &earlier {
        // By now the examination has repeated the calls that were in flight, so each of them is applied completely.
        let again = examine_again(folder.path(), role, lines);
        assert_eq!((again.lost, again.half_done, again.absent), (0, 0, 0), "of seed {}: {again}", role.seed);
        found.add(again);
    }
    report(&format!("crash loop (seed {}): {rounds} kills on one folder; {found}", seed()));
}

/// Runs the victim, kills it once it has printed so many answers, and reads its lines.
fn kill_after(role: &Role, folder: &Path, answers: usize) -> Vec<Line> {
    let mut child = role.command(folder).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = Vec::new();
    let mut given = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = parse(&line.unwrap());
        given += usize::from(matches!(line, Line::Done { .. }));
        lines.push(line);
        if given == answers {
            // Lines that it prints before the signal arrives are still read.
            child.kill().unwrap();
        }
    }
    let status = child.wait().unwrap();
    assert!(!status.success(), "the victim was not killed: {:?}", lines.last());
    lines
}
