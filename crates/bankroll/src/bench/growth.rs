//! Growth: the same load at the end of a long journal as at its start, and the memory it takes.

use std::{path::Path, time::Instant};

use serde::Serialize;

use super::seats::Seats;

/// What a long run came to.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Growth {
    pub transfers: u64,
    pub keys: u64,
    pub accounts: usize,
    /// Transfers per second over the first tenth and over the last.
    pub first_per_s: f64,
    pub last_per_s: f64,
    /// How much slower the last tenth was than the first, in per cent; negative if it was faster.
    pub slower_percent: f64,
    /// The most memory that this process has had resident, load and all, in MiB.
    pub peak_rss_mib: u64,
    pub disk_bytes_per_transfer: u64,
}

/// Ten million transfers with random keys over a million accounts; a million over ten thousand when quick.
pub(super) fn run(folder: &Path, quick: bool) -> anyhow::Result<Growth> {
    let (transfers, accounts) = if quick { (1_000_000, 10_000) } else { (10_000_000, 1_000_000) };
    run_n(folder, transfers, accounts)
}
pub fn run_n(folder: &Path, transfers: u64, accounts: usize) -> anyhow::Result<Growth> {
    let seats = Seats::open(folder, accounts, false)?;
    let tenth = transfers / 10;
    let rate = |first: u64| -> anyhow::Result<f64> {
        let start = Instant::now();
        seats.send(first..first + tenth, true)?;
        Ok(tenth as f64 / start.elapsed().as_secs_f64())
    };
    let tenths: Vec<f64> = (0..10).map(|number| rate(number * tenth)).collect::<anyhow::Result<_>>()?;
    let (first_per_s, last_per_s) = (tenths[0], tenths[9]);
    let disk: u64 = std::fs::read_dir(folder)?.map(|file| Ok(file?.metadata()?.len())).sum::<std::io::Result<u64>>()?;
    let growth = Growth {
        transfers,
        keys: transfers,
        accounts,
        first_per_s,
        last_per_s,
        slower_percent: (1.0 - last_per_s / first_per_s) * 100.0,
        peak_rss_mib: peak_rss_mib(),
        disk_bytes_per_transfer: disk / transfers,
    };
    seats.close_and_audit()?;
    Ok(growth)
}

/// From the kernel's own account of this process; 0 where there is none.
fn peak_rss_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|kib| kib.trim().parse::<u64>().ok());
    kib.unwrap_or(0) / 1_024
}
