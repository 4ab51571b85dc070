//! How fast the flows go in a demo: a chain with a block every few milliseconds needs nobody to wait for seconds.

use std::time::Duration;

/// How often there is a block. Each is a sync, which the books' own have to wait for; where turns are counted and players
/// are waited for, that does not matter.
pub const BLOCK_EVERY: Duration = Duration::from_millis(100);
pub const BLOCK_EVERY_COUNTED: Duration = Duration::from_millis(40);
/// Blocks, its own included, after which a deposit or a payout is final.
pub const CONFIRMATIONS: u64 = 3;
pub const POLL: Duration = Duration::from_millis(10);
/// What a killed demo's mempool has lost is sent again soon.
pub const RESEND: Duration = Duration::from_secs(2);
pub const IN_FLIGHT_MAX: usize = 32;
/// The most that a unit of gas may cost, in wei.
pub const FEE_MAX: u128 = 200_000_000_000;
/// The capital that the treasury brings whenever the house has less than half of it left: one coin.
pub const CAPITAL: u128 = 1_000_000_000_000_000_000;
/// How often it is looked whether all is done at the end, and how often in vain: then it is reported as it is.
pub const LOOK_EVERY: Duration = Duration::from_millis(20);
pub const STILL_LOOKS: u32 = 1_000;
