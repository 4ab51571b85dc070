//! The report of `bench ledger`, as a table and as JSON.

use bankroll_terminal::{counted, thousands};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use super::{growth::Growth, load::LoadRun};

#[derive(Debug, Serialize)]
pub(super) struct LedgerReport {
    pub rows: Vec<LedgerRow>,
    pub growth: Vec<Growth>,
}

#[derive(Debug, Serialize)]
pub(super) struct LedgerRow {
    engine: &'static str,
    shape: String,
    accounts: usize,
    keys: &'static str,
    per_s: f64,
    p50_ms: f64,
    p99_ms: f64,
    raw_per_s: Option<f64>,
    single_tx_per_s: Option<f64>,
}

impl LedgerRow {
    pub fn new(
        engine: &'static str,
        shape: String,
        accounts: usize,
        keys: &'static str,
        run: &LoadRun,
        raw_per_s: Option<f64>,
        single_tx_per_s: Option<f64>,
    ) -> Self {
        let millis = |time: std::time::Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
        Self {
            engine,
            shape,
            accounts,
            keys,
            per_s: run.per_s.round(),
            p50_ms: millis(run.p50),
            p99_ms: millis(run.p99),
            raw_per_s: raw_per_s.map(f64::round),
            single_tx_per_s: single_tx_per_s.map(f64::round),
        }
    }
}

impl LedgerReport {
    pub fn print_json(&self) {
        println!("{}", serde_json::to_string(self).expect("a report is plain data"));
    }

    pub fn print_table(&self) {
        let header = ["engine", "callers x per call", "accounts", "keys", "transfers/s", "p50 ms", "p99 ms"];
        let comparison = ["raw engine/s", "of raw", "1 tx each/s", "times"];
        let mut table = table(header.iter().chain(&comparison).copied());
        for row in &self.rows {
            let ratio = |other: Option<f64>| other.map(|other| row.per_s / other);
            table.add_row([
                row.engine.to_owned(),
                row.shape.clone(),
                row.accounts.to_string(),
                row.keys.to_owned(),
                rate(row.per_s),
                format!("{:.2}", row.p50_ms),
                format!("{:.2}", row.p99_ms),
                row.raw_per_s.map_or("-".into(), rate),
                ratio(row.raw_per_s).map_or("-".into(), |ratio| format!("{:.0} %", ratio * 100.0)),
                row.single_tx_per_s.map_or("-".into(), rate),
                ratio(row.single_tx_per_s).map_or("-".into(), |ratio| format!("{ratio:.1} x")),
            ]);
        }
        println!("{table}");
        for growth in &self.growth {
            growth.print();
        }
    }
}

impl Growth {
    fn print(&self) {
        println!(
            "{}, growth: {}, {}: {}/s in the first fifth, {}/s in the last ({:+.1} % slower); \
             {} bytes on disk per transfer, at most {} MiB of memory",
            self.engine,
            counted(self.transfers, "transfer", "transfers"),
            counted(self.accounts as u64, "account", "accounts"),
            rate(self.first_per_s),
            rate(self.last_per_s),
            self.slower_percent,
            self.disk_bytes_per_transfer,
            self.peak_rss_mib
        );
    }
}

fn table<'a>(header: impl Iterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header(header.collect::<Vec<_>>());
    for column in table.column_iter_mut().skip(4) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A rate per second as a whole number.
fn rate(per_s: f64) -> String {
    thousands(per_s.round() as u64)
}
