//! The report of `bench events`, as a table and as JSON.

use bankroll_terminal::{self as terminal, table, thousands};
use serde::Serialize;

use super::super::load::LoadRun;

/// The least part of the rate that must be left.
const GOAL: f64 = 0.9;

const LEGEND: &str = "\
32 callers give single transfers to the ledger, each with an event. ALONE: no
consumer is connected. WITH: meanwhile event streams are open whose readers take
nothing, or a little now and then, and webhook endpoints answer late. Both are
means of rounds that alternate.
";

#[derive(Debug, Serialize)]
pub(crate) struct EventsReport {
    pub(super) shape: String,
    pub(super) rounds: u32,
    /// Streams that were open while it was measured.
    pub(super) streams: usize,
    pub(super) endpoints: usize,
    /// Events that the streams were given in the meantime, in all.
    pub(super) stream_bytes: u64,
    /// Requests that the endpoints got.
    pub(super) deliveries: u64,
    pub(super) alone_per_s: f64,
    pub(super) with_per_s: f64,
    pub(super) alone_p99_ms: f64,
    pub(super) with_p99_ms: f64,
    pub(super) ratio: f64,
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
    pub fn new(shape: String, rounds: u32, alone: &LoadRun, with: &LoadRun, counts: ConsumerCounts) -> Self {
        let millis = |time: std::time::Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
        let ConsumerCounts { streams, endpoints, stream_bytes, deliveries } = counts;
        Self {
            shape,
            rounds,
            streams,
            endpoints,
            stream_bytes,
            deliveries,
            alone_per_s: alone.per_s.round(),
            with_per_s: with.per_s.round(),
            alone_p99_ms: millis(alone.p99),
            with_p99_ms: millis(with.p99),
            ratio: (with.per_s / alone.per_s * 1e3).round() / 1e3,
        }
    }

    pub fn print(&self, json: bool) -> anyhow::Result<()> {
        if json { terminal::answer_json(&serde_json::to_value(self)?) } else { terminal::answer(&self.text()) }
    }

    fn text(&self) -> String {
        let rate = |per_s: f64| thousands(per_s.round() as u64);
        let mut table = table(&["CALLERS", "CONSUMERS", "TRANSFERS/S", "P99 MS", "OF ALONE"], &[2, 3, 4]);
        let with = format!("{} streams, {} endpoints", thousands(self.streams as u64), self.endpoints);
        let rows = [
            ("none", self.alone_per_s, self.alone_p99_ms, 1.0),
            (with.as_str(), self.with_per_s, self.with_p99_ms, self.ratio),
        ];
        for (consumers, per_s, p99_ms, ratio) in rows {
            table.add_row([
                self.shape.clone(),
                consumers.to_owned(),
                rate(per_s),
                format!("{p99_ms:.2}"),
                format!("{:.0} %", ratio * 100.0),
            ]);
        }
        let met = if self.ratio >= GOAL { "met" } else { "missed" };
        let goal = format!("with slow consumers: {:.0} % of the rate (goal: 90 %, {met})", self.ratio * 100.0);
        let given = format!(
            "meanwhile: {} KiB of events to the streams, {} deliveries",
            self.stream_bytes >> 10,
            self.deliveries
        );
        format!("{}\n\n{goal}\n{given}\n\n{LEGEND}", table.trim_fmt())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_table_shows_both_rates_and_whether_the_goal_is_met() {
        let run =
            |per_s: f64| LoadRun { per_s, p50: Duration::ZERO, p99: Duration::from_micros(12_340), mean_batch: 1 };
        let counts = ConsumerCounts { streams: 1_000, endpoints: 10, stream_bytes: 2_048, deliveries: 3 };
        let text = |with: f64| EventsReport::new("32x1".into(), 3, &run(20_000.0), &run(with), counts).text();
        assert!(text(18_000.0).contains("with slow consumers: 90 % of the rate (goal: 90 %, met)"));
        assert!(text(17_900.0).contains("(goal: 90 %, missed)"));
        assert!(text(18_000.0).lines().all(|line| line.chars().count() <= 100), "{}", text(18_000.0));
    }
}
