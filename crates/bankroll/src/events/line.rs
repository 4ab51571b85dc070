//! One event on one line: time, type, resource, short facts.

use bankroll_terminal::{Paint, short};
use serde_json::Value;

use crate::funds_call::text;

/// Facts of an event on its line.
const FACTS_MAX: usize = 5;
const FACT_MAX: usize = 32;

/// `2026-11-16 17:53:02  spawn.reserved  spn_12ab  server=arena amount=100`.
pub fn event_line(event: &Value, paint: Paint) -> String {
    let time = text(&event["time"]);
    let time = time.get(..19).unwrap_or(&time).replace('T', " ");
    let (kind, resource) = (text(&event["type"]), text(&event["resource"]));
    let facts = facts(event);
    let facts = if facts.is_empty() { facts } else { format!("  {}", paint.quiet(&facts)) };
    format!("{time}  {}  {}{facts}\n", paint.strong(&format!("{kind:<20}")), one_line(&short(&resource)))
}

/// The first facts that are no second name of the event's resource.
fn facts(event: &Value) -> String {
    let resource = &event["resource"];
    let fields = event["data"].as_object().into_iter().flatten();
    let facts = fields.filter(|(_, value)| *value != resource && !value.is_null() && !value.is_object());
    let shown = facts.map(|(name, value)| {
        let value = one_line(&short(&text(value)));
        let cut: String = value.chars().take(FACT_MAX).collect();
        let end = if cut.len() < value.len() { "…" } else { "" };
        format!("{name}={cut}{end}")
    });
    shown.take(FACTS_MAX).collect::<Vec<_>>().join(" ")
}

/// What another wrote must not move the cursor of this terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_one_line_of_short_facts() {
        let alice = format!("0x{}", "5a".repeat(20));
        let event = json!({
            "id": "evt_81_0", "type": "spawn.reserved", "version": 1, "sequence": 1296, "resource": "spn_1",
            "resource_sequence": 1, "time": "2026-11-16T17:53:02.000001Z", "server": "arena", "player": alice,
            "data": { "spawn": "spn_1", "amount": "100", "wallet": alice, "note": "a\u{1b}[2Jb\nc", "none": null },
        });
        let line = event_line(&event, Paint::none());
        assert_eq!(
            line,
            "2026-11-16 17:53:02  spawn.reserved        spn_1  amount=100 wallet=0x5a5a…5a5a note=a?[2Jb?c\n"
        );
    }
}
