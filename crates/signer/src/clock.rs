//! The only place in this process that reads the clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bankroll_money::Time;

#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the shell owns the clock; everything below it takes the time as an argument"
)]
pub fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Time(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}
