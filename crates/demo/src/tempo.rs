//! The timing of the flows in a demo: with a block every few milliseconds, no flow has to wait for seconds.

use std::time::Duration;

/// How often there is a block. Each block syncs the disk, which delays the books' own syncs. In a game of counted
/// turns, which waits for its players, that does not matter.
pub const BLOCK_EVERY: Duration = Duration::from_millis(100);
pub const BLOCK_EVERY_COUNTED: Duration = Duration::from_millis(40);
/// Blocks, including its own, after which a deposit or a payout is final.
pub const CONFIRMATIONS: u64 = 3;
pub const POLL: Duration = Duration::from_millis(10);
/// Short, because a killed demo loses its mempool.
pub const RESEND: Duration = Duration::from_secs(2);
pub const IN_FLIGHT_MAX: usize = 32;
/// The most that a unit of gas may cost, in wei.
pub const FEE_MAX: u128 = 200_000_000_000;
/// The capital that the treasury pays in when the house has less than half of it left: one coin.
pub const CAPITAL: u128 = 1_000_000_000_000_000_000;
/// How often the demo checks at the end whether everything is done, and after how many checks without a change it gives
/// up.
pub const LOOK_EVERY: Duration = Duration::from_millis(20);
pub const STILL_LOOKS: u32 = 1_000;
/// After how long without progress the demo checks whether progress is still possible.
pub const CHECK_EVERY: Duration = Duration::from_secs(1);
