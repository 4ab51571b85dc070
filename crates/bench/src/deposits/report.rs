//! The report of `bench deposits`, as a table and as JSON.

use std::time::Duration;

use bankroll_terminal::{self as terminal, table, thousands};
use serde::Serialize;

/// Five times what Ponder reads on a machine of this class.
const TRANSACTIONS_GOAL: f64 = 5.0 * 194.0;
const TRACES_GOAL: f64 = 5.0 * 131.0;
const RSS_GOAL_MIB: u64 = 300;
const VISIBLE_P50_GOAL_MS: f64 = 100.0;
const VISIBLE_P99_GOAL_MS: f64 = 250.0;

const LEGEND: &str = "\
Blocks of 30 transactions over HTTP on loopback, every root and receipt verified,
all rows exact. WATCHED: addresses, one for each player. RAW/S: the same answers
fetched and decoded in the same run, and nothing else. Each cell is a process of
its own; the server of the answers is another one on the same cores.

Ponder, on two cores: 194 blocks/s with 510 MB (transactions), 131 blocks/s with
495 MB (traces).
";

#[derive(Debug, Serialize)]
pub(crate) struct DepositsReport {
    backfill: Vec<BackfillRow>,
    /// From a block at the node to the row of its deposit.
    visible_ms: VisibleTimes,
}

#[derive(Debug, Serialize)]
pub(super) struct BackfillRow {
    mode: &'static str,
    watched: u64,
    blocks_per_s: f64,
    raw_blocks_per_s: f64,
    rss_mib: u64,
}

#[derive(Debug, Serialize)]
struct VisibleTimes {
    p50: f64,
    p99: f64,
    n: usize,
}

impl BackfillRow {
    pub fn new(mode: &'static str, watched: u64, per_s: f64, raw_per_s: f64, rss_mib: u64) -> Self {
        let round = |per_s: f64| (per_s * 10.0).round() / 10.0;
        Self { mode, watched, blocks_per_s: round(per_s), raw_blocks_per_s: round(raw_per_s), rss_mib }
    }

    fn goal(&self) -> String {
        let goal = if self.mode == "traces" { TRACES_GOAL } else { TRANSACTIONS_GOAL };
        let met = met(self.blocks_per_s >= goal && self.rss_mib < RSS_GOAL_MIB);
        format!("{}/s, {RSS_GOAL_MIB} MiB: {met}", thousands(goal.round() as u64))
    }
}

const fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}

impl DepositsReport {
    /// The times are sorted.
    pub(super) fn new(backfill: Vec<BackfillRow>, visible: &[Duration]) -> Self {
        let part = |percent: usize| {
            let place = (visible.len() * percent / 100).min(visible.len().saturating_sub(1));
            let millis = visible.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e3);
            (millis * 1e3).round() / 1e3
        };
        Self { backfill, visible_ms: VisibleTimes { p50: part(50), p99: part(99), n: visible.len() } }
    }

    pub fn print(&self, json: bool) -> anyhow::Result<()> {
        if json { terminal::answer_json(&serde_json::to_value(self)?) } else { terminal::answer(&self.text()) }
    }

    fn text(&self) -> String {
        let mut table = table(&["MODE", "WATCHED", "BLOCKS/S", "RAW/S", "OF RAW", "RSS MIB", "GOAL"], &[1, 2, 3, 4, 5]);
        for row in &self.backfill {
            table.add_row([
                row.mode.to_owned(),
                thousands(row.watched),
                thousands(row.blocks_per_s.round() as u64),
                thousands(row.raw_blocks_per_s.round() as u64),
                format!("{:.0} %", row.blocks_per_s / row.raw_blocks_per_s * 100.0),
                thousands(row.rss_mib),
                row.goal(),
            ]);
        }
        let VisibleTimes { p50, p99, n } = self.visible_ms;
        let is_met = met(p50 <= VISIBLE_P50_GOAL_MS && p99 <= VISIBLE_P99_GOAL_MS);
        let visible = format!(
            "a deposit of a new block is visible after {p50:.1} ms (p50) and {p99:.1} ms (p99) of {n} blocks\n\
             (goal: {VISIBLE_P50_GOAL_MS:.0} and {VISIBLE_P99_GOAL_MS:.0} ms, {is_met})"
        );
        format!("{}\n\n{visible}\n\n{LEGEND}", table.trim_fmt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_fits_a_hundred_columns_and_says_which_goals_are_met() {
        let row = |mode, per_s, rss| BackfillRow::new(mode, 100_000, per_s, 12_345.67, rss);
        let rows = vec![
            row("transactions", 970.0, 299),
            row("transactions", 969.9, 299),
            row("traces", 655.0, 299),
            row("traces", 655.0, 300),
        ];
        let times: Vec<_> = (1..=200).map(Duration::from_millis).collect();
        let report = DepositsReport::new(rows, &times);
        let text = report.text();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let goals: Vec<_> = text.lines().filter_map(|line| Some(line.split_once(" MiB: ")?.1)).collect();
        assert_eq!(goals, ["met", "missed", "met", "missed"], "{text}");
        assert!(text.contains("visible after 101.0 ms (p50) and 199.0 ms (p99) of 200 blocks"), "{text}");
        assert!(text.contains("(goal: 100 and 250 ms, missed)"), "{text}");
        let json = serde_json::to_value(&report).expect("JSON");
        assert_eq!(json["visible_ms"], serde_json::json!({ "p50": 101.0, "p99": 199.0, "n": 200 }));
        assert_eq!(
            json["backfill"][1],
            serde_json::json!({
                "mode": "transactions", "watched": 100_000, "blocks_per_s": 969.9, "raw_blocks_per_s": 12_345.7,
                "rss_mib": 299,
            })
        );
    }
}
