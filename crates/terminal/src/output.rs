//! Output: the answer on standard output, with colours on a terminal only.

use std::io::{IsTerminal, Write};

use anyhow::Context;
use clap::builder::styling::{AnsiColor, Style};
use comfy_table::{CellAlignment, Table, presets::NOTHING};

/// Without colours by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// No colours.
    pub const fn none() -> Self {
        Self { on: false }
    }

    /// For standard output.
    pub fn stdout() -> Self {
        Self { on: std::io::stdout().is_terminal() && colours_wanted() }
    }

    /// For standard error.
    pub fn stderr() -> Self {
        Self { on: std::io::stderr().is_terminal() && colours_wanted() }
    }

    pub(crate) const fn is_on(self) -> bool {
        self.on
    }

    pub fn good(self, text: &str) -> String {
        self.with(AnsiColor::Green.on_default().bold(), text)
    }

    pub fn bad(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }

    pub fn strong(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    pub fn quiet(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.on { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// See <https://no-color.org>.
fn colours_wanted() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !no_color && !dumb
}

/// Prints the answer. A closed pipe is an error, not a panic.
pub fn answer(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write!(out, "{text}{end}").and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Prints the answer as JSON: indented on a terminal, else on one line.
pub fn answer_json(value: &serde_json::Value) -> anyhow::Result<()> {
    let text = if std::io::stdout().is_terminal() { format!("{value:#}") } else { value.to_string() };
    answer(&text)
}

/// How this program was called, for the commands in hints.
pub fn invocation() -> String {
    if std::env::var_os("CARGO_MANIFEST_DIR").is_some() {
        let profile = if cfg!(debug_assertions) { "" } else { " --release" };
        return format!("cargo run{profile} --");
    }
    std::env::args().next().unwrap_or_else(|| "bankroll".into())
}

/// A table without rules; `numbers` are the columns that are aligned right.
pub fn table(header: &[&str], numbers: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header);
    for place in numbers {
        if let Some(column) = table.column_mut(*place) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A count with separated thousands: 1,234,567.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 exit`, `1,234 exits`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count), if count == 1 { one } else { many })
}

/// The rate per second, rounded down, for display.
pub fn per_second(count: u64, took: std::time::Duration) -> u64 {
    // At least one microsecond: no division by zero.
    let micros = took.as_micros().max(1);
    u64::try_from(u128::from(count) * 1_000_000 / micros).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn thousands_are_separated() {
        let check = |count: u64, expected: &str| assert_eq!(thousands(count), expected);
        check(0, "0");
        check(999, "999");
        check(1_000, "1,000");
        check(1_234_567, "1,234,567");
        check(u64::MAX, "18,446,744,073,709,551,615");
    }

    #[test]
    fn one_is_singular() {
        let check = |count: u64, expected: &str| assert_eq!(counted(count, "batch", "batches"), expected);
        check(0, "0 batches");
        check(1, "1 batch");
        check(1_234, "1,234 batches");
    }

    #[test]
    fn rates_are_whole_numbers() {
        assert_eq!(per_second(500, Duration::from_millis(250)), 2_000);
        assert_eq!(per_second(5, Duration::ZERO), 5_000_000);
    }
}
