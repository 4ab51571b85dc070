//! The clock: the one place that reads the time, or a test's stand-in for it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use bankroll_ledger::Time;

/// Where the writer gets the time for its batches.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's clock, read once, plus the monotonic time since: an operator who sets the machine's clock while
    /// the ledger runs does not make holds expire.
    Machine {
        /// The wall clock at the start.
        from: Time,
        /// The monotonic clock at that moment.
        since: Instant,
    },
    /// A clock that a test sets, in microseconds.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// The machine's clock.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the place the rule points to")]
    pub fn machine() -> Self {
        let from = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self::Machine { from: micros(from), since: Instant::now() }
    }

    /// A clock that keeps this time until the returned hand is set.
    #[must_use]
    pub fn manual(at: Time) -> (Self, Arc<AtomicU64>) {
        let hand = Arc::new(AtomicU64::new(at.0));
        (Self::Manual(Arc::clone(&hand)), hand)
    }

    /// The time now. It may jump; the writer keeps the times of its batches in order anyway.
    #[must_use]
    pub fn now(&self) -> Time {
        match self {
            Self::Machine { from, since } => Time(from.0.saturating_add(micros(since.elapsed()).0)),
            Self::Manual(hand) => Time(hand.load(Ordering::SeqCst)),
        }
    }
}

fn micros(duration: Duration) -> Time {
    Time(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}
