//! The spend limit of a server's key: what its calls may take from players, and what they may give to players, in any
//! minute; each of the two has a window of its own.
//!
//! It limits what a stolen key can do before it is revoked. The window is in memory: after a restart it begins empty.

use std::collections::{BTreeMap, VecDeque};

use bankroll_ledger::{Amount, AssetId, Time};
use bankroll_orders::Address;

const SECOND: u64 = 1_000_000;
const WINDOW_SECONDS: u64 = 60;

/// Whose money a call moves. A thief with a server's key is also one who gives: to an account of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpendSide {
    /// Out of a player's account.
    Taken,
    /// Into a player's account, whose owner can have it paid out.
    Given,
}

/// What keys have spent in the last minute, by key, asset and side.
#[derive(Clone, Debug, Default)]
pub struct SpendLimits {
    windows: BTreeMap<WindowKey, SpendWindow>,
}

/// What has a window of its own.
pub type WindowKey = (Address, AssetId, SpendSide);

/// Amounts of the last sixty seconds, summed up by the second: at most 61 of them.
#[derive(Clone, Debug, Default)]
struct SpendWindow {
    seconds: VecDeque<(u64, Amount)>,
}

/// A call that would exceed its key's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key's spend limit of {limit} in a minute is used up: {spent} is spent, {amount} was asked")]
pub struct SpendLimitReached {
    pub limit: Amount,
    pub spent: Amount,
    pub amount: Amount,
    /// When the oldest second leaves the window; `None` for an amount above the limit itself.
    pub retry_at: Option<Time>,
}

impl SpendLimits {
    /// Counts an amount against the limit of a key.
    ///
    /// # Errors
    /// If that would exceed the limit; nothing is counted then.
    pub fn spend(&mut self, key: WindowKey, limit: Amount, amount: Amount, now: Time) -> Result<(), SpendLimitReached> {
        let window = self.windows.entry(key).or_default();
        let spent = window.advance(now);
        let after = spent.checked_add(amount).filter(|after| *after <= limit);
        if after.is_none() {
            let oldest = window.seconds.front().map(|(second, _)| second);
            let leaves = |second: &u64| Time(second.saturating_add(WINDOW_SECONDS + 1).saturating_mul(SECOND));
            let retry_at = oldest.filter(|_| amount <= limit).map(leaves);
            return Err(SpendLimitReached { limit, spent, amount, retry_at });
        }
        window.add(now, amount);
        Ok(())
    }

    /// Takes back what was counted for a call that the ledger certainly refused. Not for an unknown outcome.
    pub fn give_back(&mut self, key: WindowKey, amount: Amount, counted_at: Time) {
        let Some(window) = self.windows.get_mut(&key) else { return };
        let second = counted_at.0 / SECOND;
        if let Some((_, sum)) = window.seconds.iter_mut().find(|(of, _)| *of == second) {
            *sum = sum.checked_sub(amount).unwrap_or(Amount::ZERO);
        }
    }
}

impl SpendWindow {
    /// Drops what is older than the window; gives the sum of the rest.
    fn advance(&mut self, now: Time) -> Amount {
        let second = now.0 / SECOND;
        // A second that has begun counts whole, so that no sixty seconds ever exceed the limit.
        while self.seconds.front().is_some_and(|(oldest, _)| oldest.saturating_add(WINDOW_SECONDS) < second) {
            self.seconds.pop_front();
        }
        // Each of them was within a limit, so the sum fits; if it did not, nothing more may be spent.
        let sum = self.seconds.iter().try_fold(Amount::ZERO, |sum, (_, amount)| sum.checked_add(*amount));
        sum.unwrap_or(Amount::new(u128::MAX))
    }

    fn add(&mut self, now: Time, amount: Amount) {
        let second = now.0 / SECOND;
        match self.seconds.back_mut() {
            // A clock that went back counts into the newest second.
            Some((newest, sum)) if *newest >= second => {
                *sum = sum.checked_add(amount).unwrap_or(Amount::new(u128::MAX));
            }
            _ => self.seconds.push_back((second, amount)),
        }
    }
}

#[cfg(test)]
mod tests;
