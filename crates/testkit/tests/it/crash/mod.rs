//! The process killed, the disk failing, the power lost, files damaged: what was acknowledged is in the books
//! afterwards.
//!
//! The `victim` is a real process on real files. However it ended, [`examine`](examine::examine) opens its files and
//! requires: the books open; every acknowledged request has the same position and verdict, and is answered as a
//! replay; every other call is applied completely or not at all; nothing else is in the journal; the audit passes.
//!
//! Bounds: the usual run samples the points by the printed seed; with `BANKROLL_SOAK_SECONDS` all of them are tried,
//! and then more seeds. `strace` kills at a chosen system call; without it these tests fail and report it.

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

/// The share of one of the tests here that run longer in a soak.
fn soak_time() -> SoakTime {
    SoakTime::shared_by(12)
}
