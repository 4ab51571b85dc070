//! `bankroll bench events`: what slow consumers of events cost the books.
//!
//! The same transfers, each with an event, are given to the ledger without any consumer, and then while event streams
//! are open whose readers do not keep up and while webhook endpoints answer late. Both alternate, because the speed of a
//! disk changes from one minute to the next.

mod late_endpoints;
mod report;
mod slow_readers;

use std::{
    net::Ipv4Addr,
    path::Path,
    sync::atomic::AtomicU64,
    time::{Duration, Instant},
};

use bankroll_api::{
    front::{self, FrontBackend, FrontConfig, FrontHandle},
    router,
};
use bankroll_ledger::{Event, Request};
use bankroll_store::Ledger;

use super::{
    ACCOUNTS,
    http::{
        books::{HttpBooks, SERVER},
        mean,
    },
    load::{self, Keys, LoadSource, Shape},
    log, seats,
};
use late_endpoints::LateEndpoints;
use report::{ConsumerCounts, EventsReport};
use slow_readers::SlowReaders;

/// How long to measure, and with how many consumers.
#[derive(Clone, Copy)]
struct EventsBenchLength {
    rounds: u32,
    cell: Duration,
    streams: usize,
    endpoints: usize,
}

/// More files than the consumers and the service open.
const FILES_MAX: u64 = 8_192;

/// Measures with books in this folder, which are audited and removed afterwards.
pub(super) fn measure(folder: &Path, quick: bool) -> anyhow::Result<EventsReport> {
    let length = if quick {
        EventsBenchLength { rounds: 1, cell: Duration::from_millis(500), streams: 100, endpoints: 10 }
    } else {
        EventsBenchLength { rounds: 3, cell: Duration::from_secs(5), streams: 1_000, endpoints: 1_000 }
    };
    raise_file_limit();
    let books = HttpBooks::open(&folder.join("events").into(), ACCOUNTS)?;
    let announcing = Announcing(&books);
    let front = serve(&books, length.streams)?;
    let mut endpoints = LateEndpoints::listen(&books.ledger, length.endpoints)?;
    let shape = Shape { callers: 32, per_call: 1, in_flight: 1 };
    load::run(&announcing, shape, Keys::Ordered, length.cell / 4)?;
    let (mut cells, mut stream_bytes) = ([const { Vec::new() }; 4], 0);
    for round in 1..=length.rounds {
        for (cell, (has_streams, has_endpoints)) in cells.iter_mut().zip(CELLS) {
            log(&format!("events: 32 x 1, round {round} of {}, {}", length.rounds, name(has_streams, has_endpoints)));
            seats::settle(&books.ledger)?;
            let readers = has_streams
                .then(|| SlowReaders::open(front.address(), books.session.token.reveal(), length.streams))
                .transpose()?;
            has_endpoints.then(|| endpoints.start()).transpose()?;
            cell.push(load::run(&announcing, shape, Keys::Ordered, length.cell)?);
            has_endpoints.then(|| endpoints.stop()).transpose()?;
            if let Some(readers) = readers {
                stream_bytes += readers.bytes();
                readers.close()?;
            }
            wait_for_no_streams(&front)?;
        }
    }
    let counts = ConsumerCounts {
        streams: length.streams,
        endpoints: length.endpoints,
        stream_bytes,
        deliveries: endpoints.deliveries(),
    };
    let runs = cells.map(|runs| mean(runs.iter()));
    let rows = CELLS.iter().zip(&runs).map(|((streams, endpoints), run)| (name(*streams, *endpoints), run));
    let report = EventsReport::new(&shape.name(), length.rounds, rows, counts);
    front.drain();
    drop(endpoints);
    books.close_and_audit()?;
    Ok(report)
}

/// What is connected while a cell is measured: streams, and webhook endpoints.
const CELLS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

const fn name(has_streams: bool, has_endpoints: bool) -> &'static str {
    match (has_streams, has_endpoints) {
        (false, false) => "none",
        (true, false) => "streams",
        (false, true) => "endpoints",
        (true, true) => "both",
    }
}

fn serve(books: &HttpBooks, streams: usize) -> anyhow::Result<FrontHandle> {
    let config = FrontConfig {
        rate_per_address: None,
        rate_per_session: None,
        connections_max: streams * 2,
        // All readers are on this machine.
        behind_proxy: true,
        streams_max: streams,
        streams_per_caller: streams,
        ..FrontConfig::new((Ipv4Addr::LOCALHOST, 0).into())
    };
    Ok(front::serve(config, FrontBackend::Here(router(books.funds.clone())))?)
}

fn wait_for_no_streams(front: &FrontHandle) -> anyhow::Result<()> {
    let until = Instant::now() + Duration::from_secs(60);
    while front.streams() > 0 {
        anyhow::ensure!(Instant::now() < until, "{} streams did not end", front.streams());
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// The transfers of [`HttpBooks`], each with the event that consumers get.
struct Announcing<'a>(&'a HttpBooks);

impl LoadSource for Announcing<'_> {
    fn ledger(&self) -> &Ledger {
        self.0.ledger()
    }

    fn next(&self) -> &AtomicU64 {
        self.0.next()
    }

    fn transfer(&self, number: u64, random_key: bool) -> Request {
        let mut request = self.0.transfer(number, random_key);
        let resource = format!("transfer-{number}");
        let body = format!(r#"{{"server":"{SERVER}","transfer":"{resource}","amount":"1000000000000000000"}}"#);
        if let Ok(kind) = "transfer.applied".parse() {
            request.events.push(Event { kind, resource, body });
        }
        request
    }
}

/// Each consumer is two open files of this process.
fn raise_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let wanted = maximum.map_or(FILES_MAX, |maximum| maximum.min(FILES_MAX));
        if current.is_some_and(|current| current < wanted) {
            // If it is not allowed, opening the streams fails with a message.
            let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
        }
    }
}
