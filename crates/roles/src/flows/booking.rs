//! The role `books`, as long as this process holds them: credits final deposits, takes back those that the chain took back,
//! and settles what became of payouts.

use std::time::Duration;

use anyhow::Context;
use bankroll_deposits::crediting;
use bankroll_store::{Clock, Consumer, Ledger, Rows};
use bankroll_withdrawals::settlement;

use super::{
    Setup, Stop,
    pace::{Round, rounds},
};
use crate::log::Log;

/// Deposits booked, and rows of the inbox taken in, in one round at the most.
const ROWS_MAX: usize = 256;
/// How long a table without news is left alone.
const REST: Duration = Duration::from_millis(10);

/// How many rows fit into the queue beside what else is in it: one with a fact takes as much room as seventeen.
pub fn rows_max(queue_max: usize) -> usize {
    ROWS_MAX.min(queue_max / 34).max(1)
}

/// Credits and takes back, until it is time to stop.
pub fn credit(setup: &Setup, ledger: &Ledger, most: usize, log: &Log, stop: &Stop) {
    let (servers, mut open) = (setup.servers(), None::<Rows>);
    rounds("crediting", REST.min(setup.poll), log, stop, |_| {
        let rows = match open.take() {
            Some(rows) => rows,
            None => {
                // The coin is listed before anything is credited in it; listed again, it is the same.
                ledger.list_asset(setup.coin.clone()).context("the chain's coin cannot be listed")?;
                Rows::beside(ledger)?
            }
        };
        let booked = crediting::step(&servers, ledger, &rows, most)?;
        open = Some(rows);
        for (verb, event, done) in
            [("credited", "deposit_credited", &booked.credited), ("taken back", "deposit_reversed", &booked.reversed)]
        {
            for (id, epoch) in done {
                log.tell(event, || {
                    (
                        format!("deposit {id} is {verb}"),
                        vec![("deposit", id.to_string().into()), ("epoch", (*epoch).into())],
                    )
                });
            }
        }
        if !booked.credited.is_empty() || !booked.reversed.is_empty() {
            return Ok(Round::Busy);
        }
        Ok(booked
            .refused
            .first()
            .map_or(Round::Idle, |(id, why)| Round::Waits(format!("the books refuse {id}: {why}"))))
    });
}

/// Settles, until it is time to stop.
pub fn settle(ledger: &Ledger, most: usize, log: &Log, stop: &Stop) {
    let (clock, mut open) = (Clock::machine(), None::<Consumer>);
    rounds("settling", REST, log, stop, |_| {
        let mut consumer = match open.take() {
            Some(consumer) => consumer,
            None => settlement::consumer(ledger.location(), most)?,
        };
        let round = consumer.round(ledger, clock.now())?;
        open = Some(consumer);
        if round.refused > 0 {
            let sentence = format!("{} outcomes of payouts were refused; each row says why", round.refused);
            log.say("refused_rows", &sentence, &[("rows", round.refused.into())]);
        }
        Ok(if round.rows() > 0 { Round::Busy } else { Round::Idle })
    });
}
