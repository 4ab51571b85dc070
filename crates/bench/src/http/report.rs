//! The report of `bench http`, as a table and as JSON.

use bankroll_terminal::{self as terminal, table, thousands};
use serde::Serialize;

use super::super::load::LoadRun;

/// How long the check of a session token may take, in microseconds.
const TOKEN_GOAL_US: f64 = 5.0;

const LEGEND: &str = "\
CALLERS: keep-alive connections x transfers per call; each is synced before its
answer. NO-OP/S: the same server answers calls that ask the ledger for nothing.
LEDGER/S: the same transfers, given to the ledger without HTTP; those of 100 by
32 callers, as in `bench ledger`. SUM: the rate if both costs add up, 1 / (1 /
NO-OP + 1 / LEDGER), as they do on two cores.

TigerBeetle over its own wire, on a machine of this class: 32x1 1,600 to 1,910/s,
32x100 44,000 to 55,000/s, full batches 302,000 to 326,000/s.
";

#[derive(Debug, Serialize)]
pub(crate) struct HttpReport {
    pub(super) rows: Vec<HttpRow>,
    pub(super) token_check_us: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct HttpRow {
    shape: String,
    per_s: f64,
    p50_ms: f64,
    p99_ms: f64,
    /// Operations per second that decide nothing.
    noop_per_s: f64,
    ledger_per_s: f64,
    #[serde(skip)]
    goal: Option<HttpGoal>,
}

/// The least part of a rate that HTTP must reach.
#[derive(Clone, Copy, Debug)]
pub(super) enum HttpGoal {
    /// Of what no-op and ledger allow together.
    Sum(f64),
    Ledger(f64),
}

impl HttpRow {
    pub fn new(shape: String, goal: Option<HttpGoal>, http: &LoadRun, noop_per_s: f64, ledger_per_s: f64) -> Self {
        let millis = |time: std::time::Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
        Self {
            shape,
            per_s: http.per_s.round(),
            p50_ms: millis(http.p50),
            p99_ms: millis(http.p99),
            noop_per_s: noop_per_s.round(),
            ledger_per_s: ledger_per_s.round(),
            goal,
        }
    }

    /// The part of the rate that no-op and ledger allow together.
    fn of_sum(&self) -> f64 {
        self.per_s * (1.0 / self.noop_per_s + 1.0 / self.ledger_per_s)
    }

    fn of_ledger(&self) -> f64 {
        self.per_s / self.ledger_per_s
    }

    fn goal(&self) -> String {
        let (reached, goal, of) = match self.goal {
            Some(HttpGoal::Sum(goal)) => (self.of_sum(), goal, "sum"),
            Some(HttpGoal::Ledger(goal)) => (self.of_ledger(), goal, "ledger"),
            None => return "-".into(),
        };
        let met = if reached >= goal { "met" } else { "missed" };
        format!("{} {of}: {met}", percent(goal))
    }
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

impl HttpReport {
    pub fn print(&self, json: bool) -> anyhow::Result<()> {
        if json { terminal::answer_json(&serde_json::to_value(self)?) } else { terminal::answer(&self.text()) }
    }

    fn text(&self) -> String {
        let rate = |per_s: f64| thousands(per_s.round() as u64);
        let header =
            ["CALLERS", "TRANSFERS/S", "P50 MS", "P99 MS", "NO-OP/S", "LEDGER/S", "OF SUM", "OF LEDGER", "GOAL"];
        let mut table = table(&header, &[1, 2, 3, 4, 5, 6, 7]);
        for row in &self.rows {
            table.add_row([
                row.shape.clone(),
                rate(row.per_s),
                format!("{:.2}", row.p50_ms),
                format!("{:.2}", row.p99_ms),
                rate(row.noop_per_s),
                rate(row.ledger_per_s),
                percent(row.of_sum()),
                percent(row.of_ledger()),
                row.goal(),
            ]);
        }
        let met = if self.token_check_us < TOKEN_GOAL_US { "met" } else { "missed" };
        let token = format!("checking a session token: {:.2} microseconds (goal: under 5, {met})", self.token_check_us);
        format!("{}\n\n{token}\n\n{LEGEND}", table.trim_fmt())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn row(shape: &str, goal: Option<HttpGoal>, per_s: f64, ledger_per_s: f64) -> HttpRow {
        let (p50, p99) = (Duration::from_micros(108_810), Duration::from_micros(1_032_000));
        HttpRow::new(shape.into(), goal, &LoadRun { per_s, p50, p99, mean_batch: 1 }, 40_000.0, ledger_per_s)
    }

    #[test]
    fn the_table_fits_a_hundred_columns_and_says_which_goals_are_met() {
        let rows = vec![
            row("64x1", Some(HttpGoal::Sum(0.75)), 15_000.0, 40_000.0),
            row("64x1", Some(HttpGoal::Sum(0.75)), 14_900.0, 40_000.0),
            row("64x100", Some(HttpGoal::Ledger(0.5)), 175_000.0, 350_000.0),
            row("64x100", Some(HttpGoal::Ledger(0.5)), 174_000.0, 350_000.0),
            row("4x8000", None, 1_200_000.0, 1_475_000.0),
        ];
        let text = HttpReport { rows, token_check_us: 5.0 }.text();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let goals: Vec<_> = text.lines().filter_map(|line| Some(line.split_once(": ")?.1)).collect();
        assert_eq!(goals[..4], ["met", "missed", "met", "missed"], "{text}");
        assert!(text.contains("checking a session token: 5.00 microseconds (goal: under 5, missed)"), "{text}");
    }
}
