//! The process killed, the disk failing, the power gone, files damaged: what was acknowledged is there afterwards.
//!
//! The `victim` is a real process on real files. Whatever ended it, [`examine`](examine::examine) opens what it left
//! and demands: the books open; every acknowledged request is there with the same place and verdict, and answers as a
//! replay; every other call is there whole or not at all; nothing else is in the journal; the audit agrees.
//!
//! Bounds: the usual run samples the points by the printed seed; with `BANKROLL_SOAK_SECONDS` all of them are tried,
//! and then more seeds. `strace` does the killing at a system call; without it these tests fail and say so.

use crate::run::SoakTime;

pub mod derived_index;
pub mod examine;
mod full_disk;
mod kill_loop;
mod migrations;
mod points;
mod power_loss;
mod second_process;
mod strace;
mod sync_error;
mod tampering;
pub mod victim;

/// The time of one of the tests here that go on in a soak.
fn soak_time() -> SoakTime {
    SoakTime::shared_by(12)
}
