//! Callers: they send calls and wait for their answers.
//!
//! As in a server, callers are tasks of a few threads, not threads of their own: waking thirty-two threads takes longer
//! than storing their requests, and would be measured as the ledger's work.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use bankroll_ledger::Request;
use bankroll_store::{Ledger, Reader};
use futures_util::future::try_join_all;

use super::seats::Seats;

/// Books, and an endless row of transfers for them.
pub(super) trait LoadSource: Sync {
    fn ledger(&self) -> &Ledger;
    /// The number of the next transfer.
    fn next(&self) -> &AtomicU64;
    /// Transfer number `number`: always the same request, so that it can be sent again.
    fn transfer(&self, number: u64, random_key: bool) -> Request;
}

/// How the load is divided into calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub callers: usize,
    pub per_call: usize,
    /// Calls that a caller sends before it waits for the first answer.
    pub in_flight: usize,
}

impl Shape {
    /// One caller with full calls: one being written, one being decided, one queued, one being prepared.
    pub const FULL: Self = Self { callers: 1, per_call: 8_189, in_flight: 4 };
    pub const ALL: [Self; 3] = [
        Self { callers: 32, per_call: 1, in_flight: 1 },
        Self { callers: 32, per_call: 100, in_flight: 1 },
        Self::FULL,
    ];
    /// As many single requests in flight as a busy server has: the target for Postgres books.
    pub const CROWD: Self = Self { callers: 4_096, per_call: 1, in_flight: 1 };

    pub fn name(self) -> String {
        format!("{}x{}", self.callers, self.per_call)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    Ordered,
    Random,
    /// Keys of earlier transfers: the stored answer again.
    Replay,
}

impl Keys {
    pub const ALL: [Self; 3] = [Self::Ordered, Self::Random, Self::Replay];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Ordered => "ordered",
            Self::Random => "random",
            Self::Replay => "replay",
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct LoadRun {
    pub per_s: f64,
    pub p50: Duration,
    pub p99: Duration,
    /// Requests in a batch of the writer, on average.
    pub mean_batch: usize,
}

/// Transfers made before the measurement, for replays: enough for the key index to store them in runs on disk.
pub(super) const HISTORY: u64 = 300_000;

/// Threads that run the callers' tasks.
const THREADS: usize = 2;

/// Sends calls for this time, and waits for the last answers.
pub(super) fn run(seats: &impl LoadSource, shape: Shape, keys: Keys, time: Duration) -> anyhow::Result<LoadRun> {
    let reader = Reader::open(seats.ledger().location())?;
    let before = reader.head()?;
    let start = Instant::now();
    let calls = thread::scope(|scope| -> anyhow::Result<Vec<Duration>> {
        let threads = shape.callers.min(THREADS);
        let caller = |number: usize| call_until(seats, shape, keys, start + time, number as u64);
        let some_of_them = move |thread: usize| -> anyhow::Result<Vec<Duration>> {
            let runtime = tokio::runtime::Builder::new_current_thread().build()?;
            let callers = (thread..shape.callers).step_by(threads).map(caller);
            Ok(runtime.block_on(try_join_all(callers))?.concat())
        };
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || some_of_them(thread))).collect();
        let mut calls = Vec::new();
        for thread in threads {
            calls.extend(thread.join().map_err(|_| anyhow::anyhow!("a caller panicked"))??);
        }
        Ok(calls)
    })?;
    let took = start.elapsed();
    let after = reader.head()?;
    let transfers = calls.len() * shape.per_call;
    let batches = (after.batch - before.batch).max(1);
    Ok(summary(calls, transfers, took, usize::try_from((after.seq.0 - before.seq.0) / batches)?))
}

async fn call_until(
    seats: &impl LoadSource,
    shape: Shape,
    keys: Keys,
    end: Instant,
    seed: u64,
) -> anyhow::Result<Vec<Duration>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut took, mut on_their_way) = (Vec::new(), VecDeque::new());
    loop {
        while on_their_way.len() < shape.in_flight && Instant::now() < end {
            let requests = next_call(seats, shape.per_call, keys, &mut random);
            on_their_way.push_back((Instant::now(), seats.ledger().submit(requests)?));
        }
        let Some((start, reply)) = on_their_way.pop_front() else { return Ok(took) };
        for answer in reply.await? {
            answer.effects()?;
            anyhow::ensure!(answer.replayed == (keys == Keys::Replay), "a transfer was confused with another one");
        }
        took.push(start.elapsed());
    }
}

fn next_call(seats: &impl LoadSource, count: usize, keys: Keys, random: &mut fastrand::Rng) -> Vec<Request> {
    if keys == Keys::Replay {
        return (0..count).map(|_| seats.transfer(random.u64(..HISTORY), false)).collect();
    }
    let first = seats.next().fetch_add(count as u64, Ordering::SeqCst);
    (first..first + count as u64).map(|number| seats.transfer(number, keys == Keys::Random)).collect()
}

/// Sends single transfers at a steady pace; latency counts from the time when each was due.
pub(super) fn paced(seats: &Seats, per_s: u32, time: Duration) -> anyhow::Result<LoadRun> {
    const CALLERS: u32 = 32;
    let start = Instant::now();
    let each = Duration::from_secs(1) / per_s;
    let count = u32::try_from(time.as_millis())? * per_s / 1_000;
    let late = thread::scope(|scope| -> anyhow::Result<Vec<Duration>> {
        let caller = move |caller: u32| -> anyhow::Result<Vec<Duration>> {
            let mut late = Vec::new();
            for number in (caller..count).step_by(CALLERS as usize) {
                let due = start + each * number;
                thread::sleep(due.saturating_duration_since(Instant::now()));
                let number = seats.next.fetch_add(1, Ordering::SeqCst);
                seats.ledger.apply(seats.transfer(number, false))?.effects()?;
                late.push(due.elapsed());
            }
            Ok(late)
        };
        let callers: Vec<_> = (0..CALLERS).map(|number| scope.spawn(move || caller(number))).collect();
        let mut late = Vec::new();
        for caller in callers {
            late.extend(caller.join().map_err(|_| anyhow::anyhow!("a caller panicked"))??);
        }
        Ok(late)
    })?;
    let sent = late.len();
    Ok(summary(late, sent, start.elapsed(), 1))
}

pub(super) fn summary(mut calls: Vec<Duration>, transfers: usize, took: Duration, mean_batch: usize) -> LoadRun {
    calls.sort_unstable();
    let percentile = |percent: usize| calls.get(calls.len() * percent / 100).copied().unwrap_or_default();
    let per_s = transfers as f64 / took.as_secs_f64();
    LoadRun { per_s, p50: percentile(50), p99: percentile(99), mean_batch: mean_batch.max(1) }
}
