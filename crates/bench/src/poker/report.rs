//! The report of `bench poker`, as a table and as JSON.

use bankroll_terminal::{self as terminal, Paint, table, thousands};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct PokerReport {
    pub rows: Vec<PokerRow>,
}

/// One figure: a time, a size, or a rate.
#[derive(Debug, Serialize)]
pub(super) struct PokerRow {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_bytes: Option<usize>,
    /// Whether the figure is below its target, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    target_met: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hands: Option<usize>,
}

impl PokerRow {
    const fn about(what: &'static str, curve: Option<&'static str>) -> Self {
        Self {
            what,
            curve,
            ms: None,
            target_ms: None,
            bytes: None,
            target_bytes: None,
            target_met: None,
            per_s: None,
            hands: None,
        }
    }

    pub fn time(what: &'static str, curve: &'static str, ms: f64, target_ms: Option<f64>) -> Self {
        let ms = (ms * 10_000.0).round() / 10_000.0;
        let target_met = target_ms.map(|target| ms < target);
        Self { ms: Some(ms), target_ms, target_met, ..Self::about(what, Some(curve)) }
    }

    pub fn bytes(what: &'static str, curve: &'static str, bytes: usize, target_bytes: Option<usize>) -> Self {
        let target_met = target_bytes.map(|target| bytes < target);
        Self { bytes: Some(bytes), target_bytes, target_met, ..Self::about(what, Some(curve)) }
    }

    pub fn rate(what: &'static str, hands: usize, per_s: f64) -> Self {
        Self { per_s: Some(per_s.round()), hands: Some(hands), ..Self::about(what, None) }
    }
}

impl PokerReport {
    pub fn print_json(&self) {
        println!("{}", serde_json::to_string(self).expect("a report is plain data"));
    }

    pub fn print_table(&self) -> anyhow::Result<()> {
        terminal::answer(&self.text())
    }

    fn text(&self) -> String {
        let mut table = table(&["CURVE", "WHAT", "MEASURED", "TARGET", ""], &[2, 3]);
        for row in &self.rows {
            let measured = row.ms.map(|ms| format!("{ms:.3} ms"));
            let measured = measured.or(row.bytes.map(|bytes| format!("{} bytes", thousands(bytes as u64))));
            let rate = row.per_s.map(|per_s| format!("{:.1} million/s", per_s / 1e6));
            let target = row.target_ms.map(|ms| format!("below {ms} ms"));
            let target = target.or(row.target_bytes.map(|bytes| format!("below {} bytes", thousands(bytes as u64))));
            let dash = || "-".to_owned();
            table.add_row([
                row.curve.unwrap_or("-").to_owned(),
                row.what.to_owned(),
                measured.or(rate).unwrap_or_else(dash),
                target.unwrap_or_else(dash),
                row.target_met.map_or("", |met| if met { "met" } else { "MISSED" }).to_owned(),
            ]);
        }
        let verdicts = self.rows.iter().filter_map(|row| row.target_met);
        let (mut targets, mut missed) = (0, 0);
        verdicts.for_each(|met| {
            targets += 1;
            missed += u64::from(!met);
        });
        let verdict = match missed {
            0 => Paint::stdout().good(&format!("all {targets} targets are met")),
            _ => Paint::stdout().bad(&format!("{missed} of {targets} targets are missed on this machine")),
        };
        format!("{}\n\n{verdict}\n", table.trim_fmt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_is_marked() {
        let rows = vec![
            PokerRow::time("verify a shuffle", "secp256k1", 7.439, Some(6.0)),
            PokerRow::time("prove a shuffle", "secp256k1", 12.5, Some(15.0)),
            PokerRow::bytes("deck", "secp256k1", 3_432, None),
        ];
        let text = PokerReport { rows }.text();
        let expected = [
            " CURVE      WHAT                 MEASURED       TARGET",
            " secp256k1  verify a shuffle     7.439 ms   below 6 ms  MISSED",
            " secp256k1  prove a shuffle     12.500 ms  below 15 ms  met",
            " secp256k1  deck              3,432 bytes            -",
            "",
            "1 of 2 targets are missed on this machine",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
