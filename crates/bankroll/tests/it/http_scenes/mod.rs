//! The Funds API over real sockets: the built program serves, and callers repeat, race, die, stall and attack.
//!
//! | file | what happens |
//! | --- | --- |
//! | `casino` | a folder with a registered game server and money, and the node that serves it |
//! | `deployment` | the same books in Postgres: one process holds them, a front in another process relays |
//! | `caller`, `wallet` | a game server's HTTP calls; a player who signs in and signs payouts |
//! | `cutting_proxy` | a proxy that loses answers at seeded points |
//! | `one_key` | one key, one effect, one body |
//! | `lost_answers` | answers are lost and the node is killed: each request is applied once |
//! | `races` | a spawn and a payout want the same money |
//! | `restarts` | a game server dies between reserving and committing; the node is stopped while calls are in flight |
//! | `bodies` | slow, endless, huge, deep and duplicate-key bodies |
//! | `connections` | idle connections, half-open handshakes, callers that never read |
//! | `event_streams` | readers of events while nodes die and restart |
//! | `relays` | what a front relays is what the holder would answer |

mod bodies;
mod caller;
mod casino;
mod connections;
mod cutting_proxy;
mod deployment;
mod event_streams;
mod lost_answers;
mod one_key;
mod races;
mod relays;
mod restarts;
mod wallet;

use std::time::{Duration, Instant};

pub use caller::Caller;
pub use casino::{Casino, start};
pub use wallet::Wallet;

use crate::running::PATIENCE;

/// The seed of this run.
fn seed() -> u64 {
    std::env::var("BANKROLL_TEST_SEED").map_or(20_261_115, |seed| seed.parse().unwrap())
}

/// Rounds of a random test: so many, or in a soak as many as its time allows.
fn rounds(usual: u64) -> impl Iterator<Item = u64> {
    let seconds: Option<u64> = std::env::var("BANKROLL_SOAK_SECONDS").ok().map(|seconds| seconds.parse().unwrap());
    let ends = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    (0..).take_while(move |round| *round < usual || ends.is_some_and(|ends| Instant::now() < ends))
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::yield_now();
    }
}
