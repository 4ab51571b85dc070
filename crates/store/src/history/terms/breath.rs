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
//! | written | rests [`RESTS`] times as long as each piece took |
//! | in a rush | waits, unless it trails by [`TRAIL_MAX`] records; then as above |

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
const RESTS: u32 = 3;
/// Books count as written for so long after the last record.
const WRITTEN_FOR: Duration = Duration::from_secs(1);
/// Over how long a rate is taken at the least.
const WINDOW: Duration = Duration::from_millis(50);
/// Above this rate of records every core is wanted for them.
const RUSH_PER_S: u128 = 20_000;
/// Readers look through what the index has not seen yet; through more than this it is not let grow without need.
pub(super) const TRAIL_MAX: u64 = 1_000_000;

/// Why a piece of work was left undone.
#[derive(Debug)]
pub(super) enum Cut {
    /// The books are being closed; what was begun is dropped when the index is next opened.
    Closing,
    Failed(StoreError),
}

impl From<StoreError> for Cut {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// What paces the thread, and tells it to stop.
#[derive(Debug)]
pub(super) struct Breath {
    stop: Receiver<()>,
    /// Where the journal ends, as the writer tells.
    end: Arc<AtomicU64>,
    /// Where the journal ended at the beginning of this window, and when that was.
    window: Option<(Instant, Seq)>,
    rushing: bool,
    grew: Option<Instant>,
    /// When the piece of work began.
    began: Instant,
    /// The books are being closed: no more rests, and no more cuts.
    pub closing: bool,
}

impl Breath {
    pub fn new(stop: Receiver<()>, end: Arc<AtomicU64>) -> Self {
        Self { stop, end, window: None, rushing: false, grew: None, began: Instant::now(), closing: false }
    }

    /// Waits for so long; `false` if it is time to stop.
    pub fn wait(&mut self, time: Duration) -> bool {
        let waited = self.stop.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        self.began = Instant::now();
        waited
    }

    /// Looks where the journal ends now.
    pub fn sight(&mut self) -> Seq {
        let (now, end) = (Instant::now(), Seq(self.end.load(Ordering::Relaxed)));
        let (then, seen) = *self.window.get_or_insert((now, end));
        if end > seen {
            self.grew = Some(now);
        }
        let passed = now.duration_since(then);
        if passed >= WINDOW {
            let records = u128::from(end.0.saturating_sub(seen.0));
            self.rushing = records * 1_000_000 > passed.as_micros() * RUSH_PER_S;
            self.window = Some((now, end));
        }
        end
    }

    pub const fn rushing(&self) -> bool {
        self.rushing && !self.closing
    }

    /// Between two pieces of work.
    pub fn between(&mut self) -> Result<(), Cut> {
        if self.closing {
            return Ok(());
        }
        self.sight();
        let written = self.grew.is_some_and(|grew| grew.elapsed() < WRITTEN_FOR);
        let rest = if written { self.began.elapsed() * RESTS } else { Duration::ZERO };
        if self.wait(rest) { Ok(()) } else { Err(Cut::Closing) }
    }
}
