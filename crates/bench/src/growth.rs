//! Growth: compares the same load at the start and at the end of a long journal, and measures the memory.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{
    ACCOUNTS, BenchTarget,
    load::{self, Keys, LoadRun, Shape},
    log,
    seats::Seats,
};

/// Transfers before the first fifth: with fewer, all keys are in memory and the key index stores nothing.
const WARM_UP: u64 = 300_000;

#[derive(Clone, Debug, Serialize)]
pub(super) struct Growth {
    pub engine: &'static str,
    pub transfers: u64,
    pub keys: u64,
    pub accounts: usize,
    /// Transfers per second over the first fifth and over the last, once the key index has begun to store runs.
    pub first_per_s: f64,
    pub last_per_s: f64,
    /// How much slower the last fifth was than the first, in per cent; negative if it was faster.
    pub slower_percent: f64,
    /// The peak resident memory of this process, load included, in MiB.
    pub peak_rss_mib: u64,
    pub disk_bytes_per_transfer: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct GrowthLength {
    pub transfers: u64,
    /// Accounts to open; ten thousand of them pay each other.
    pub accounts: usize,
}

impl GrowthLength {
    pub const QUICK: Self = Self { transfers: 1_000_000, accounts: ACCOUNTS };
    pub const LONG: Self = Self { transfers: 10_000_000, accounts: 1_000_000 };
}

/// Makes transfers with random keys between ten thousand of the accounts; then, if there are more accounts, between
/// all.
pub(super) fn run(
    target: &BenchTarget,
    length: GrowthLength,
    cell: Duration,
) -> anyhow::Result<(Growth, Option<LoadRun>)> {
    let (engine, GrowthLength { transfers, accounts }) = (target.engine(), length);
    // Resets the peak. Where the kernel refuses, the peak counts from the start of the process.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    log(&format!("{engine}, growth: opening and funding {accounts} accounts"));
    let location = target.books(accounts)?;
    let mut seats = Seats::open(&location, accounts, false)?;
    seats.active = ACCOUNTS;
    seats.remember(WARM_UP)?;
    let fifth = transfers / 5;
    let mut per_s = Vec::new();
    for number in 0..5 {
        log(&format!("{engine}, growth: {} of {transfers} transfers", number * fifth));
        let first = seats.next.fetch_add(fifth, Ordering::SeqCst);
        let start = Instant::now();
        seats.send(first..first + fifth, true)?;
        per_s.push(fifth as f64 / start.elapsed().as_secs_f64());
    }
    let growth = Growth {
        engine,
        transfers,
        keys: transfers,
        accounts,
        first_per_s: per_s[0].round(),
        last_per_s: per_s[4].round(),
        slower_percent: ((1.0 - per_s[4] / per_s[0]) * 1_000.0).round() / 10.0,
        peak_rss_mib: peak_rss_mib(),
        disk_bytes_per_transfer: target.bytes(&location)? / transfers,
    };
    seats.active = accounts;
    let spread = (accounts > ACCOUNTS).then(|| load::run(&seats, Shape::FULL, Keys::Random, cell)).transpose()?;
    seats.close_and_audit()?;
    target.clear(&location)?;
    Ok((growth, spread))
}

/// From the kernel's status of this process; 0 if it has none.
pub(super) fn peak_rss_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|kib| kib.trim().parse::<u64>().ok());
    kib.unwrap_or(0) / 1_024
}
