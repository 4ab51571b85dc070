//! Growth: the same load at the end of a long journal as at its start, and the memory it takes.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{
    ACCOUNTS, Bed,
    load::{self, Keys, Run, Shape},
    say,
    seats::Seats,
};

/// Transfers before the first fifth: with less than this all keys are in memory, and nothing is stored of them.
const WARM_UP: u64 = 300_000;

/// What a long run came to.
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
    /// The most memory that this process has had resident, load and all, in MiB.
    pub peak_rss_mib: u64,
    pub disk_bytes_per_transfer: u64,
}

/// How long a run is to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    pub transfers: u64,
    /// Accounts that are opened; ten thousand of them pay each other.
    pub accounts: usize,
}

impl Length {
    pub const QUICK: Self = Self { transfers: 1_000_000, accounts: ACCOUNTS };
    pub const LONG: Self = Self { transfers: 10_000_000, accounts: 1_000_000 };
}

/// So many transfers with random keys between ten thousand of the accounts; then, if there are more, between all of them.
pub(super) fn run(bed: &Bed, length: Length, cell: Duration) -> anyhow::Result<(Growth, Option<Run>)> {
    let (engine, Length { transfers, accounts }) = (bed.engine(), length);
    // From here on; where the kernel does not let us, since the process began.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    say(&format!("{engine}, growth: {accounts} accounts are opened and funded"));
    let location = bed.books(accounts)?;
    let mut seats = Seats::open(&location, accounts, false)?;
    seats.active = ACCOUNTS;
    seats.remember(WARM_UP)?;
    let fifth = transfers / 5;
    let mut per_s = Vec::new();
    for number in 0..5 {
        say(&format!("{engine}, growth: {} of {transfers} transfers", number * fifth));
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
        disk_bytes_per_transfer: bed.bytes(&location)? / transfers,
    };
    seats.active = accounts;
    let spread = (accounts > ACCOUNTS).then(|| load::run(&seats, Shape::FULL, Keys::Random, cell)).transpose()?;
    seats.close_and_audit()?;
    bed.clear(&location)?;
    Ok((growth, spread))
}

/// From the kernel's own account of this process; 0 where there is none.
fn peak_rss_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|kib| kib.trim().parse::<u64>().ok());
    kib.unwrap_or(0) / 1_024
}
