//! The report of `bench events`, as a table and as JSON.

use bankroll_terminal::{self as terminal, table, thousands};
use serde::Serialize;

use super::super::load::LoadRun;

/// The least part of the rate that must be left.
const GOAL: f64 = 0.9;

const LEGEND: &str = "\
32 callers give single transfers to the ledger, each with an event. Meanwhile
event streams are open whose readers take nothing, or a little now and then, and
webhook endpoints answer late. The rows are means of rounds that alternate.
";

#[derive(Debug, Serialize)]
pub(crate) struct EventsReport {
    pub(super) shape: String,
    pub(super) rounds: u32,
    pub(super) streams: usize,
    pub(super) endpoints: usize,
    /// What the readers that read took.
    pub(super) stream_bytes: u64,
    /// Requests that the endpoints got.
    pub(super) deliveries: u64,
    pub(super) rows: Vec<EventsRow>,
    /// The rate with both kinds of consumers, as a part of the rate with none.
    pub(super) ratio: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct EventsRow {
    /// `none`, `streams`, `endpoints` or `both`.
    consumers: &'static str,
    per_s: f64,
    p99_ms: f64,
    /// Of the rate with none.
    ratio: f64,
}

/// What the consumers did while it was measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConsumerCounts {
    pub streams: usize,
    pub endpoints: usize,
    pub stream_bytes: u64,
    pub deliveries: u64,
}

impl EventsReport {
    /// The first row has no consumers, the last one all.
    pub(super) fn new<'a>(
        shape: &str,
        rounds: u32,
        runs: impl Iterator<Item = (&'static str, &'a LoadRun)>,
        counts: ConsumerCounts,
    ) -> Self {
        let millis = |time: std::time::Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
        let mut alone = None;
        let row = |(consumers, run): (&'static str, &LoadRun)| {
            let ratio = run.per_s / *alone.get_or_insert(run.per_s);
            EventsRow {
                consumers,
                per_s: run.per_s.round(),
                p99_ms: millis(run.p99),
                ratio: (ratio * 1e3).round() / 1e3,
            }
        };
        let rows: Vec<EventsRow> = runs.map(row).collect();
        let ConsumerCounts { streams, endpoints, stream_bytes, deliveries } = counts;
        let ratio = rows.last().map_or(1.0, |row| row.ratio);
        Self { shape: shape.to_owned(), rounds, streams, endpoints, stream_bytes, deliveries, rows, ratio }
    }

    pub fn print(&self, json: bool) -> anyhow::Result<()> {
        if json { terminal::answer_json(&serde_json::to_value(self)?) } else { terminal::answer(&self.text()) }
    }

    fn text(&self) -> String {
        let mut table = table(&["CALLERS", "CONSUMERS", "TRANSFERS/S", "P99 MS", "OF NONE"], &[2, 3, 4]);
        for row in &self.rows {
            table.add_row([
                self.shape.clone(),
                row.consumers.to_owned(),
                thousands(row.per_s.round() as u64),
                format!("{:.2}", row.p99_ms),
                format!("{:.0} %", row.ratio * 100.0),
            ]);
        }
        let met = if self.ratio >= GOAL { "met" } else { "missed" };
        let goal = format!(
            "with {} streams and {} endpoints: {:.0} % of the rate (goal: 90 %, {met})",
            thousands(self.streams as u64),
            thousands(self.endpoints as u64),
            self.ratio * 100.0
        );
        let (kib, deliveries) = (thousands(self.stream_bytes >> 10), thousands(self.deliveries));
        let given = format!("meanwhile: {kib} KiB of events to the streams, {deliveries} deliveries");
        format!("{}\n\n{goal}\n{given}\n\n{LEGEND}", table.trim_fmt())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_table_shows_all_rates_and_whether_the_goal_is_met() {
        let run =
            |per_s: f64| LoadRun { per_s, p50: Duration::ZERO, p99: Duration::from_micros(12_340), mean_batch: 1 };
        let counts = ConsumerCounts { streams: 1_000, endpoints: 100, stream_bytes: 2_048, deliveries: 3 };
        let text = |with: f64| {
            let runs = [("none", run(20_000.0)), ("both", run(with))];
            EventsReport::new("32x1", 3, runs.iter().map(|(name, run)| (*name, run)), counts).text()
        };
        let met = text(18_000.0);
        assert!(met.contains("with 1,000 streams and 100 endpoints: 90 % of the rate (goal: 90 %, met)"), "{met}");
        assert!(text(17_900.0).contains("(goal: 90 %, missed)"));
        assert!(met.lines().all(|line| line.chars().count() <= 100), "{met}");
    }
}
