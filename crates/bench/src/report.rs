//! The report, for people and for programs.

use bankroll_terminal::thousands;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use super::{growth::Growth, load::Run};

#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub rows: Vec<Row>,
    pub growth: Vec<Growth>,
}

#[derive(Debug, Serialize)]
pub(super) struct Row {
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

impl Row {
    pub fn new(
        engine: &'static str,
        shape: String,
        accounts: usize,
        keys: &'static str,
        run: &Run,
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

/// What others were measured at on a two-core machine of this class, durable, one node: transfers per second at
/// 32 x 1, 32 x 100, in full batches, and on one hot account.
const PEERS: [(&str, &str, &str, &str, &str); 4] = [
    ("TigerBeetle", "1,465", "40,628", "255,000", "312,000"),
    ("pgledger (Postgres)", "1,300-1,550", "about 4,100", "-", "480-700"),
    ("cala (Postgres)", "570", "-", "-", "290"),
    ("Redis function, AOF always", "30,600", "50,700", "-", "30,000-58,000"),
];

impl Report {
    pub fn print_json(&self) {
        println!("{}", serde_json::to_string(self).expect("a report is plain data"));
    }

    pub fn print_table(&self) {
        let header = ["engine", "callers x per call", "accounts", "keys", "transfers/s", "p50 ms", "p99 ms"];
        let beside = ["raw engine/s", "of raw", "1 tx each/s", "times"];
        let mut table = table(header.iter().chain(&beside).copied());
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
        println!("\nothers, as measured on a two-core machine of this class (not in this run):");
        let mut peers = self::table(["", "32 x 1", "32 x 100", "full batches", "one hot account"].into_iter());
        for (peer, one, hundred, full, hot) in PEERS {
            peers.add_row([peer, one, hundred, full, hot]);
        }
        println!("{peers}");
    }
}

impl Growth {
    fn print(&self) {
        println!(
            "{}, growth: {} transfers, {} accounts: {}/s in the first fifth, {}/s in the last ({:+.1} % slower); \
             {} bytes of disk a transfer, at most {} MiB of memory",
            self.engine,
            thousands(self.transfers),
            thousands(self.accounts as u64),
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

/// So many a second, in whole numbers.
fn rate(per_s: f64) -> String {
    thousands(per_s.round() as u64)
}
