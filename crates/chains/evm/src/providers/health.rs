//! Which provider to use now. Pure: the time is an argument, in milliseconds of any clock.
//!
//! What counts against a provider: not being available, answers that are malformed or contradict themselves, and being
//! behind the others. A refusal never does, and neither does what a contract said or how long it took, because a player
//! can make contracts say anything.
//!
//! A provider that failed is ill for a pause that doubles with each failure in a row, up to a bound; one success ends
//! it. A provider that lied is ill for longer, and a success ends nothing: a liar also tells the truth. One that is
//! behind is used only when no other is well.

use crate::error::RpcError;

/// How long a provider is left alone, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HealthRules {
    /// After the first failure.
    pub pause: u64,
    /// After many.
    pub pause_max: u64,
    /// After the first lie.
    pub lie_pause: u64,
    /// After many.
    pub lie_pause_max: u64,
    /// How many blocks a provider may be behind the others.
    pub lag_max: u64,
}

impl Default for HealthRules {
    /// A second to a minute; ten minutes to six hours for a lie; three blocks.
    fn default() -> Self {
        Self { pause: 1_000, pause_max: 60_000, lie_pause: 600_000, lie_pause_max: 21_600_000, lag_max: 3 }
    }
}

/// What speaks against a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProviderFault {
    Unavailable,
    Malformed,
    Lying,
}

impl ProviderFault {
    /// What an error of a provider speaks for; `None` for a refusal.
    pub fn of(error: &RpcError) -> Option<Self> {
        match error {
            RpcError::Unavailable(_) => Some(Self::Unavailable),
            RpcError::Malformed(_) => Some(Self::Malformed),
            RpcError::Disagreeing(_) => Some(Self::Lying),
            RpcError::Refused(_) => None,
        }
    }
}

/// The health of one provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProviderHealth {
    /// Failures in a row.
    pub failures: u32,
    /// Lies that are remembered.
    pub lies: u32,
    /// Its last fault, which a success does not erase.
    pub last_fault: Option<ProviderFault>,
    /// Whether it was behind the others when they were last compared.
    pub is_behind: bool,
    failed_until: u64,
    distrusted_until: u64,
}

impl ProviderHealth {
    /// Whether it may be asked.
    pub fn is_well(&self, now: u64) -> bool {
        now >= self.failed_until && !self.is_distrusted(now)
    }

    /// Whether it lied lately.
    pub fn is_distrusted(&self, now: u64) -> bool {
        now < self.distrusted_until
    }
}

/// The health of all providers of a chain, in the order of the configuration.
#[derive(Clone, Debug)]
pub(super) struct Health {
    rules: HealthRules,
    providers: Vec<ProviderHealth>,
}

impl Health {
    pub fn new(rules: HealthRules, count: usize) -> Self {
        Self { rules, providers: vec![ProviderHealth::default(); count] }
    }

    pub fn of(&self, provider: usize) -> ProviderHealth {
        self.providers.get(provider).copied().unwrap_or_default()
    }

    pub fn succeeded(&mut self, provider: usize) {
        if let Some(health) = self.providers.get_mut(provider) {
            (health.failures, health.failed_until) = (0, 0);
        }
    }

    pub fn failed(&mut self, provider: usize, fault: ProviderFault, now: u64) {
        let rules = self.rules;
        let Some(health) = self.providers.get_mut(provider) else { return };
        health.last_fault = Some(fault);
        if fault == ProviderFault::Lying {
            // Lies are forgotten after the longest pause without another.
            if now >= health.distrusted_until.saturating_add(rules.lie_pause_max) {
                health.lies = 0;
            }
            health.lies = health.lies.saturating_add(1);
            let until = now.saturating_add(doubled(rules.lie_pause, health.lies, rules.lie_pause_max));
            health.distrusted_until = until.max(health.distrusted_until);
        } else {
            health.failures = health.failures.saturating_add(1);
            health.failed_until = now.saturating_add(doubled(rules.pause, health.failures, rules.pause_max));
        }
    }

    /// Compares heads that were read at the same time. The height that counts is one that two providers have, if there
    /// are three: a single one could claim any height.
    pub fn compare(&mut self, heads: &[(usize, u64)]) {
        let mut heights: Vec<u64> = heads.iter().map(|(_, height)| *height).collect();
        heights.sort_unstable_by(|left, right| right.cmp(left));
        let reference = if heights.len() > 2 { heights.get(1) } else { heights.first() };
        let Some(reference) = reference.copied() else { return };
        for (provider, height) in heads {
            if let Some(health) = self.providers.get_mut(*provider) {
                health.is_behind = height.saturating_add(self.rules.lag_max) < reference;
            }
        }
    }

    /// Whom to ask, in this order: those that are well, first those that are not behind; and if none is well, the one
    /// whose pause ends first, liars last.
    pub fn order(&self, now: u64) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.providers.len()).collect();
        all.sort_by_key(|provider| self.of(*provider).is_behind);
        let well: Vec<usize> = all.iter().copied().filter(|provider| self.of(*provider).is_well(now)).collect();
        if !well.is_empty() {
            return well;
        }
        let best = all.into_iter().min_by_key(|provider| {
            let health = self.of(*provider);
            let until = if health.is_distrusted(now) { health.distrusted_until } else { health.failed_until };
            (health.is_distrusted(now), until)
        });
        best.into_iter().collect()
    }
}

/// The first pause, doubled for each time after the first.
fn doubled(first: u64, times: u32, most: u64) -> u64 {
    let factor = 1_u64.checked_shl(times.saturating_sub(1)).unwrap_or(u64::MAX);
    first.saturating_mul(factor).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: HealthRules =
        HealthRules { pause: 100, pause_max: 1_000, lie_pause: 5_000, lie_pause_max: 40_000, lag_max: 3 };

    #[test]
    fn an_ill_provider_is_asked_again_after_a_growing_bounded_pause() {
        let mut health = Health::new(RULES, 2);
        let mut now = 0;
        for pause in [100, 200, 400, 800, 1_000, 1_000] {
            health.failed(0, ProviderFault::Unavailable, now);
            assert_eq!(health.order(now + pause - 1), [1], "after {pause}");
            assert_eq!(health.order(now + pause), [0, 1]);
            now += pause;
        }
        health.succeeded(0);
        health.failed(0, ProviderFault::Malformed, now);
        assert_eq!((health.order(now + 99), health.order(now + 100)), (vec![1], vec![0, 1]), "as at the first time");
    }

    #[test]
    fn a_liar_is_left_alone_for_longer_and_a_true_answer_ends_nothing() {
        let mut health = Health::new(RULES, 2);
        health.failed(0, ProviderFault::Lying, 0);
        health.succeeded(0);
        assert_eq!((health.order(4_999), health.order(5_000)), (vec![1], vec![0, 1]));
        health.failed(0, ProviderFault::Lying, 5_000);
        assert_eq!((health.order(14_999), health.order(15_000)), (vec![1], vec![0, 1]), "twice as long");
        // After the longest pause without a lie it is the first one again.
        health.failed(0, ProviderFault::Lying, 55_000);
        assert_eq!((health.order(59_999), health.order(60_000)), (vec![1], vec![0, 1]));
    }

    #[test]
    fn if_all_are_ill_the_best_one_is_still_asked() {
        let mut health = Health::new(RULES, 3);
        health.failed(0, ProviderFault::Lying, 0);
        health.failed(1, ProviderFault::Unavailable, 0);
        health.failed(1, ProviderFault::Unavailable, 0);
        health.failed(2, ProviderFault::Unavailable, 50);
        assert_eq!(health.order(60), [2], "its pause ends first");
        health.failed(2, ProviderFault::Lying, 60);
        assert_eq!(health.order(70), [1], "it did not lie");
        health.failed(1, ProviderFault::Lying, 70);
        assert_eq!(health.order(80), [0], "all lied: the one that is due first");
    }

    #[test]
    fn one_that_is_behind_comes_last_and_one_claim_of_a_great_height_changes_nothing() {
        let mut health = Health::new(RULES, 3);
        health.compare(&[(0, 96), (1, 100), (2, 100)]);
        assert_eq!(health.order(0), [1, 2, 0]);
        health.compare(&[(0, 97), (1, 100), (2, 100)]);
        assert_eq!(health.order(0), [0, 1, 2], "three blocks are allowed");
        health.compare(&[(0, u64::MAX), (1, 100), (2, 99)]);
        assert_eq!(health.order(0), [0, 1, 2]);
        health.compare(&[(0, 90), (1, 100)]);
        assert_eq!(health.order(0), [1, 2, 0], "of two, the higher one counts");
    }

    /// The same rules again, from the history of one provider alone.
    fn model_is_well(history: &[(u64, Option<ProviderFault>)], now: u64) -> bool {
        let (mut row, mut ill, mut lies, mut distrusted) = (0_u32, 0, 0_u32, 0);
        for (at, fault) in history {
            match fault {
                None => (row, ill) = (0, 0),
                Some(ProviderFault::Lying) => {
                    lies = if *at < distrusted + 40_000 { lies + 1 } else { 1 };
                    distrusted = distrusted.max(at + (5_000 * 2_u64.pow(lies.min(10) - 1)).min(40_000));
                }
                Some(_) => {
                    row += 1;
                    ill = at + (100 * 2_u64.pow(row.min(10) - 1)).min(1_000);
                }
            }
        }
        now >= ill && now >= distrusted
    }

    #[test]
    fn random_histories_end_as_in_the_model() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..200 {
            let (mut health, mut histories, mut now) = (Health::new(RULES, 3), vec![Vec::new(); 3], 0);
            for _ in 0..60 {
                let most = [50, 500, 60_000][random.usize(..3)];
                now += random.u64(0..most);
                let provider = random.usize(..3);
                let fault = match random.u8(..6) {
                    0..3 => None,
                    3 => Some(ProviderFault::Unavailable),
                    4 => Some(ProviderFault::Malformed),
                    _ => Some(ProviderFault::Lying),
                };
                match fault {
                    None => health.succeeded(provider),
                    Some(fault) => health.failed(provider, fault, now),
                }
                histories[provider].push((now, fault));
                let well: Vec<usize> = (0..3).filter(|other| model_is_well(&histories[*other], now)).collect();
                let order = health.order(now);
                if well.is_empty() {
                    assert_eq!(order.len(), 1, "the best one is still asked");
                } else {
                    assert_eq!(order, well);
                }
            }
        }
    }
}
