//! The role `notify`: delivers events to webhooks. And what the role `books` does about endpoints that were given up.

use std::{
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

use bankroll_notify::{
    AttemptOutcome, DeliveryAttempt, DeliveryWorker, EndpointId, Jitter, TargetPolicy, WebhookClient, WorkerSettings,
    announce_stopped,
};
use bankroll_store::{Clock, Ledger, Reader};
use rand_core::{OsRng, RngCore};

use super::{
    RowsLocation, StopFlag,
    pace::{LoopRound, rounds},
};
use crate::log::NodeLog;

/// How often `books` looks for endpoints that were given up.
const ANNOUNCE_EVERY: Duration = Duration::from_secs(1);
/// No wait for an answer is longer, so that the loop stops at once.
const NAP: Duration = Duration::from_millis(20);

/// The settings of deliveries.
#[derive(Clone, Debug)]
pub struct NotifySetup {
    pub policy: TargetPolicy,
    /// The pause between two rounds without work.
    pub poll: Duration,
    pub worker: WorkerSettings,
}

/// Delivers until a stop is requested. What is in flight then is sent again by the next worker.
pub fn deliver(setup: &NotifySetup, rows: &RowsLocation, log: &NodeLog, stop: &StopFlag) {
    let (reports, outcomes) = mpsc::channel();
    let mut delivery =
        DeliveryLoop { setup, log, client: None, worker: None, reports, outcomes, clock: Clock::machine() };
    rounds("webhooks", setup.poll, log, stop, |_| delivery.round(rows, stop));
    if let Some(mut worker) = delivery.worker.take() {
        worker.release();
    }
}

/// Disables what the worker has given up, with an event for each, in a ledger that this process holds.
pub fn announce(ledger: &Ledger, log: &NodeLog, stop: &StopFlag) {
    let mut open = None::<Reader>;
    rounds("given-up webhooks", ANNOUNCE_EVERY, log, stop, |_| {
        let reader = open.take().map_or_else(|| Reader::open(ledger.location()), Ok)?;
        let disabled = announce_stopped(ledger, &reader)?;
        open = Some(reader);
        for endpoint in &disabled {
            let sentence = format!("webhook endpoint {endpoint} is disabled: its deliveries failed to the last one");
            log.write("webhook_disabled", &sentence, &[("endpoint", endpoint.as_str().into())]);
        }
        Ok(if disabled.is_empty() { LoopRound::Idle } else { LoopRound::Busy })
    });
}

/// What a thread reports about its attempt; no outcome if it ended without one.
type AttemptReport = (DeliveryAttempt, Option<AttemptOutcome>);

struct DeliveryLoop<'a> {
    setup: &'a NotifySetup,
    log: &'a NodeLog,
    /// Made with the first attempt: reading the machine's certificate authorities takes a moment.
    client: Option<WebhookClient>,
    worker: Option<DeliveryWorker>,
    reports: Sender<AttemptReport>,
    outcomes: Receiver<AttemptReport>,
    clock: Clock,
}

impl DeliveryLoop<'_> {
    fn round(&mut self, rows: &RowsLocation, stop: &StopFlag) -> anyhow::Result<LoopRound> {
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => DeliveryWorker::open(rows, self.setup.worker.clone())?,
        };
        let done = self.step(&mut worker, stop);
        self.worker = Some(worker);
        done
    }

    fn step(&mut self, worker: &mut DeliveryWorker, stop: &StopFlag) -> anyhow::Result<LoopRound> {
        let reported: Vec<AttemptReport> = self.outcomes.try_iter().collect();
        let has_reports = !reported.is_empty();
        self.record(worker, reported)?;
        let round = worker.round(self.clock.now())?;
        let is_busy = has_reports || round.is_busy || !round.attempts.is_empty();
        for attempt in round.attempts {
            self.send(worker, attempt);
        }
        if is_busy {
            return Ok(LoopRound::Busy);
        }
        if worker.in_flight().all == 0 {
            return Ok(round.skipped.first().map_or(LoopRound::Idle, |(endpoint, bad)| {
                LoopRound::Waits(format!("webhook endpoint {endpoint} gets no events: {bad}"))
            }));
        }
        match self.next_report(stop) {
            Some(report) => self.record(worker, vec![report]).map(|()| LoopRound::Busy),
            // The wait was the pause.
            None => Ok(LoopRound::Busy),
        }
    }

    /// Waits for an outcome, at most as long as a pause.
    fn next_report(&self, stop: &StopFlag) -> Option<AttemptReport> {
        let mut left = self.setup.poll;
        while !left.is_zero() && !stop.is_requested() {
            let nap = left.min(NAP);
            match self.outcomes.recv_timeout(nap) {
                Ok(report) => return Some(report),
                Err(RecvTimeoutError::Timeout) => left = left.saturating_sub(nap),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        None
    }

    fn record(&self, worker: &mut DeliveryWorker, reported: Vec<AttemptReport>) -> anyhow::Result<()> {
        let mut done = Vec::new();
        for (attempt, outcome) in reported {
            match outcome {
                Some(outcome) => done.push((attempt, outcome, jitter())),
                None => worker.abandon(&attempt),
            }
        }
        for (endpoint, reason) in worker.record(done, self.clock.now())? {
            self.log_stopped(&endpoint, reason);
        }
        Ok(())
    }

    /// One thread for each attempt: a slow endpoint keeps its own thread waiting, and no other.
    fn send(&mut self, worker: &mut DeliveryWorker, attempt: DeliveryAttempt) {
        let client = self.client.get_or_insert_with(|| WebhookClient::new(self.setup.policy)).clone();
        let mut report = ReportAtEnd { to: self.reports.clone(), attempt: attempt.clone(), outcome: None };
        let now = self.clock.now();
        let run = move || report.outcome = Some(client.send(&report.attempt, now));
        if thread::Builder::new().name("webhook".into()).spawn(run).is_err() {
            worker.abandon(&attempt);
        }
    }

    fn log_stopped(&self, endpoint: &EndpointId, reason: &str) {
        let sentence = format!("gives up webhook endpoint {endpoint}: {reason}");
        self.log.write("webhook_stopped", &sentence, &[("endpoint", endpoint.as_str().into())]);
    }
}

/// Reports when it is dropped, so that a thread that panics reports, too.
struct ReportAtEnd {
    to: Sender<AttemptReport>,
    attempt: DeliveryAttempt,
    outcome: Option<AttemptOutcome>,
}

impl Drop for ReportAtEnd {
    fn drop(&mut self) {
        // Without a receiver the loop has ended.
        let _ = self.to.send((self.attempt.clone(), self.outcome.take()));
    }
}

fn jitter() -> Jitter {
    let mut bytes = [0; 2];
    // Without random bytes there is no jitter.
    let _ = OsRng.try_fill_bytes(&mut bytes);
    Jitter::new(u16::from_le_bytes(bytes) % 1_000)
}

#[cfg(test)]
mod tests;
