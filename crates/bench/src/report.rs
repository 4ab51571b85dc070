//! The report of `bench ledger`, as a table and as JSON.

use bankroll_terminal::{self as terminal, counted, table, thousands};
use serde::Serialize;

use super::{growth::Growth, load::LoadRun};

const LEGEND: &str = "\
CALLERS: callers x transfers per call. RAW/S: the same rows in the same batches,
written without deciding anything. 1 TX/S: one SQL transaction per transfer.

";

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

    pub fn print_table(&self) -> anyhow::Result<()> {
        terminal::answer(&self.text())
    }

    /// A table for each engine, then what the columns mean.
    fn text(&self) -> String {
        let mut text = String::new();
        for rows in self.rows.chunk_by(|one, next| one.engine == next.engine) {
            let header = [
                "CALLERS",
                "ACCOUNTS",
                "KEYS",
                "TRANSFERS/S",
                "P50 MS",
                "P99 MS",
                "RAW/S",
                "OF RAW",
                "1 TX/S",
                "TIMES",
            ];
            let mut table = table(&header, &[1, 3, 4, 5, 6, 7, 8, 9]);
            for row in rows {
                let ratio = |other: Option<f64>| other.map(|other| row.per_s / other);
                table.add_row([
                    row.shape.clone(),
                    thousands(row.accounts as u64),
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
            text += &format!("{}\n{}\n\n", rows[0].engine, table.trim_fmt());
        }
        if !self.rows.is_empty() {
            text += LEGEND;
        }
        self.growth.iter().for_each(|growth| text += &growth.text());
        text
    }
}

impl Growth {
    fn text(&self) -> String {
        format!(
            "{}, growth: {}, {}\n  {}/s in the first fifth, {}/s in the last ({:+.1} % slower)\n  \
             {} bytes on disk per transfer, at most {} MiB of memory\n",
            self.engine,
            counted(self.transfers, "transfer", "transfers"),
            counted(self.accounts as u64, "account", "accounts"),
            rate(self.first_per_s),
            rate(self.last_per_s),
            self.slower_percent,
            thousands(self.disk_bytes_per_transfer),
            thousands(self.peak_rss_mib)
        )
    }
}

/// A rate per second as a whole number.
fn rate(per_s: f64) -> String {
    thousands(per_s.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_an_engine_fits_a_hundred_columns() {
        let row = |engine| LedgerRow {
            engine,
            shape: "32 x 100".into(),
            accounts: 1_000_000,
            keys: "ordered",
            per_s: 319_378.0,
            p50_ms: 1008.8,
            p99_ms: 1032.0,
            raw_per_s: Some(1_319_378.0),
            single_tx_per_s: Some(6_116.0),
        };
        let growth = Growth {
            engine: "sqlite",
            transfers: 10_000_000,
            keys: 1,
            accounts: 1_000_000,
            first_per_s: 310_000.0,
            last_per_s: 304_000.0,
            slower_percent: 2.0,
            peak_rss_mib: 1_200,
            disk_bytes_per_transfer: 310,
        };
        let report = LedgerReport { rows: vec![row("sqlite"), row("postgres")], growth: vec![growth] };
        let text = report.text();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert_eq!(text.matches("TRANSFERS/S").count(), 2, "{text}");
    }
}
