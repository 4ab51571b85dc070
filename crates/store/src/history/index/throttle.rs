//! How much of the machine the statement index may take: all of it while nothing is written, little beside a writer.
//!
//! The index shares the disk with the books. What it writes in one go, the next sync of the books waits for, so work is
//! done in pieces of a few milliseconds with a rest behind each. Its thread has the priority of any other: while it reads,
//! SQLite cannot begin its log anew, and a reader that waits for its turn lets the log of a busy writer grow. For the same
//! reason it does not ask the books where they end, and reads nothing in a rush.
//!
//! | the books | the index |
//! | --- | --- |
//! | at rest | works without a pause |
//! | written | rests [`REST_FACTOR`] times as long as each piece took |
//! | in a rush | waits, unless it trails by [`LAG_MAX`] records; then as above |

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use bankroll_ledger::Seq;

use crate::StoreError;

/// Beside a writer the index works one part of four.
const REST_FACTOR: u32 = 3;
/// Books count as written for so long after the last record.
const ACTIVE_FOR: Duration = Duration::from_secs(1);
/// Over how long a rate is taken at the least.
const WINDOW: Duration = Duration::from_millis(50);
/// Above this rate of records every core is wanted for them.
const BURST_PER_S: u128 = 20_000;
/// Readers look through what the index has not seen yet; through more than this it is not let grow without need.
pub(super) const LAG_MAX: u64 = 1_000_000;

/// Why a piece of work was left undone.
#[derive(Debug)]
pub(super) enum Interruption {
    /// The books are being closed; what was begun is dropped when the index is next opened.
    Closing,
    Failed(StoreError),
}

impl From<StoreError> for Interruption {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// What paces the thread, and tells it to stop.
#[derive(Debug)]
pub(super) struct Throttle {
    stop: Receiver<()>,
    /// Where the journal ends, as the writer tells.
    end: Arc<AtomicU64>,
    /// Where the journal ended at the beginning of this window, and when that was.
    window: Option<(Instant, Seq)>,
    bursting: bool,
    last_growth: Option<Instant>,
    /// When the piece of work began.
    began: Instant,
    /// The books are being closed: no more rests, and no more cuts.
    pub closing: bool,
}

impl Throttle {
    pub fn new(stop: Receiver<()>, end: Arc<AtomicU64>) -> Self {
        Self { stop, end, window: None, bursting: false, last_growth: None, began: Instant::now(), closing: false }
    }

    /// Waits for so long; `false` if it is time to stop.
    pub fn wait(&mut self, time: Duration) -> bool {
        let waited = self.stop.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        self.began = Instant::now();
        waited
    }

    /// Looks where the journal ends now.
    pub fn observe_end(&mut self) -> Seq {
        let (now, end) = (Instant::now(), Seq(self.end.load(Ordering::Relaxed)));
        let (then, seen) = *self.window.get_or_insert((now, end));
        if end > seen {
            self.last_growth = Some(now);
        }
        let passed = now.duration_since(then);
        if passed >= WINDOW {
            let records = u128::from(end.0.saturating_sub(seen.0));
            self.bursting = records * 1_000_000 > passed.as_micros() * BURST_PER_S;
            self.window = Some((now, end));
        }
        end
    }

    pub const fn is_bursting(&self) -> bool {
        self.bursting && !self.closing
    }

    /// YieldPoint two pieces of work.
    pub fn yield_to_writer(&mut self) -> Result<(), Interruption> {
        if self.closing {
            return Ok(());
        }
        self.observe_end();
        let written = self.last_growth.is_some_and(|last_growth| last_growth.elapsed() < ACTIVE_FOR);
        let rest = if written { self.began.elapsed() * REST_FACTOR } else { Duration::ZERO };
        if self.wait(rest) { Ok(()) } else { Err(Interruption::Closing) }
    }
}
