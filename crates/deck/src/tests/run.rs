//! What a run of the tests is given from outside.

use std::time::{Duration, Instant};

use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

/// The random tests of this crate, which share a soak's time.
const RANDOM_TESTS: u64 = 4;

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
    let ends = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds) / RANDOM_TESTS as u32);
    (0..).take_while(move |round| ends.map_or(*round < usual, |ends| *round == 0 || Instant::now() < ends))
}
