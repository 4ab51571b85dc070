//! The report of `bench poker`, as a table and as JSON.

use comfy_table::{CellAlignment, Table, presets};
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
    #[serde(skip_serializing_if = "Option::is_none")]
    per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hands: Option<usize>,
}

impl PokerRow {
    const fn about(what: &'static str, curve: Option<&'static str>) -> Self {
        let (ms, bytes) = (None, None);
        Self { what, curve, ms, target_ms: None, bytes, target_bytes: None, per_s: None, hands: None }
    }

    pub fn time(what: &'static str, curve: &'static str, ms: f64, target_ms: Option<f64>) -> Self {
        let ms = (ms * 10_000.0).round() / 10_000.0;
        Self { ms: Some(ms), target_ms, ..Self::about(what, Some(curve)) }
    }

    pub const fn bytes(what: &'static str, curve: &'static str, bytes: usize, target_bytes: Option<usize>) -> Self {
        Self { bytes: Some(bytes), target_bytes, ..Self::about(what, Some(curve)) }
    }

    pub fn rate(what: &'static str, hands: usize, per_s: f64) -> Self {
        Self { per_s: Some(per_s.round()), hands: Some(hands), ..Self::about(what, None) }
    }
}

impl PokerReport {
    pub fn print_json(&self) {
        println!("{}", serde_json::to_string(self).expect("a report is plain data"));
    }

    pub fn print_table(&self) {
        let mut table = Table::new();
        table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header(["curve", "what", "measured", "below"]);
        for column in table.column_iter_mut().skip(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        for row in &self.rows {
            let measured = row.ms.map(|ms| format!("{ms:.3} ms"));
            let measured = measured.or(row.bytes.map(|bytes| format!("{bytes} bytes")));
            let rate = row.per_s.map(|per_s| format!("{:.1} million/s", per_s / 1e6));
            let target = row.target_ms.map(|ms| format!("{ms} ms"));
            let target = target.or(row.target_bytes.map(|bytes| format!("{bytes} bytes")));
            let dash = || "-".to_owned();
            table.add_row([
                row.curve.unwrap_or("-").to_owned(),
                row.what.to_owned(),
                measured.or(rate).unwrap_or_else(dash),
                target.unwrap_or_else(dash),
            ]);
        }
        println!("{table}");
    }
}
