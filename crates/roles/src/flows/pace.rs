//! When a loop goes on, and what of it is worth saying.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use bankroll_terminal::Interrupt;

use crate::log::{Log, on_one_line};

/// No sleep is longer, so that whoever stops a loop does not wait.
const NAP: Duration = Duration::from_millis(20);
/// Twice the pause after each failure, so often at the most; and never longer than this.
const DOUBLED_MAX: u32 = 6;
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// When to stop: a signal, or somebody who says so.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    interrupt: Option<Interrupt>,
    over: Arc<AtomicBool>,
}

impl Stop {
    /// On a signal, too.
    pub fn on(interrupt: Interrupt) -> Self {
        Self { interrupt: Some(interrupt), over: Arc::default() }
    }

    pub fn is_asked(&self) -> bool {
        self.interrupt.as_ref().is_some_and(Interrupt::is_asked) || self.over.load(Ordering::Relaxed)
    }

    pub fn ask(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Sleeps, unless it is time to stop.
    pub fn rest(&self, time: Duration) {
        let mut left = time;
        while !left.is_zero() && !self.is_asked() {
            let nap = left.min(NAP);
            thread::sleep(nap);
            left -= nap;
        }
    }
}

/// What a round came to.
pub enum Round {
    /// Something was done: there may be more.
    Busy,
    /// Nothing to do.
    Idle,
    /// Something stands in the way, without being a failure: said once, and looked at again at the ordinary pace.
    Waits(String),
}

/// Rounds until it is time to stop. What fails twice in a row is said, once, until a round has gone well again: once is what
/// happens to whoever works beside others.
pub fn rounds(
    name: &str,
    poll: Duration,
    log: &Log,
    stop: &Stop,
    mut round: impl FnMut(usize) -> anyhow::Result<Round>,
) {
    let (mut failures, mut turn, mut said) = (0_u32, 0_usize, String::new());
    let mut say = |event: &str, sentence: &str| {
        // Heights and times change in what is otherwise the same trouble.
        let same: String = sentence.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        if same != said {
            log.say(event, &format!("{name}: {sentence}"), &[("flow", name.into())]);
            said = same;
        }
    };
    let mut troubled = false;
    while !stop.is_asked() {
        // Raised by each failure: where there are several to ask, it is the next one's turn.
        match round(turn) {
            Ok(done) => {
                if let Round::Waits(why) = &done {
                    troubled = true;
                    say("waits", why);
                } else if std::mem::take(&mut troubled) {
                    say("goes_on", "goes on");
                }
                failures = 0;
                if !matches!(done, Round::Busy) {
                    stop.rest(poll);
                }
            }
            Err(error) => {
                if failures > 0 {
                    troubled = true;
                    say("trouble", &on_one_line(error.as_ref()));
                }
                let pause = poll.saturating_mul(1 << failures.min(DOUBLED_MAX)).min(PAUSE_MAX);
                (failures, turn) = (failures.saturating_add(1), turn.wrapping_add(1));
                stop.rest(pause);
            }
        }
    }
}
