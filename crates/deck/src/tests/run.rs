//! Seeds and time limits of the tests, from the environment.

use std::time::{Duration, Instant};

use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

/// The random runs of this crate, which share a soak's time, a few at a time.
const RANDOM_RUNS: u32 = 5;

/// The generator of a test: always the same for one seed, and another one for each test.
pub fn rng(test: &str) -> ChaCha20Rng {
    let seed = std::env::var("BANKROLL_TEST_SEED").map_or(20_261_115, |seed| seed.parse::<u64>().unwrap());
    println!("{test}: BANKROLL_TEST_SEED={seed}");
    let mut bytes = [0; 32];
    let (number, name) = bytes.split_at_mut(8);
    number.copy_from_slice(&seed.to_le_bytes());
    for (byte, letter) in name.iter_mut().zip(test.bytes()) {
        *byte = letter;
    }
    ChaCha20Rng::from_seed(bytes)
}

/// Rounds of a random test: so many, or in a soak as many as its share of the time allows, and at least one.
pub fn rounds(usual: u64) -> impl Iterator<Item = u64> {
    let seconds = std::env::var("BANKROLL_SOAK_SECONDS").ok().map(|seconds| seconds.parse::<u64>().unwrap());
    let at_a_time = std::thread::available_parallelism().map_or(1, |count| count.get() as u32).min(RANDOM_RUNS);
    let ends = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds) * at_a_time / RANDOM_RUNS);
    (0..).take_while(move |round| ends.map_or(*round < usual, |ends| *round == 0 || Instant::now() < ends))
}
