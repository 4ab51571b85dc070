//! `bankroll bench http`: transfers through the whole service, from a socket to the disk and back.
//!
//! The real front and the real router serve real books on loopback, without limits of rate and without an access log.
//! Each shape is compared, in the same run, with the two parts of its cost: the same server answering calls that ask
//! the ledger for nothing, and the ledger with the same transfers and no HTTP. The three alternate, because the speed
//! of a disk changes from one minute to the next.

mod books;
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

/// Callers and what is expected of them.
const SHAPES: [(Shape, Option<HttpGoal>); 3] = [
    (Shape { callers: 64, per_call: 1, in_flight: 1 }, Some(HttpGoal::Sum(0.75))),
    (Shape { callers: 32, per_call: 100, in_flight: 1 }, Some(HttpGoal::Ledger(0.5))),
    (Shape { callers: 4, per_call: 8_000, in_flight: 1 }, None),
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
    let rows = SHAPES.into_iter().map(|(shape, goal)| measure_shape(&books, front.address(), shape, goal, length));
    let rows = rows.collect::<anyhow::Result<_>>()?;
    front.drain();
    let token_check_us = token_check_us(&books, length.cell)?;
    books.close_and_audit()?;
    Ok(HttpReport { rows, token_check_us })
}

fn measure_shape(
    books: &HttpBooks,
    front: SocketAddr,
    shape: Shape,
    goal: Option<HttpGoal>,
    length: HttpBenchLength,
) -> anyhow::Result<HttpRow> {
    let mut rounds = Vec::new();
    for round in 1..=length.rounds {
        log(&format!("http: {} x {}, round {round} of {}", shape.callers, shape.per_call, length.rounds));
        let noop = client::run(books, front, shape, CallKind::Nothing, length.cell)?;
        let ledger = load::run(books, shape, Keys::Ordered, length.cell)?;
        seats::settle(&books.ledger)?;
        let http = client::run(books, front, shape, CallKind::Transfers, length.cell)?;
        seats::settle(&books.ledger)?;
        rounds.push([noop, ledger, http]);
    }
    let [noop, ledger, http] = [0, 1, 2].map(|which| mean(rounds.iter().map(|round| &round[which])));
    Ok(HttpRow::new(shape.name(), goal, &http, noop.per_s, ledger.per_s))
}

/// The mean of rounds that took the same time.
fn mean<'a>(rounds: impl ExactSizeIterator<Item = &'a LoadRun> + Clone) -> LoadRun {
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
