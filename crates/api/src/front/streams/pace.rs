//! How often pages are asked for: a thousand streams must not cost the books more than ten.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

/// After a quiet time this many pages may follow each other at once.
const BURST: u32 = 8;

#[derive(Debug)]
pub(super) struct Pace {
    every: Duration,
    /// When the next turn is. Waiting streams have theirs already, in the order in which they came.
    next: Mutex<Option<Instant>>,
}

impl Pace {
    pub fn new(per_second: u32) -> Self {
        Self { every: Duration::from_secs(1) / per_second.max(1), next: Mutex::default() }
    }

    /// Returns when it is this caller's turn.
    pub async fn turn(&self) {
        sleep_until(self.turn_at(Instant::now())).await;
    }

    fn turn_at(&self, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let earliest = now.checked_sub(self.every * BURST).unwrap_or(now);
        let turn = next.map_or(earliest, |next| next.max(earliest));
        *next = Some(turn + self.every);
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_the_rate() {
        let (pace, now) = (Pace::new(10), Instant::now() + Duration::from_secs(60));
        let after = |turn: Instant| turn.saturating_duration_since(now).as_millis();
        let turns: Vec<_> = (0..12).map(|_| after(pace.turn_at(now))).collect();
        assert_eq!(turns, [0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 200, 300]);
        assert_eq!(after(pace.turn_at(now + Duration::from_secs(9))), 8_200, "never more than the burst");
    }
}
