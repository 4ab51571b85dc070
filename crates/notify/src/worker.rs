//! The work of the role `notify`, step by step: takes new events for each endpoint, says what to send, and records what
//! became of it. It sends nothing itself; see [`crate::WebhookClient`].
//!
//! | phase | if the process dies after it |
//! | --- | --- |
//! | take events: a row for each, and the cursor, in one write | they are due, and are found |
//! | send | the next attempt sends the same id and content again |
//! | record the outcome | it is recorded |
//!
//! So every event is sent at least once. Two workers at once do no harm: a cursor moves only from where the worker has
//! read it, an outcome is recorded only for the attempt that it belongs to; the worst is an event that is sent twice.
//! A lease keeps the second worker idle all the same.

use std::collections::{BTreeMap, BTreeSet};

use bankroll_ledger::Time;
use bankroll_store::{EventPosition, Rows, RowsError, RowsLocation, RowsRejection, Statement, columns::BadRow};

use crate::{
    EndpointId, NotifyError, WebhookEndpoint,
    attempt::DeliveryAttempt,
    endpoints,
    event_pages::EventPages,
    plan::{DeliveryPosition, InFlight, SLOW, plan},
    progress::EndpointProgress,
    schedule::{AttemptOutcome, Jitter},
    worker_rows as rows,
};

/// No more events are taken for an endpoint while so many wait for it: the rest stays in the outbox, where it costs
/// nothing. The rows are read again with each outcome, so the list is short.
pub const WAITING_MAX: usize = 256;
/// The same for an endpoint that has not answered quickly yet.
const WAITING_MAX_SLOW: usize = 32;
/// In microseconds: how long a lease lasts, and how often old rows are deleted.
const LEASE: u64 = 60 * 1_000_000;
const CLEAN_EVERY: u64 = 3_600 * 1_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSettings {
    /// The name of this worker: a node's name.
    pub name: String,
    /// Requests in flight at most, to all endpoints together.
    pub in_flight_max: usize,
    /// How long the log keeps what was delivered, in microseconds.
    pub keep_for: u64,
}

/// Delivers events. One for each process with the role.
#[derive(Debug)]
pub struct DeliveryWorker {
    rows: Rows,
    settings: WorkerSettings,
    lease_until: Option<Time>,
    cleaned_at: Time,
    rounds: u64,
    /// What is known of each endpoint. Only a hint, which is read again when anything happens.
    work: BTreeMap<EndpointId, EndpointWork>,
}

#[derive(Debug, Default)]
struct EndpointWork {
    /// The round in which it got its last place.
    served: u64,
    /// Whether its last attempt failed or took long.
    is_slow: bool,
    /// Whether its last attempt was answered well and soon.
    is_quick: bool,
    in_flight: BTreeSet<DeliveryPosition>,
    /// `None`: read its rows.
    idle: Option<IdleEndpoint>,
}

#[derive(Debug)]
struct IdleEndpoint {
    waiting: usize,
    until: Option<Time>,
}

/// What a round reads once for all endpoints.
struct RoundView {
    now: Time,
    newest: EventPosition,
    progress: BTreeMap<String, EndpointProgress>,
    /// The number of the newest request, by endpoint.
    requested: BTreeMap<String, u64>,
    pages: EventPages,
}

impl RoundView {
    fn read(rows: &Rows, now: Time) -> Result<Self, NotifyError> {
        Ok(Self {
            now,
            newest: rows.reader().newest_event()?,
            progress: rows::progress(rows)?,
            requested: rows::newest_requests(rows)?,
            pages: EventPages::default(),
        })
    }
}

/// What a round has found.
#[derive(Debug, Default)]
pub struct DeliveryRound {
    /// To be sent now; each outcome goes to [`DeliveryWorker::record`].
    pub attempts: Vec<DeliveryAttempt>,
    /// Whether there is more to do at once.
    pub is_busy: bool,
    /// Endpoints with rows that cannot be read; the others go on.
    pub skipped: Vec<(EndpointId, BadRow)>,
}

impl DeliveryWorker {
    /// Opens the rows.
    ///
    /// # Errors
    /// If the books cannot be opened for reading.
    pub fn open(location: impl Into<RowsLocation>, settings: WorkerSettings) -> Result<Self, NotifyError> {
        let rows = Rows::open(location)?;
        Ok(Self { rows, settings, lease_until: None, cleaned_at: Time(0), rounds: 0, work: BTreeMap::new() })
    }

    /// Takes what is new and plans what is due.
    ///
    /// # Errors
    /// If rows cannot be read or written. The next round reads everything again.
    pub fn round(&mut self, now: Time) -> Result<DeliveryRound, NotifyError> {
        let mut round = DeliveryRound::default();
        match self.plan_all(now, &mut round) {
            Ok(()) => Ok(round),
            Err(error) => {
                // What was planned before the failure is not sent.
                round.attempts.iter().for_each(|attempt| self.abandon(attempt));
                self.forget();
                Err(error)
            }
        }
    }

    fn plan_all(&mut self, now: Time, round: &mut DeliveryRound) -> Result<(), NotifyError> {
        let mut enabled = endpoints(self.rows.reader())?;
        enabled.retain(WebhookEndpoint::is_enabled);
        // Without endpoints nothing is written, not even a lease.
        if enabled.is_empty() || !self.hold_lease(now)? {
            self.forget();
            return Ok(());
        }
        self.clean(now)?;
        let mut view = RoundView::read(&self.rows, now)?;
        // If there are not enough places, those who have waited longest come first.
        enabled.sort_by_key(|endpoint| self.work.get(&endpoint.id).map_or(0, |work| work.served));
        self.rounds = self.rounds.saturating_add(1);
        for endpoint in &enabled {
            match self.serve(endpoint, &mut view, round) {
                // One endpoint's rows stop no other endpoint.
                Err(NotifyError::Row(bad)) => round.skipped.push((endpoint.id.clone(), bad)),
                served => served?,
            }
        }
        Ok(())
    }

    /// Takes what is new for one endpoint and plans what is due.
    fn serve(
        &mut self,
        endpoint: &WebhookEndpoint,
        view: &mut RoundView,
        round: &mut DeliveryRound,
    ) -> Result<(), NotifyError> {
        let known = view.progress.remove(endpoint.id.as_str());
        let at = self.up_to_date(endpoint, known, view.now)?;
        if at.stopped_at.is_some() {
            return Ok(());
        }
        round.is_busy |= self.take(endpoint, &at, view)?;
        self.plan_one(endpoint, view.now, round)
    }

    /// Records outcomes, each with the attempt it belongs to, in one write.
    ///
    /// # Errors
    /// If they cannot be written; then the next round attempts the same again.
    pub fn record(
        &mut self,
        done: Vec<(DeliveryAttempt, AttemptOutcome, Jitter)>,
        now: Time,
    ) -> Result<Vec<(EndpointId, &'static str)>, NotifyError> {
        let (mut statements, mut stopped) = (Vec::new(), Vec::new());
        for (attempt, outcome, jitter) in done {
            let work = self.work.entry(attempt.endpoint.clone()).or_default();
            work.in_flight.remove(&attempt.position);
            work.idle = None;
            let is_delivered = matches!(outcome, AttemptOutcome::Answered { status: 200..=299, .. });
            work.is_slow = !is_delivered || now.0.saturating_sub(attempt.planned_at.0) > SLOW;
            work.is_quick = !work.is_slow;
            let (made, stop) = rows::outcome(&attempt, &outcome, now, jitter);
            statements.extend(made);
            stopped.extend(stop.map(|reason| (attempt.endpoint, reason.as_str())));
        }
        if !statements.is_empty() {
            self.rows.write(statements)?;
        }
        Ok(stopped)
    }

    /// An attempt that was not made: it is still due.
    pub fn abandon(&mut self, attempt: &DeliveryAttempt) {
        let work = self.work.entry(attempt.endpoint.clone()).or_default();
        work.in_flight.remove(&attempt.position);
        work.idle = None;
    }

    /// The attempts in flight at an orderly end are abandoned: the next worker makes them again.
    pub fn release(&mut self) {
        if self.lease_until.take().is_some() {
            // If this fails, the lease ends by itself.
            let _ = self.rows.write(vec![rows::release(&self.settings.name)]);
        }
    }

    /// What is planned and has no outcome yet.
    #[must_use]
    pub fn in_flight(&self) -> InFlight {
        self.work.values().fold(InFlight::default(), |sum, work| {
            let count = work.in_flight.len();
            let slow = if work.is_slow { count } else { 0 };
            InFlight { all: sum.all.saturating_add(count), slow: sum.slow.saturating_add(slow) }
        })
    }

    /// Reads every row again, except what is in flight.
    fn forget(&mut self) {
        self.work.values_mut().for_each(|work| work.idle = None);
        self.lease_until = None;
    }

    fn hold_lease(&mut self, now: Time) -> Result<bool, NotifyError> {
        let half = Time(now.0.saturating_add(LEASE / 2));
        if self.lease_until.is_some_and(|until| until > half) {
            return Ok(true);
        }
        let until = Time(now.0.saturating_add(LEASE));
        let held = write(&self.rows, rows::lease(&self.settings.name, now, until))?;
        self.lease_until = held.then_some(until);
        Ok(held)
    }

    /// The progress of an endpoint, for its present revision.
    fn up_to_date(
        &mut self,
        endpoint: &WebhookEndpoint,
        known: Option<EndpointProgress>,
        now: Time,
    ) -> Result<EndpointProgress, NotifyError> {
        match known {
            Some(progress) if progress.revision == endpoint.revision => Ok(progress),
            Some(progress) => {
                write(&self.rows, rows::begin_revision(endpoint, progress.revision, now))?;
                self.work.entry(endpoint.id.clone()).or_default().idle = None;
                Ok(EndpointProgress { revision: endpoint.revision, stopped_at: None, ..progress })
            }
            None => {
                let progress = EndpointProgress::new(endpoint);
                write(&self.rows, vec![rows::begin(endpoint, &progress)])?;
                Ok(progress)
            }
        }
    }

    /// Takes the next events and requests; returns whether it has taken any.
    fn take(
        &mut self,
        endpoint: &WebhookEndpoint,
        at: &EndpointProgress,
        view: &mut RoundView,
    ) -> Result<bool, NotifyError> {
        let has_requests = view.requested.get(endpoint.id.as_str()).is_some_and(|newest| *newest > at.request);
        let has_events = at.position < view.newest;
        if !has_requests && !has_events {
            return Ok(false);
        }
        let work = self.work.entry(endpoint.id.clone()).or_default();
        let waiting = match &work.idle {
            Some(idle) => idle.waiting,
            None => rows::waiting(&self.rows, &endpoint.id)?,
        };
        if waiting >= if work.is_quick { WAITING_MAX } else { WAITING_MAX_SLOW } {
            return Ok(false);
        }
        let (mut taken, RoundView { pages, now, .. }) = (false, view);
        if has_requests {
            taken |= write(&self.rows, rows::take_request(&self.rows, endpoint, at, pages, *now)?)?;
        }
        if has_events {
            taken |= write(&self.rows, rows::take_events(&self.rows, endpoint, at, pages, *now)?)?;
        }
        work.idle = None;
        Ok(taken)
    }

    fn plan_one(
        &mut self,
        endpoint: &WebhookEndpoint,
        now: Time,
        round: &mut DeliveryRound,
    ) -> Result<(), NotifyError> {
        let is_idle =
            |work: &EndpointWork| work.idle.as_ref().is_some_and(|idle| idle.until.is_none_or(|until| until > now));
        if self.work.get(&endpoint.id).is_some_and(is_idle) {
            return Ok(());
        }
        let in_flight = self.in_flight();
        let work = self.work.entry(endpoint.id.clone()).or_default();
        let free = in_flight.free(self.settings.in_flight_max, work.is_slow);
        if free == 0 {
            return Ok(());
        }
        let pending = rows::pending(&self.rows, &endpoint.id, WAITING_MAX)?;
        let plan = plan(&pending, &work.in_flight, now);
        let chosen: Vec<_> = plan.attempt.iter().filter_map(|place| pending.get(*place)).take(free).collect();
        let is_cut = chosen.len() < plan.attempt.len();
        for delivery in chosen {
            let attempt = DeliveryAttempt::load(self.rows.reader(), endpoint, delivery, now)?;
            work.in_flight.insert(attempt.position);
            work.served = self.rounds;
            round.attempts.push(attempt);
        }
        work.idle = (!is_cut).then_some(IdleEndpoint { waiting: pending.len(), until: plan.look_at });
        Ok(())
    }

    /// Deletes what was delivered long ago.
    fn clean(&mut self, now: Time) -> Result<(), NotifyError> {
        if now.0.saturating_sub(self.cleaned_at.0) < CLEAN_EVERY {
            return Ok(());
        }
        let before = Time(now.0.saturating_sub(self.settings.keep_for));
        let deleted = self.rows.write(vec![rows::delete_old(before)])?;
        if deleted.iter().all(|count| *count == 0) {
            self.cleaned_at = now;
        }
        Ok(())
    }
}

/// Writes; `false` if there is nothing to write, or another worker was faster.
fn write(rows: &Rows, statements: Vec<Statement>) -> Result<bool, NotifyError> {
    if statements.is_empty() {
        return Ok(false);
    }
    match rows.write(statements) {
        Ok(_) => Ok(true),
        Err(RowsError::Rejected(RowsRejection::Changed { .. } | RowsRejection::Constraint { .. })) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
