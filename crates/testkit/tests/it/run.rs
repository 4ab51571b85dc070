//! The environment of a test run, and its output.

use std::{
    io::Write,
    time::{Duration, Instant},
};

/// The seed of this run.
pub fn seed() -> u64 {
    std::env::var("BANKROLL_TEST_SEED").map_or(20_261_115, |seed| seed.parse().unwrap())
}

/// Whether this is a soak: then everything that is usually sampled is done in full, and more.
pub fn is_soak() -> bool {
    std::env::var_os("BANKROLL_SOAK_SECONDS").is_some()
}

/// How long a random test runs in a soak. In a usual run its time is up from the start.
pub struct SoakTime {
    ends: Option<Instant>,
}

impl SoakTime {
    /// The share of one of so many tests that run together, a few at a time.
    pub fn shared_by(tests: u32) -> Self {
        let seconds = std::env::var("BANKROLL_SOAK_SECONDS").ok().map(|seconds| seconds.parse().unwrap());
        let at_a_time = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        let share = |seconds| Duration::from_secs(seconds) * at_a_time.min(tests) / tests;
        Self { ends: seconds.map(|seconds| Instant::now() + share(seconds)) }
    }

    pub fn is_up(&self) -> bool {
        self.ends.is_none_or(|ends| Instant::now() >= ends)
    }

    /// Rounds, each with its own seed: so many, or in a soak as many as the time allows, and at least one.
    pub fn rounds(&self, usual: u64) -> impl Iterator<Item = u64> {
        let usual = if self.ends.is_some() { 1 } else { usual };
        (0..).take_while(move |round| *round < usual || !self.is_up())
    }
}

/// Far longer than anything that is awaited here takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until the condition is true.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "never: {what}");
        std::thread::yield_now();
    }
}

/// Prints a line that the test runner does not capture when the test passes: the counts are part of the result.
pub fn report(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}
