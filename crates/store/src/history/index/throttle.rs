//! Throttles the statement index: full speed while nothing is written, little work while a writer is active.
//!
//! The index shares the disk with the books, and a sync of the books waits for everything the index has just written.
//! So it works in pieces of a few milliseconds with a rest after each. Its thread has normal priority: while it
//! reads, SQLite cannot restart the write-ahead log, and a reader that waits for a core would let the log of a busy
//! writer grow. For the same reason it does not query the end of the journal, and reads nothing during a burst.
//!
//! | the books | the index |
//! | --- | --- |
//! | idle | works without a pause |
//! | active | rests [`REST_FACTOR`] times as long as each piece took |
//! | in a burst | waits, unless it lags by [`LAG_MAX`] records; then as above |

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

/// While a writer is active, the index works a quarter of the time.
const REST_FACTOR: u32 = 3;
/// Books count as active for this long after the last record.
const ACTIVE_FOR: Duration = Duration::from_secs(1);
/// The shortest time over which the rate of records is measured.
const WINDOW: Duration = Duration::from_millis(50);
/// Above this rate (a burst) the writer needs every core.
const BURST_PER_S: u128 = 20_000;
/// Readers scan the records that the index does not cover yet; beyond this number the index works even during a burst.
pub(super) const LAG_MAX: u64 = 1_000_000;

/// Why a piece of work was interrupted.
#[derive(Debug)]
pub(super) enum Interruption {
    /// The books are being closed; the unfinished chunks are dropped when the index is opened.
    Closing,
    Failed(StoreError),
}

impl From<StoreError> for Interruption {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// Paces the index thread, and passes it the request to stop.
#[derive(Debug)]
pub(super) struct Throttle {
    stop: Receiver<()>,
    /// Where the journal ends; set by the writer.
    end: Arc<AtomicU64>,
    /// Where the journal ended at the beginning of this window, and when that was.
    window: Option<(Instant, Seq)>,
    bursting: bool,
    last_growth: Option<Instant>,
    /// When the piece of work began.
    began: Instant,
    /// The books are being closed: no more rests, and no more interruptions.
    pub closing: bool,
}

impl Throttle {
    pub fn new(stop: Receiver<()>, end: Arc<AtomicU64>) -> Self {
        Self { stop, end, window: None, bursting: false, last_growth: None, began: Instant::now(), closing: false }
    }

    /// Waits; `false` if it is time to stop.
    pub fn wait(&mut self, time: Duration) -> bool {
        let waited = self.stop.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        self.began = Instant::now();
        waited
    }

    /// Reads where the journal ends now, and updates the measured rate.
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

    /// Rests between two pieces of work, if a writer is active.
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
