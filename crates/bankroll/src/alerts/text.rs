//! Alerts as text: how serious, for how long, what happened, and the next step.

use bankroll_ledger::Time;
use bankroll_terminal::{Paint, counted, when};
use serde_json::Value;

use crate::funds_call::text;

/// The last column of the output.
const WIDTH: usize = 78;
const INDENT: &str = "  ";
const LABEL: usize = 14;

/// An alert in a list.
pub fn line(alert: &Value, now: Time, paint: Paint) -> String {
    let summary = wrapped(&text(&alert["summary"]), INDENT.len());
    let mut lines = format!("{}\n{INDENT}{summary}\n", head(alert, now, paint));
    if alert["state"] != "closed" {
        lines.push_str(&format!("{INDENT}next: {}\n", wrapped(&text(&alert["next_step"]), INDENT.len() + 6)));
    }
    lines.push_str(&format!("{INDENT}{}\n", paint.quiet(&text(&alert["id"]))));
    lines
}

/// An alert with everything that is known about it.
pub fn one(alert: &Value, now: Time, paint: Paint) -> String {
    let field =
        |name: &str, value: String| format!("{INDENT}{name:<LABEL$}{}\n", wrapped(&value, INDENT.len() + LABEL));
    let mut lines = format!("{}\n", head(alert, now, paint));
    lines.push_str(&field("summary", text(&alert["summary"])));
    for name in ["id", "subject", "items", "opened_at", "changed_at"] {
        lines.push_str(&field(&name.replace('_', " "), text(&alert[name])));
    }
    for (name, at, by) in [("acknowledged", "acknowledged_at", "acknowledged_by"), ("closed", "closed_at", "closed_by")]
    {
        if let Some(at) = alert[at].as_str() {
            let by = alert[by].as_str().map_or_else(|| "itself".to_owned(), str::to_owned);
            lines.push_str(&field(name, format!("{at}, by {by}")));
        }
    }
    for (name, value) in alert["details"].as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
        lines.push_str(&field(&name.replace('_', " "), text(value)));
    }
    let ends = if alert["closes_by_itself"] == true {
        "by itself, when its condition ends"
    } else {
        "when a person closes it"
    };
    lines.push_str(&field("ends", ends.to_owned()));
    lines.push_str(&field("next", text(&alert["next_step"])));
    lines.push_str(&field("runbook", text(&alert["runbook"])));
    lines
}

/// `critical  wallet_stopped, open for 2 hours`.
fn head(alert: &Value, now: Time, paint: Paint) -> String {
    let (severity, kind, state) = (text(&alert["severity"]), text(&alert["kind"]), text(&alert["state"]));
    let padded = format!("{severity:<8}");
    let painted = match severity.as_str() {
        "critical" => paint.bad(&padded),
        "warning" => paint.strong(&padded),
        _ => padded,
    };
    let since = |field: &str| alert[field].as_str().and_then(|at| when::parse(at).ok());
    let age = |at: Option<Time>| at.map_or_else(|| "an unknown time".to_owned(), |at| shown_age(now, at));
    let (opened, closed) = (since("opened_at"), since("closed_at"));
    let by = alert["acknowledged_by"].as_str().map(|by| format!(" by {by}")).unwrap_or_default();
    let what = match state.as_str() {
        "closed" => format!("closed {} ago", age(closed)),
        "acknowledged" => format!("open for {}, acknowledged{by}", age(opened)),
        _ => format!("open for {}", age(opened)),
    };
    format!("{painted}  {kind}, {what}")
}

fn shown_age(now: Time, at: Time) -> String {
    match now.0.saturating_sub(at.0) / 1_000_000 {
        seconds if seconds < 120 => counted(seconds, "second", "seconds"),
        seconds if seconds < 7_200 => counted(seconds / 60, "minute", "minutes"),
        seconds if seconds < 172_800 => counted(seconds / 3_600, "hour", "hours"),
        seconds => counted(seconds / 86_400, "day", "days"),
    }
}

/// In lines that fit; those after the first begin at `column`.
fn wrapped(text: &str, column: usize) -> String {
    let (mut lines, mut used) = (String::new(), column);
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > column && used + 1 + length > WIDTH {
            lines.push('\n');
            lines.push_str(&" ".repeat(column));
            used = column;
        } else if used > column {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9";

    fn alert() -> Value {
        json!({
            "id": ID, "kind": "wallet_stopped", "subject": "eip155:1/0xAb", "severity": "critical", "state": "open",
            "summary": "nothing new is paid from 0xAb00000000000000000000000000000000000000 on eip155:1: foreign_nonce",
            "details": { "reason": "foreign_nonce", "nonce": null }, "items": 1, "opening": 1,
            "opened_at": "2026-11-16T00:00:00.000000Z", "changed_at": "2026-11-16T00:00:00.000000Z",
            "closes_by_itself": true, "runbook": "docs/runbooks/wallet_stopped.md",
            "next_step": "find out who used the wallet's key",
        })
    }

    #[test]
    fn a_line_says_how_serious_how_long_what_and_the_next_step() {
        let now = when::parse("2026-11-16T03:00:00Z").expect("a time");
        let expected = format!(
            "critical  wallet_stopped, open for 3 hours\n  \
             nothing new is paid from 0xAb00000000000000000000000000000000000000 on\n  \
             eip155:1: foreign_nonce\n  \
             next: find out who used the wallet's key\n  {ID}\n"
        );
        assert_eq!(line(&alert(), now, Paint::default()), expected);
        let mut seen = alert();
        seen["state"] = json!("acknowledged");
        seen["acknowledged_by"] = json!("olga");
        let said = line(&seen, now, Paint::default());
        assert!(said.starts_with("critical  wallet_stopped, open for 3 hours, acknowledged by olga\n"), "{said}");
        seen["state"] = json!("closed");
        seen["closed_at"] = json!("2026-11-16T02:59:00Z");
        let said = line(&seen, now, Paint::default());
        assert!(
            said.starts_with("critical  wallet_stopped, closed 60 seconds ago\n") && !said.contains("next:"),
            "{said}"
        );
    }

    #[test]
    fn an_alert_is_shown_with_its_details_and_its_runbook() {
        let now = when::parse("2026-11-16T00:00:05Z").expect("a time");
        let shown = one(&alert(), now, Paint::default());
        assert!(shown.starts_with("critical  wallet_stopped, open for 5 seconds\n"), "{shown}");
        assert!(shown.contains("  reason        foreign_nonce\n") && !shown.contains("nonce         -"), "{shown}");
        assert!(shown.ends_with("  runbook       docs/runbooks/wallet_stopped.md\n"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= WIDTH), "{shown}");
    }
}
