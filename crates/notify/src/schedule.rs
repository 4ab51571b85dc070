//! When an event is attempted again, and when its endpoint is given up. Pure.

use bankroll_ledger::Time;

/// The pauses before the first attempt, the second, and so on, in seconds: 0 s, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h,
/// 14 h, 20 h, 24 h. Three days and three and a half hours in all.
pub const PAUSES: [u64; 10] = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

const MICROS: u64 = 1_000_000;

/// What an attempt at delivery ended with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The endpoint answered with this status; the first KiB of its answer.
    Answered { status: u16, answer: String },
    /// No answer, or the target is not allowed (any more). The endpoint may have got the event all the same.
    Failed { error: String },
}

/// What follows from an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterAttempt {
    Delivered,
    RetryAt(Time),
    /// Nothing more is delivered to the endpoint until it is enabled again.
    Stop(GiveUpReason),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveUpReason {
    /// It answered 410: it wants no more events.
    Gone,
    /// The last attempt of an event failed.
    Failed,
}

impl GiveUpReason {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Failed => "failed",
        }
    }
}

/// A share of the longest jitter, 0 to 999: pauses are up to a tenth longer, so that events that failed together are not
/// attempted together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jitter(u16);

impl Jitter {
    #[must_use]
    pub const fn new(share: u16) -> Self {
        Self(if share < 1_000 { share } else { 999 })
    }

    fn stretch(self, micros: u64) -> u64 {
        let longest = micros / 10;
        micros.saturating_add((longest / 1_000).saturating_mul(self.0.into()))
    }
}

/// What follows from the outcome of an attempt that ends now, after this many attempts before it.
#[must_use]
pub fn after_attempt(outcome: &AttemptOutcome, attempts_before: u64, now: Time, jitter: Jitter) -> AfterAttempt {
    match outcome {
        AttemptOutcome::Answered { status: 200..=299, .. } => return AfterAttempt::Delivered,
        AttemptOutcome::Answered { status: 410, .. } => return AfterAttempt::Stop(GiveUpReason::Gone),
        // A redirect is not followed: its target was not checked, and the body is signed for this one.
        AttemptOutcome::Answered { .. } | AttemptOutcome::Failed { .. } => {}
    }
    let done = usize::try_from(attempts_before.saturating_add(1)).unwrap_or(usize::MAX);
    match PAUSES.get(done) {
        Some(pause) => AfterAttempt::RetryAt(Time(now.0.saturating_add(jitter.stretch(pause.saturating_mul(MICROS))))),
        None => AfterAttempt::Stop(GiveUpReason::Failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16) -> AttemptOutcome {
        AttemptOutcome::Answered { status, answer: String::new() }
    }

    #[test]
    fn statuses_decide_what_follows() {
        let after = |status| after_attempt(&answered(status), 0, Time(7), Jitter::default());
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(after(status), AfterAttempt::Delivered, "{status}");
        }
        for status in [100, 199, 300, 301, 302, 307, 308, 400, 404, 429, 500, 503] {
            assert_eq!(after(status), AfterAttempt::RetryAt(Time(5_000_007)), "{status}");
        }
        assert_eq!(after(410), AfterAttempt::Stop(GiveUpReason::Gone));
    }

    #[test]
    fn ten_attempts_are_made_and_jitter_adds_at_most_a_tenth() {
        let failed = AttemptOutcome::Failed { error: "timed out".into() };
        let pause = |before, share| match after_attempt(&failed, before, Time(0), Jitter::new(share)) {
            AfterAttempt::RetryAt(at) => Some(at.0 / 1_000),
            after => {
                assert_eq!(after, AfterAttempt::Stop(GiveUpReason::Failed));
                None
            }
        };
        let least = [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000];
        for (before, least) in least.into_iter().enumerate() {
            assert_eq!(pause(before as u64, 0), Some(least));
            assert_eq!(pause(before as u64, 500), Some(least + least / 20));
            let longest = pause(before as u64, u16::MAX).unwrap();
            assert!(longest > least + least / 11 && longest < least + least / 10, "{longest}");
        }
        assert_eq!([9, 10, u64::MAX].map(|before| pause(before, 0)), [None; 3]);
    }
}
