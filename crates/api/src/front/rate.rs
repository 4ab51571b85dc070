//! Token buckets: how many requests one address or one session may send.

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hash, RandomState},
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use super::RateLimit;

/// The most callers that are counted apart. When all places are taken by callers that are being throttled, counting
/// starts again: the bound on memory is the harder one.
const CALLERS_MAX: usize = 65_536;
/// A request costs this much; a bucket gains `per_second` of them in a second of a million microseconds.
const REQUEST: u64 = 1_000_000;

#[derive(Debug)]
pub(super) struct RateLimiter {
    limit: RateLimit,
    /// With a key of its own, so that no caller can choose to share another's bucket.
    hasher: RandomState,
    buckets: Mutex<HashMap<u64, Bucket>>,
    start: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: u64,
    /// Microseconds since the start.
    filled_at: u64,
}

impl RateLimiter {
    pub fn new(limit: RateLimit) -> Self {
        Self { limit, hasher: RandomState::new(), buckets: Mutex::default(), start: Instant::now() }
    }

    /// Takes a token; if there is none, the number of seconds until there is one.
    pub fn take(&self, caller: &impl Hash) -> Result<(), u32> {
        let micros = u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.take_at(caller, micros)
    }

    fn take_at(&self, caller: &impl Hash, now: u64) -> Result<(), u32> {
        let key = self.hasher.hash_one(caller);
        let (rate, full) = (u64::from(self.limit.per_second.max(1)), u64::from(self.limit.burst.max(1)) * REQUEST);
        let filled = |bucket: &Bucket| {
            full.min(bucket.tokens.saturating_add(now.saturating_sub(bucket.filled_at).saturating_mul(rate)))
        };
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= CALLERS_MAX && !buckets.contains_key(&key) {
            buckets.retain(|_, bucket| filled(bucket) < full);
            if buckets.len() >= CALLERS_MAX {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(key).or_insert(Bucket { tokens: full, filled_at: now });
        let tokens = filled(bucket);
        let left = tokens.checked_sub(REQUEST);
        *bucket = Bucket { tokens: left.unwrap_or(tokens), filled_at: now };
        match left {
            Some(_) => Ok(()),
            None => {
                let micros = (REQUEST - tokens).div_ceil(rate);
                Err(u32::try_from(micros.div_ceil(1_000_000)).unwrap_or(u32::MAX).max(1))
            }
        }
    }
}

/// The network of an address: one host has a whole /64 of IPv6.
pub(super) fn network(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => u64::from(u32::from(address)),
        IpAddr::V6(address) => (u128::from(address) >> 64) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_the_rate_and_each_caller_alone() {
        let limiter = RateLimiter::new(RateLimit { per_second: 2, burst: 3 });
        let second = 1_000_000;
        for _ in 0..3 {
            assert_eq!(limiter.take_at(&"mallory", 0), Ok(()));
        }
        assert_eq!(limiter.take_at(&"mallory", 0), Err(1));
        assert_eq!(limiter.take_at(&"alice", 0), Ok(()), "another caller");
        assert_eq!(limiter.take_at(&"mallory", second / 2), Ok(()), "two a second");
        assert_eq!(limiter.take_at(&"mallory", second / 2), Err(1));
        for _ in 0..3 {
            assert_eq!(limiter.take_at(&"mallory", 100 * second), Ok(()), "never more than the burst");
        }
        assert_eq!(limiter.take_at(&"mallory", 100 * second), Err(1));
    }

    #[test]
    fn memory_is_bounded() {
        let limiter = RateLimiter::new(RateLimit { per_second: 1, burst: 1 });
        for caller in 0..(2 * CALLERS_MAX) {
            let _ = limiter.take_at(&caller, 0);
        }
        assert!(limiter.buckets.lock().unwrap().len() <= CALLERS_MAX);
    }
}
