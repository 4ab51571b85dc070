//! The victim killed after any number of answers, again and again on the same folder.

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
    run::{seed, tell},
};

#[test]
fn crash_again_and_again_on_one_folder() {
    let mut rng = Rng::with_seed(seed());
    let folder = tempfile::tempdir().unwrap();
    let (mut found, mut earlier) = (Found::default(), Vec::new());
    for round in soak_time().rounds(25) {
        // More calls than it can ever make: it must not end by itself before the kill.
        let calls = 1_000_000;
        let role = Role { threads: 3, calls, keys_in_memory: 32, ..Role::usual(seed().wrapping_add(round)) };
        let records_before = if round == 0 { 0 } else { records_in(folder.path()) };
        let lines = kill_after(&role, folder.path(), rng.usize(0..40));
        let what = format!("seed {}, round {round}", seed());
        found.add(examine(folder.path(), &role, &lines, records_before, &what));
        earlier.push((role, lines));
        if earlier.len() == 50 {
            // A soak goes on in the same folder and looks back no further than this.
            earlier.drain(..25);
        }
    }
    let rounds = earlier.len();
    for (role, lines) in &earlier {
        // By now the examiner has made the calls that were in flight, so each of them is there whole.
        let again = examine_again(folder.path(), role, lines);
        assert_eq!((again.lost, again.half_done, again.absent), (0, 0, 0), "of seed {}: {again}", role.seed);
        found.add(again);
    }
    tell(&format!("crash loop (seed {}): {rounds} kills on one folder; {found}", seed()));
}

/// Runs the victim, kills it once it has written down so many answers, and reads what it wrote until then.
fn kill_after(role: &Role, folder: &Path, answers: usize) -> Vec<Line> {
    let mut child = role.command(folder).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = Vec::new();
    let mut given = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = parse(&line.unwrap());
        given += usize::from(matches!(line, Line::Done { .. }));
        lines.push(line);
        if given == answers {
            // What it writes before the signal arrives is still read.
            child.kill().unwrap();
        }
    }
    let status = child.wait().unwrap();
    assert!(!status.success(), "the victim was not killed: {:?}", lines.last());
    lines
}
