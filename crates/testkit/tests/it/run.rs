//! What a run of the tests is given from outside, and what it tells.

use std::{
    io::Write,
    time::{Duration, Instant},
};

/// The seed of this run.
pub fn seed() -> u64 {
    std::env::var("BANKROLL_TEST_SEED").map_or(20_261_115, |seed| seed.parse().unwrap())
}

/// Whether this is a soak: then all that is otherwise sampled is done in full, and more.
pub fn is_soak() -> bool {
    std::env::var_os("BANKROLL_SOAK_SECONDS").is_some()
}

/// Rounds of a random test: a fixed number, or in a soak as many as fit into its time.
pub fn rounds(usual: u64) -> impl Iterator<Item = u64> {
    let started = Instant::now();
    let time = std::env::var("BANKROLL_SOAK_SECONDS").ok();
    let time = time.map(|seconds| Duration::from_secs(seconds.parse().unwrap()));
    (0..).take_while(move |round| match time {
        Some(time) => *round == 0 || started.elapsed() < time,
        None => *round < usual,
    })
}

/// Prints a line that the test runner does not swallow when the test passes: the counts are part of the result.
pub fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}
