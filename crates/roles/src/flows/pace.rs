//! The pace of a loop, and which of its failures are logged.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use bankroll_terminal::StopSignal;

use crate::log::{NodeLog, on_one_line};

/// No sleep is longer, so that a loop stops at once.
const NAP: Duration = Duration::from_millis(20);
/// The pause doubles after each failure, at most this often, and is never longer than `PAUSE_MAX`.
const DOUBLED_MAX: u32 = 6;
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Whether a stop is requested: by a signal, or by a thread of this process.
#[derive(Clone, Debug, Default)]
pub struct StopFlag {
    signal: Option<StopSignal>,
    requested: Arc<AtomicBool>,
}

impl StopFlag {
    /// Set by a signal, too.
    pub fn on(signal: StopSignal) -> Self {
        Self { signal: Some(signal), requested: Arc::default() }
    }

    pub fn is_requested(&self) -> bool {
        self.signal.as_ref().is_some_and(StopSignal::is_requested) || self.requested.load(Ordering::Relaxed)
    }

    pub fn request(&self) {
        self.requested.store(true, Ordering::Relaxed);
    }

    /// Sleeps until the time is over or a stop is requested.
    pub fn rest(&self, time: Duration) {
        self.rest_until(time, &WakeFlag::default());
    }

    /// Sleeps until the time is over, somebody wakes the sleeper, or a stop is requested.
    fn rest_until(&self, time: Duration, wake: &WakeFlag) {
        let mut left = time;
        while !left.is_zero() && !self.is_requested() && !wake.take() {
            let nap = left.min(NAP);
            thread::sleep(nap);
            left -= nap;
        }
    }
}

/// Ends the rest of a loop early: there is something new.
#[derive(Clone, Debug, Default)]
pub struct WakeFlag(Arc<AtomicBool>);

impl WakeFlag {
    pub fn wake(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn take(&self) -> bool {
        self.0.swap(false, Ordering::AcqRel)
    }
}

pub enum LoopRound {
    /// Something was done: the next round follows at once.
    Busy,
    Idle,
    /// Blocked without a failure: logged once, and tried again at the ordinary pace.
    Waits(String),
}

/// Runs rounds until a stop is requested. A failure is logged when it happens twice in a row, and once until a round
/// succeeds: a single failure is normal where several processes share a database.
pub fn rounds(
    name: &str,
    poll: Duration,
    log: &NodeLog,
    stop: &StopFlag,
    round: impl FnMut(usize) -> anyhow::Result<LoopRound>,
) {
    rounds_woken(name, poll, log, stop, &WakeFlag::default(), round);
}

/// The same, for a loop that others may wake.
pub fn rounds_woken(
    name: &str,
    poll: Duration,
    log: &NodeLog,
    stop: &StopFlag,
    wake: &WakeFlag,
    mut round: impl FnMut(usize) -> anyhow::Result<LoopRound>,
) {
    let (mut failures, mut turn, mut said) = (0_u32, 0_usize, String::new());
    let mut say = |event: &str, sentence: &str| {
        // Heights and times differ in what is otherwise the same failure.
        let same: String = sentence.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        if same != said {
            log.write(event, &format!("{name}: {sentence}"), &[("flow", name.into())]);
            said = same;
        }
    };
    // A failure is over when a round succeeds; waiting is over when a round finds nothing to do and nothing waits.
    let (mut failing, mut waiting) = (false, false);
    while !stop.is_requested() {
        // Each failure raises `turn`: with several RPC nodes, the next round uses the next one.
        match round(turn) {
            Ok(done) => {
                let was_failing = std::mem::take(&mut failing);
                match &done {
                    LoopRound::Waits(why) => {
                        waiting = true;
                        say("waits", why);
                    }
                    LoopRound::Busy if was_failing => say("goes_on", "works again"),
                    LoopRound::Busy => {}
                    LoopRound::Idle => {
                        if std::mem::take(&mut waiting) || was_failing {
                            say("goes_on", "works again");
                        }
                    }
                }
                failures = 0;
                if !matches!(done, LoopRound::Busy) {
                    stop.rest_until(poll, wake);
                }
            }
            Err(error) => {
                if failures > 0 {
                    failing = true;
                    say("trouble", &on_one_line(error.as_ref()));
                }
                let pause = poll.saturating_mul(1 << failures.min(DOUBLED_MAX)).min(PAUSE_MAX);
                (failures, turn) = (failures.saturating_add(1), turn.wrapping_add(1));
                stop.rest(pause);
            }
        }
    }
}
