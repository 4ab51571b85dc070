//! Seeds and time limits of the tests, from the environment, and printed counts.

use std::{
    io::Write,
    time::{Duration, Instant},
};

pub fn seed() -> u64 {
    let seed = std::env::var("BANKROLL_TEST_SEED").map_or(20_261_115, |seed| seed.parse().unwrap());
    println!("seed {seed} (repeat with BANKROLL_TEST_SEED={seed})");
    seed
}

/// Rounds, each with its own seed: so many, or in a soak as many as the time allows.
pub fn rounds(usual: u64) -> impl Iterator<Item = u64> {
    let seconds: Option<u64> = std::env::var("BANKROLL_SOAK_SECONDS").ok().map(|seconds| seconds.parse().unwrap());
    let ends = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let first = seed().wrapping_mul(1_000_003);
    let goes_on = move |round: &u64| match ends {
        None => *round < usual,
        Some(ends) => *round == 0 || Instant::now() < ends,
    };
    (0..).take_while(goes_on).map(move |round| first.wrapping_add(round))
}

/// Prints a line that the test runner does not swallow when the test passes: the counts are part of the result.
pub fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}
