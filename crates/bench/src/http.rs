//! `bankroll bench http`: transfers through the whole service, from a socket to the disk and back.
//!
//! The real front and the real router serve real books on loopback, without limits of rate and without an access log.
//! Each shape is compared, in the same run, with the two parts of its cost: the same server answering calls that ask
//! the ledger for nothing, and the ledger with the same transfers and no HTTP. The three alternate, because the speed
//! of a disk changes from one minute to the next.

pub(super) mod books;
mod client;
mod registration;
mod report;

use std::{
    hint::black_box,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::{Duration, Instant},
};

use bankroll_api::{
    front::{self, FrontBackend, FrontConfig},
    router,
};

use super::{
    ACCOUNTS,
    load::{self, Keys, LoadRun, Shape},
    log, seats,
};
use books::HttpBooks;
use client::CallKind;
use report::{HttpGoal, HttpReport, HttpRow};

/// Connections, the callers of the ledger that they are compared with, and what is expected of them.
struct HttpShape {
    connections: usize,
    ledger_callers: usize,
    per_call: usize,
    goal: Option<HttpGoal>,
}

const SHAPES: [HttpShape; 3] = [
    HttpShape { connections: 64, ledger_callers: 64, per_call: 1, goal: Some(HttpGoal::Sum(0.75)) },
    // The ledger's own row of batches has 32 callers; a service has 64 connections in every row but the last.
    HttpShape { connections: 64, ledger_callers: 32, per_call: 100, goal: Some(HttpGoal::Ledger(0.5)) },
    // More would not fit into the ledger's queue.
    HttpShape { connections: 4, ledger_callers: 4, per_call: 8_000, goal: None },
];

/// How long to measure.
#[derive(Clone, Copy)]
struct HttpBenchLength {
    rounds: u32,
    cell: Duration,
}

/// Measures with books in this folder, which are audited and removed afterwards.
pub(super) fn measure(folder: &Path, quick: bool) -> anyhow::Result<HttpReport> {
    let length = if quick {
        HttpBenchLength { rounds: 1, cell: Duration::from_millis(500) }
    } else {
        HttpBenchLength { rounds: 3, cell: Duration::from_secs(3) }
    };
    let books = HttpBooks::open(&folder.join("http").into(), ACCOUNTS)?;
    let config = FrontConfig {
        rate_per_address: None,
        rate_per_session: None,
        ..FrontConfig::new((Ipv4Addr::LOCALHOST, 0).into())
    };
    let front = front::serve(config, FrontBackend::Here(router(books.funds.clone())))?;
    client::warm_up(&books, front.address())?;
    let rows = SHAPES.iter().map(|shape| measure_shape(&books, front.address(), shape, length));
    let rows = rows.collect::<anyhow::Result<_>>()?;
    front.drain();
    let token_check_us = token_check_us(&books, length.cell)?;
    books.close_and_audit()?;
    Ok(HttpReport { rows, token_check_us })
}

fn measure_shape(
    books: &HttpBooks,
    front: SocketAddr,
    shape: &HttpShape,
    length: HttpBenchLength,
) -> anyhow::Result<HttpRow> {
    let HttpShape { connections, ledger_callers, per_call, goal } = *shape;
    let [over_http, without] = [connections, ledger_callers].map(|callers| Shape { callers, per_call, in_flight: 1 });
    let mut rounds = Vec::new();
    for round in 1..=length.rounds {
        log(&format!("http: {connections} x {per_call}, round {round} of {}", length.rounds));
        let noop = client::run(books, front, over_http, CallKind::Nothing, length.cell)?;
        let ledger = load::run(books, without, Keys::Ordered, length.cell)?;
        seats::settle(&books.ledger)?;
        let http = client::run(books, front, over_http, CallKind::Transfers, length.cell)?;
        seats::settle(&books.ledger)?;
        rounds.push([noop, ledger, http]);
    }
    let [noop, ledger, http] = [0, 1, 2].map(|which| mean(rounds.iter().map(|round| &round[which])));
    Ok(HttpRow::new(over_http.name(), goal, &http, noop.per_s, ledger.per_s))
}

/// The mean of rounds that took the same time.
pub(super) fn mean<'a>(rounds: impl ExactSizeIterator<Item = &'a LoadRun> + Clone) -> LoadRun {
    let count = rounds.len() as u32;
    LoadRun {
        per_s: rounds.clone().map(|run| run.per_s).sum::<f64>() / f64::from(count),
        p50: rounds.clone().map(|run| run.p50).sum::<Duration>() / count,
        p99: rounds.map(|run| run.p99).sum::<Duration>() / count,
        mean_batch: 1,
    }
}

/// How long the check of a session token takes, in microseconds: its MAC, its time, and whether it is revoked.
fn token_check_us(books: &HttpBooks, time: Duration) -> anyhow::Result<f64> {
    let (session, now) = (&books.session, books.funds.now());
    let (start, mut checks) = (Instant::now(), 0_u32);
    while start.elapsed() < time {
        for _ in 0..100 {
            black_box(session.keys.verify(black_box(session.token.reveal()), &session.registry, now))?;
        }
        checks += 100;
    }
    Ok((start.elapsed().as_secs_f64() * 1e8 / f64::from(checks)).round() / 100.0)
}
