//! Opening books whose last holder died: waits until its lease is over.
//!
//! Bounded: a lease that is not renewed ends at a known time. A holder that renews it is alive, and the wait ends with
//! [`StoreError::Leased`] soon after the time at which it would have ended.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::ledger::{Ledger, LedgerOptions};
use crate::{LeaseHolder, LeaseWatch, Location, StoreError};

/// How long to try after the lease should have ended: two clocks measure the time.
const MARGIN: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Ledger {
    /// As [`Ledger::open`], but waits for the lease of a holder that does not renew it. Reports that holder, once.
    ///
    /// # Errors
    /// As [`Ledger::open`]; [`StoreError::Leased`] if the holder is alive.
    pub fn open_in_turn(options: LedgerOptions, on_wait: impl FnMut(&LeaseHolder)) -> Result<Self, StoreError> {
        in_turn(options, Self::open, on_wait)
    }

    /// As [`Ledger::open_or_create`], but waits like [`Ledger::open_in_turn`].
    ///
    /// # Errors
    /// As [`Ledger::open_or_create`]; [`StoreError::Leased`] if the holder is alive.
    pub fn open_or_create_in_turn(
        options: LedgerOptions,
        on_wait: impl FnMut(&LeaseHolder),
    ) -> Result<Self, StoreError> {
        in_turn(options, Self::open_or_create, on_wait)
    }
}

fn in_turn(
    options: LedgerOptions,
    open: impl Fn(LedgerOptions) -> Result<Ledger, StoreError>,
    mut on_wait: impl FnMut(&LeaseHolder),
) -> Result<Ledger, StoreError> {
    let Location::Postgres(url) = options.location.clone() else { return open(options) };
    let (mut watch, mut until) = (LeaseWatch::new(url), None);
    loop {
        let leased = match open(options.clone()) {
            Err(leased @ StoreError::Leased { .. }) => leased,
            opened => return opened,
        };
        // It is free when the holder releases it, or when its time is over.
        loop {
            let Some(holder) = watch.holder()?.filter(|holder| !holder.left.is_zero()) else { break };
            // The lease of a move is for its operator to end, who may have to finish the move first.
            if holder.is_move() {
                return Err(leased);
            }
            let until = *until.get_or_insert_with(|| {
                on_wait(&holder);
                Instant::now() + holder.left + MARGIN
            });
            if Instant::now() >= until {
                return Err(leased);
            }
            thread::sleep(LOOK_EVERY.min(holder.left));
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            return Err(leased);
        }
    }
}
