//! Heads over WebSocket: wakes the indexer of a chain when a node announces a block, so that it is read before the next
//! poll. Nothing that is announced is believed; without a connection the indexer polls as it would anyway.

use std::time::Duration;

use bankroll_chains_evm::{HeadStream, RpcError, RpcLimits};

use super::{FlowSetup, StopFlag, pace::WakeFlag, without_keys};
use crate::log::{NodeLog, on_one_line};

/// How long one wait takes, so that a stop is noticed.
const PATIENCE: Duration = Duration::from_millis(250);
/// The pause after a connection that broke; doubled up to the most.
const PAUSE: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Listens to one node until a stop is requested.
pub fn listen(setup: &FlowSetup, url: &str, wake: &WakeFlag, log: &NodeLog, stop: &StopFlag) {
    let (mut pause, mut is_silent) = (PAUSE, false);
    while !stop.is_requested() {
        let ended = HeadStream::connect(url, setup.identity, RpcLimits::default()).and_then(|mut heads| {
            pause = PAUSE;
            if std::mem::take(&mut is_silent) {
                log.write("heads_again", &format!("{} announces heads again", without_keys(url)), &[]);
            }
            // What came between the last poll and the subscription was not announced here.
            wake.wake();
            pass_on(&mut heads, wake, stop)
        });
        if let Err(error) = ended
            && !std::mem::replace(&mut is_silent, true)
        {
            let sentence = format!("{} announces no heads: {}", without_keys(url), on_one_line(&error));
            log.write("heads_silent", &format!("{sentence}; blocks are found by polling"), &[]);
        }
        stop.rest(pause);
        pause = pause.saturating_mul(2).min(PAUSE_MAX);
    }
}

fn pass_on(heads: &mut HeadStream, wake: &WakeFlag, stop: &StopFlag) -> Result<(), RpcError> {
    while !stop.is_requested() {
        if heads.wait(PATIENCE)? {
            wake.wake();
        }
    }
    Ok(())
}
