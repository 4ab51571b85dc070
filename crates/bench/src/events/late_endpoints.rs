//! Webhook endpoints that answer late, and the worker that delivers to them.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::Context;
use bankroll_ledger::{Action, IdempotencyKey, Namespace, Principal, References, Request, Scope};
use bankroll_notify::{
    DeliveryWorker, EndpointId, Jitter, NewEndpoint, NewSecret, TargetPolicy, TypeFilter, WebhookClient, WorkerSettings,
};
use bankroll_registry::random_bytes;
use bankroll_store::{Clock, Ledger, Reader};

/// How long each answer takes.
const LATE: Duration = Duration::from_secs(2);
/// As a node has it.
const POLL: Duration = Duration::from_millis(250);
const IN_FLIGHT_MAX: usize = 256;

pub(super) struct LateEndpoints {
    ledger: Ledger,
    deliveries: Arc<AtomicU64>,
    worker: Option<(Arc<AtomicBool>, JoinHandle<anyhow::Result<()>>)>,
}

impl LateEndpoints {
    /// Registers so many endpoints, all behind one listener.
    pub fn listen(ledger: &Ledger, count: usize) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let deliveries = Arc::<AtomicU64>::default();
        let counted = Arc::clone(&deliveries);
        // It ends with the process.
        thread::Builder::new().name("late endpoints".into()).spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let counted = Arc::clone(&counted);
                let _ = thread::Builder::new().stack_size(64 << 10).spawn(move || answer_late(stream, &counted));
            }
        })?;
        for number in 0..count {
            register(ledger, address, number)?;
        }
        Ok(Self { ledger: ledger.clone(), deliveries, worker: None })
    }

    /// The role `notify` begins.
    pub fn start(&mut self) -> anyhow::Result<()> {
        let stop = Arc::<AtomicBool>::default();
        let (ledger, stopped) = (self.ledger.clone(), Arc::clone(&stop));
        let run = move || deliver(&ledger, &stopped);
        let thread = thread::Builder::new().name("webhooks".into()).spawn(run)?;
        self.worker = Some((stop, thread));
        Ok(())
    }

    pub fn stop(&mut self) -> anyhow::Result<()> {
        let (stop, thread) = self.worker.take().context("no worker runs")?;
        stop.store(true, Ordering::SeqCst);
        thread.join().map_err(|_| anyhow::anyhow!("the worker panicked"))?
    }

    /// Requests that the endpoints have got.
    pub fn deliveries(&self) -> u64 {
        self.deliveries.load(Ordering::Relaxed)
    }
}

fn register(ledger: &Ledger, at: SocketAddr, number: usize) -> anyhow::Result<()> {
    let now = Clock::machine().now();
    let id = EndpointId::new("bench", &number.to_string());
    let secret = NewSecret::new(random_bytes()?, random_bytes()?);
    ledger.write_rows_in_turn(vec![secret.insert(&id, now)])?.wait()??;
    let from = Reader::open(ledger.location())?.newest_event()?;
    let url = format!("http://{at}/{number}");
    let endpoint = NewEndpoint { id, url, types: TypeFilter::all(), server: None, secret: &secret, from, now };
    let (_, change) = endpoint.create();
    let request = Request {
        key: IdempotencyKey {
            namespace: Namespace::Registry,
            scope: Scope::House,
            text: format!("bench-endpoint-{number}"),
        },
        principal: Principal::System,
        confirmation: None,
        action: Action::Legs(Vec::new()),
        references: References::default(),
        facts: vec![change.fact],
        events: vec![change.event],
    };
    ledger.apply(request)?.effects()?;
    Ok(())
}

/// The loop of the role, until it must stop. What is in flight then is forgotten.
fn deliver(ledger: &Ledger, stop: &AtomicBool) -> anyhow::Result<()> {
    let settings = WorkerSettings { name: "bench".into(), in_flight_max: IN_FLIGHT_MAX, keep_for: u64::MAX };
    let mut worker = DeliveryWorker::open(ledger, settings)?;
    let client = WebhookClient::new(TargetPolicy { allows_private: true });
    let (clock, (reports, outcomes)) = (Clock::machine(), mpsc::channel());
    while !stop.load(Ordering::SeqCst) {
        let done: Vec<_> = outcomes.try_iter().collect();
        let has_done = !done.is_empty();
        worker.record(done, clock.now())?;
        let round = worker.round(clock.now())?;
        let is_busy = has_done || round.is_busy || !round.attempts.is_empty();
        for attempt in round.attempts {
            let (client, reports, now) = (client.clone(), reports.clone(), clock.now());
            thread::Builder::new().name("webhook".into()).spawn(move || {
                let outcome = client.send(&attempt, now);
                // After the end nothing listens.
                let _ = reports.send((attempt, outcome, Jitter::new(0)));
            })?;
        }
        if !is_busy {
            thread::sleep(POLL);
        }
    }
    worker.release();
    Ok(())
}

fn answer_late(mut stream: TcpStream, deliveries: &AtomicU64) {
    let _ = stream.set_read_timeout(Some(LATE));
    // The head and a short body come at once.
    let _ = stream.read(&mut [0; 16 << 10]);
    deliveries.fetch_add(1, Ordering::Relaxed);
    thread::sleep(LATE);
    let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
}
