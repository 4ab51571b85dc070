//! An event as others read it: one JSON form for the stream and for webhooks.

use bankroll_ledger::Seq;
use bankroll_store::{EventEntry, EventPosition};
use bankroll_terminal::when;
use serde::Serialize;
use serde_json::Value;

/// The version of every type of event. A change that breaks readers gets the next one.
pub const EVENT_VERSION: u32 = 1;

/// Events that one record can have at most; `bankroll_ledger::FACTS_MAX` says so, and a test compares them.
const PLACES: u64 = 16;

/// An event of the outbox in its public form. The order of the fields is the order of the JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PublicEvent {
    /// `evt_81_0`: the record, and the place among its events. The same for ever, in the stream and in webhooks.
    pub id: String,
    /// `deposit.credited`.
    #[serde(rename = "type")]
    pub kind: String,
    pub version: u32,
    /// Increases from event to event, with gaps.
    pub sequence: u64,
    /// What it is about: a deposit, a payout, a server.
    pub resource: String,
    /// Its number among the events about the same resource, from 1, without gaps.
    pub resource_sequence: u64,
    /// The time of the commit, RFC 3339 in UTC.
    pub time: String,
    /// The server that it belongs to, if any.
    pub server: Option<String>,
    /// The player that it belongs to, if any.
    pub player: Option<String>,
    /// What the flow announced.
    pub data: Value,
}

impl PublicEvent {
    #[must_use]
    pub fn new(entry: &EventEntry) -> Self {
        let EventEntry { event, at, resource_sequence } = entry;
        // Every flow announces JSON; a text that is none is shown as it is.
        let data = serde_json::from_str(&event.body).unwrap_or_else(|_| Value::from(event.body.clone()));
        let named = |field: &str| data.get(field).and_then(Value::as_str).map(str::to_owned);
        Self {
            id: event_id(event.position()),
            kind: event.kind.clone(),
            version: EVENT_VERSION,
            sequence: sequence_of(event.position()),
            resource: event.resource.clone(),
            resource_sequence: *resource_sequence,
            time: when::show(*at),
            server: named("server"),
            // Flows name a player by the wallet that the player is known by.
            player: named("player").or_else(|| named("wallet")),
            data,
        }
    }

    /// The JSON that readers get, and that a webhook's signature covers.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Strings, numbers and a value: nothing that could fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The id of an event: `evt_81_0`.
#[must_use]
pub fn event_id(at: EventPosition) -> String {
    format!("evt_{}_{}", at.seq, at.place)
}

/// The position of an event by its id; `None` if no event can have this id.
#[must_use]
pub fn parse_event_id(id: &str) -> Option<EventPosition> {
    let (seq, place) = id.strip_prefix("evt_")?.split_once('_')?;
    let position = EventPosition { seq: Seq(seq.parse().ok()?), place: place.parse().ok()? };
    // One event has one id: no leading zeros, no signs.
    (event_id(position) == id && position.seq.0 > 0 && u64::from(position.place) < PLACES).then_some(position)
}

/// The one increasing number of an event.
#[must_use]
pub fn sequence_of(at: EventPosition) -> u64 {
    at.seq.0.saturating_mul(PLACES).saturating_add(u64::from(at.place))
}

#[cfg(test)]
mod tests {
    use bankroll_ledger::{FACTS_MAX, Time};
    use bankroll_store::StoredEvent;

    use super::*;

    fn entry(body: &str) -> EventEntry {
        let event = StoredEvent {
            seq: Seq(81),
            place: 1,
            kind: "deposit.credited".into(),
            resource: "dep_7".into(),
            body: body.into(),
        };
        EventEntry { event, at: Time(1_794_778_177_250_001), resource_sequence: 2 }
    }

    #[test]
    fn an_event_has_one_json_form() {
        let json = PublicEvent::new(&entry(r#"{"amount":"5","server":"arena","wallet":"alice"}"#)).to_json();
        let expected = r#"{"id":"evt_81_1","type":"deposit.credited","version":1,"sequence":1297,"resource":"dep_7",
            "resource_sequence":2,"time":"2026-11-15T21:29:37.250001Z","server":"arena","player":"alice",
            "data":{"amount":"5","server":"arena","wallet":"alice"}}"#;
        assert_eq!(json, expected.lines().map(str::trim).collect::<String>());
        let anonymous = PublicEvent::new(&entry(r#"{"server":null}"#));
        assert_eq!((anonymous.server, anonymous.player), (None, None));
    }

    #[test]
    fn an_id_is_read_as_it_is_written_and_in_no_other_form() {
        let position = EventPosition { seq: Seq(81), place: 15 };
        assert_eq!(parse_event_id(&event_id(position)), Some(position));
        for wrong in ["", "81", "evt_81", "evt_081_0", "evt_81_00", "evt_+81_0", "evt_0_0", "evt_81_16", "evt_81_0 "] {
            assert_eq!(parse_event_id(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_sequence_has_a_number_for_every_event_of_a_record() {
        assert_eq!(PLACES, FACTS_MAX as u64);
        let at = |seq, place| sequence_of(EventPosition { seq: Seq(seq), place });
        assert_eq!([at(1, 0), at(1, 15), at(2, 0)], [16, 31, 32]);
    }
}
