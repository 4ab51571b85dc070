//! The report, for people and for programs.

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub rows: Vec<Row>,
}

/// One figure: a time, or a size.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    what: &'static str,
    curve: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_bytes: Option<usize>,
}

impl Row {
    pub fn time(what: &'static str, curve: &'static str, ms: f64, target_ms: Option<f64>) -> Self {
        let ms = (ms * 10_000.0).round() / 10_000.0;
        Self { what, curve, ms: Some(ms), target_ms, bytes: None, target_bytes: None }
    }

    pub const fn bytes(what: &'static str, curve: &'static str, bytes: usize, target_bytes: Option<usize>) -> Self {
        Self { what, curve, ms: None, target_ms: None, bytes: Some(bytes), target_bytes }
    }
}

impl Report {
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
            let target = row.target_ms.map(|ms| format!("{ms} ms"));
            let target = target.or(row.target_bytes.map(|bytes| format!("{bytes} bytes")));
            let dash = || "-".to_owned();
            table.add_row([
                row.curve.to_owned(),
                row.what.to_owned(),
                measured.unwrap_or_else(dash),
                target.unwrap_or_else(dash),
            ]);
        }
        println!("{table}");
    }
}
