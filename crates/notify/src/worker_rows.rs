//! The rows that the worker reads and writes. Every write names what the worker has read, so that of two workers one
//! writes nothing.

use std::collections::BTreeMap;

use bankroll_ledger::{ColumnValue, Time};
use bankroll_store::{
    EventPosition, Rows, Statement,
    columns::{any, int, number_of, one, text, text_of, time},
};

use crate::{
    EndpointId, NotifyError, PublicEvent, WebhookEndpoint, WebhookRequest, WebhookRequestKind,
    attempt::{DeliveryAttempt, TEST_EVENT},
    event_pages::{EventPages, PAGE},
    plan::PendingDelivery,
    progress::EndpointProgress,
    schedule::{AfterAttempt, AttemptOutcome, GiveUpReason, Jitter, after_attempt},
};

/// Rows deleted at a time.
const DELETED_MAX: usize = 1_000;

/// Takes or renews the lease, if no other worker has it.
pub(crate) fn lease(name: &str, now: Time, until: Time) -> Vec<Statement> {
    let first = "INSERT INTO webhook_worker (one, holder, until) VALUES (1, '', 0) ON CONFLICT (one) DO NOTHING";
    let sql = "UPDATE webhook_worker SET holder = $1, until = $3 WHERE one = 1 AND (holder = $1 OR until <= $2)";
    vec![any(first, vec![]), one(sql, vec![text(name), time(now), time(until)])]
}

pub(crate) fn release(name: &str) -> Statement {
    any("UPDATE webhook_worker SET until = 0 WHERE one = 1 AND holder = $1", vec![text(name)])
}

pub(crate) fn progress(rows: &Rows) -> Result<BTreeMap<String, EndpointProgress>, NotifyError> {
    let found = rows.read("SELECT * FROM webhook_progress", vec![])?;
    let read = |row| Ok((text_of(row, "endpoint")?.to_owned(), EndpointProgress::of_row(row)?));
    found.iter().map(read).collect()
}

/// The number of the newest request, by endpoint.
pub(crate) fn newest_requests(rows: &Rows) -> Result<BTreeMap<String, u64>, NotifyError> {
    let found = rows.read("SELECT endpoint, max(number) AS number FROM webhook_requests GROUP BY endpoint", vec![])?;
    let read = |row| Ok((text_of(row, "endpoint")?.to_owned(), number_of(row, "number")?));
    found.iter().map(read).collect()
}

/// How many events wait for the endpoint.
pub(crate) fn waiting(rows: &Rows, endpoint: &EndpointId) -> Result<usize, NotifyError> {
    let sql = "SELECT count(*) AS waiting FROM webhook_deliveries WHERE endpoint = $1 AND state = 'pending'";
    let found = rows.read(sql, vec![text(endpoint.as_str())])?;
    let count = found.first().map_or(Ok(0), |row| number_of(row, "waiting"))?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// What the endpoint has not got yet, in the order of events.
pub(crate) fn pending(rows: &Rows, endpoint: &EndpointId, most: usize) -> Result<Vec<PendingDelivery>, NotifyError> {
    let sql = format!(
        "SELECT seq, place, resource, attempts, next_at FROM webhook_deliveries
         WHERE endpoint = $1 AND state = 'pending' ORDER BY seq, place LIMIT {most}"
    );
    let found = rows.read(&sql, vec![text(endpoint.as_str())])?;
    let read = |row| {
        Ok(PendingDelivery {
            position: (number_of(row, "seq")?, number_of(row, "place")?),
            resource: text_of(row, "resource")?.to_owned(),
            attempts: number_of(row, "attempts")?,
            next_at: Time(number_of(row, "next_at")?),
        })
    };
    found.iter().map(read).collect()
}

/// The first row about an endpoint.
pub(crate) fn begin(endpoint: &WebhookEndpoint, progress: &EndpointProgress) -> Statement {
    one(
        "INSERT INTO webhook_progress (endpoint, revision, seq, place, request, resent_seq, resent_place)
         VALUES ($1, $2, $3, $4, 0, 0, 0)",
        vec![
            text(endpoint.id.as_str()),
            int(progress.revision),
            int(progress.position.seq.0),
            int(progress.position.place.into()),
        ],
    )
}

/// The endpoint was changed, or enabled again: what waits is due now, and its schedule begins anew.
pub(crate) fn begin_revision(endpoint: &WebhookEndpoint, before: u64, now: Time) -> Vec<Statement> {
    let id = || text(endpoint.id.as_str());
    vec![
        one(
            "UPDATE webhook_progress SET revision = $2, stopped_at = NULL, stop_reason = NULL
             WHERE endpoint = $1 AND revision = $3",
            vec![id(), int(endpoint.revision), int(before)],
        ),
        any(
            "UPDATE webhook_deliveries SET attempts = 0, next_at = $2 WHERE endpoint = $1 AND state = 'pending'",
            vec![id(), time(now)],
        ),
    ]
}

/// Takes the events after the cursor: a row for each that the endpoint wants, and the cursor, all or none.
pub(crate) fn take_events(
    rows: &Rows,
    endpoint: &WebhookEndpoint,
    at: &EndpointProgress,
    pages: &mut EventPages,
    now: Time,
) -> Result<Vec<Statement>, NotifyError> {
    let events = pages.after(rows.reader(), at.position)?;
    let Some((last, _)) = events.last() else { return Ok(Vec::new()) };
    let moved = one(
        "UPDATE webhook_progress SET seq = $2, place = $3
         WHERE endpoint = $1 AND revision = $4 AND seq = $5 AND place = $6",
        vec![
            text(endpoint.id.as_str()),
            int(last.seq.0),
            int(last.place.into()),
            int(at.revision),
            int(at.position.seq.0),
            int(at.position.place.into()),
        ],
    );
    let wanted = events.iter().filter(|(_, event)| endpoint.wants(event));
    Ok([moved].into_iter().chain(wanted.map(|(at, event)| due(endpoint, *at, event, now))).collect())
}

/// Takes the next part of the next request.
pub(crate) fn take_request(
    rows: &Rows,
    endpoint: &WebhookEndpoint,
    at: &EndpointProgress,
    pages: &mut EventPages,
    now: Time,
) -> Result<Vec<Statement>, NotifyError> {
    let sql = "SELECT * FROM webhook_requests WHERE endpoint = $1 AND number = $2";
    let number = at.request.saturating_add(1);
    let found = rows.read(sql, vec![text(endpoint.id.as_str()), int(number)])?;
    let Some(row) = found.first() else { return Ok(Vec::new()) };
    let request = WebhookRequest::of_row(row)?;
    let (statements, next) = match request.kind {
        WebhookRequestKind::Test => (vec![test_due(endpoint, number, now)], None),
        WebhookRequestKind::Resend(range) => {
            let first = before(range.from).max(at.resent);
            let events = pages.after(rows.reader(), first)?;
            let is_more = events.len() >= PAGE;
            let within: Vec<_> = events.iter().filter(|(at, _)| *at <= range.to).collect();
            let next = within.last().map(|(at, _)| *at).filter(|last| is_more && *last < range.to);
            let wanted = within.iter().filter(|(_, event)| endpoint.wants(event));
            // What is after the cursor is taken in its own time.
            let wanted = wanted.filter(|(of, _)| *of <= at.position);
            (wanted.map(|(at, event)| due(endpoint, *at, event, now)).collect(), next)
        }
    };
    let (done, resent) = next.map_or((number, EventPosition::default()), |next| (at.request, next));
    let moved = one(
        "UPDATE webhook_progress SET request = $2, resent_seq = $3, resent_place = $4
         WHERE endpoint = $1 AND revision = $5 AND request = $6 AND resent_seq = $7 AND resent_place = $8",
        vec![
            text(endpoint.id.as_str()),
            int(done),
            int(resent.seq.0),
            int(resent.place.into()),
            int(at.revision),
            int(at.request),
            int(at.resent.seq.0),
            int(at.resent.place.into()),
        ],
    );
    Ok([moved].into_iter().chain(statements).collect())
}

/// What an attempt has changed, and whether the endpoint is given up.
pub(crate) fn outcome(
    attempt: &DeliveryAttempt,
    outcome: &AttemptOutcome,
    now: Time,
    jitter: Jitter,
) -> (Vec<Statement>, Option<GiveUpReason>) {
    let after = after_attempt(outcome, attempt.attempts_before, now, jitter);
    let (state, next_at) = match after {
        AfterAttempt::Delivered => ("delivered", now),
        AfterAttempt::RetryAt(at) => ("pending", at),
        AfterAttempt::Stop(_) => ("pending", now),
    };
    let (status, error, answer) = match outcome {
        AttemptOutcome::Answered { status, answer } => (int((*status).into()), ColumnValue::Null, text(answer)),
        AttemptOutcome::Failed { error } => (ColumnValue::Null, text(error), ColumnValue::Null),
    };
    let (seq, place) = attempt.position;
    let recorded = any(
        "UPDATE webhook_deliveries SET state = $5, attempts = attempts + 1, next_at = $6, last_at = $7,
           last_status = $8, last_error = $9, answer = $10
         WHERE endpoint = $1 AND seq = $2 AND place = $3 AND attempts = $4 AND state = 'pending'",
        vec![
            text(attempt.endpoint.as_str()),
            int(seq),
            int(place),
            int(attempt.attempts_before),
            text(state),
            time(next_at),
            time(now),
            status,
            error,
            answer,
        ],
    );
    let AfterAttempt::Stop(reason) = after else { return (vec![recorded], None) };
    let stopped = any(
        "UPDATE webhook_progress SET stopped_at = $3, stop_reason = $4
         WHERE endpoint = $1 AND revision = $2 AND stopped_at IS NULL",
        vec![text(attempt.endpoint.as_str()), int(attempt.revision), time(now), text(reason.as_str())],
    );
    (vec![recorded, stopped], Some(reason))
}

pub(crate) fn delete_old(before: Time) -> Statement {
    let sql = format!(
        "DELETE FROM webhook_deliveries WHERE (endpoint, seq, place) IN (
           SELECT endpoint, seq, place FROM webhook_deliveries WHERE state = 'delivered' AND last_at < $1
           ORDER BY last_at LIMIT {DELETED_MAX})"
    );
    any(&sql, vec![time(before)])
}

/// An event that is due now; once more, if it was delivered before.
fn due(endpoint: &WebhookEndpoint, at: EventPosition, event: &PublicEvent, now: Time) -> Statement {
    due_row(endpoint, [at.seq.0, at.place.into()], [&event.kind, &event.resource], now)
}

fn test_due(endpoint: &WebhookEndpoint, number: u64, now: Time) -> Statement {
    due_row(endpoint, [0, number], [TEST_EVENT, endpoint.id.as_str()], now)
}

fn due_row(endpoint: &WebhookEndpoint, at: [u64; 2], [kind, resource]: [&str; 2], now: Time) -> Statement {
    any(
        "INSERT INTO webhook_deliveries (endpoint, seq, place, type, resource, state, attempts, next_at, created_at)
         VALUES ($1, $2, $3, $4, $5, 'pending', 0, $6, $6)
         ON CONFLICT (endpoint, seq, place) DO UPDATE SET state = 'pending', attempts = 0, next_at = excluded.next_at
         WHERE webhook_deliveries.state = 'delivered'",
        vec![text(endpoint.id.as_str()), int(at[0]), int(at[1]), text(kind), text(resource), time(now)],
    )
}

/// The position just before one.
fn before(at: EventPosition) -> EventPosition {
    match at.place.checked_sub(1) {
        Some(place) => EventPosition { place, ..at },
        None => EventPosition { seq: bankroll_ledger::Seq(at.seq.0.saturating_sub(1)), place: u16::MAX },
    }
}
