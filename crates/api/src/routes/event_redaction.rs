//! Events for people who run the deployment and may not see its players.

use bankroll_notify::PublicEvent;
use bankroll_operators::Right;
use bankroll_terminal::short;
use serde_json::Value;

const REDACTED: &str = "redacted";
/// Digits of an address; a hash of a transaction has more, and leads to the address as well.
const ADDRESS_DIGITS: usize = 40;
/// Fields that name a player, whatever their text.
const PLAYER_FIELDS: [&str; 2] = ["player", "wallet"];

/// How much of players a caller sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlayerSight {
    Nothing,
    /// The ends of names and addresses, so that two events of one player can be recognised.
    Short,
    Full,
}

impl PlayerSight {
    pub fn of(has: impl Fn(Right) -> bool) -> Self {
        if has(Right::ReadPlayersInFull) {
            Self::Full
        } else if has(Right::ReadPlayers) {
            Self::Short
        } else {
            Self::Nothing
        }
    }

    fn name(self, name: &str) -> String {
        match self {
            Self::Full => name.to_owned(),
            Self::Short => short(name),
            Self::Nothing => REDACTED.to_owned(),
        }
    }

    /// A text without the addresses and hashes in it.
    fn text(self, text: &str) -> String {
        match self {
            Self::Full => text.to_owned(),
            Self::Short => short(text),
            Self::Nothing => without_addresses(text),
        }
    }
}

/// The event with what the caller may see of its player.
pub(super) fn redacted(mut event: PublicEvent, sight: PlayerSight) -> PublicEvent {
    if sight != PlayerSight::Full {
        event.player = event.player.map(|player| sight.name(&player));
        event.resource = sight.text(&event.resource);
        redact(&mut event.data, sight);
    }
    event
}

fn redact(value: &mut Value, sight: PlayerSight) {
    match value {
        Value::String(text) => *text = sight.text(text),
        Value::Array(values) => values.iter_mut().for_each(|value| redact(value, sight)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if PLAYER_FIELDS.contains(&name.as_str()) => *text = sight.name(text),
                    value => redact(value, sight),
                }
            }
        }
        _ => {}
    }
}

fn without_addresses(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find("0x") {
        let (before, from) = rest.split_at(place);
        let length = from.bytes().skip(2).take_while(u8::is_ascii_hexdigit).count();
        shown.push_str(before);
        let (found, after) = from.split_at(length + 2);
        shown.push_str(if length >= ADDRESS_DIGITS { REDACTED } else { found });
        rest = after;
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(alice: &str) -> PublicEvent {
        PublicEvent {
            id: "evt_81_0".into(),
            kind: "deposit.credited".into(),
            version: 1,
            sequence: 1_296,
            resource: format!("eip155:1:0x{}:0", "ab".repeat(32)),
            resource_sequence: 1,
            time: "2026-11-16T00:00:00Z".into(),
            server: Some("arena".into()),
            player: Some(alice.to_owned()),
            data: json!({
                "amount": "5", "wallet": alice, "from": alice, "note": format!("to {alice}, 0x12"),
                "all": [{ "player": "bob", "accounts": [format!("arena/funds/1/{alice}")] }],
            }),
        }
    }

    #[test]
    fn without_the_right_no_text_leads_to_the_player() {
        let alice = format!("0x{}", "5a".repeat(20));
        let shown = redacted(event(&alice), PlayerSight::Nothing);
        assert_eq!(shown.player.as_deref(), Some("redacted"));
        assert_eq!(shown.resource, "eip155:1:redacted:0");
        assert_eq!(
            shown.data,
            json!({
                "amount": "5", "wallet": "redacted", "from": "redacted", "note": "to redacted, 0x12",
                "all": [{ "player": "redacted", "accounts": ["arena/funds/1/redacted"] }],
            })
        );
        assert!(!shown.to_json().contains("5a5a"));
    }

    #[test]
    fn support_sees_the_ends_and_an_operator_everything() {
        let alice = format!("0x{}", "5a".repeat(20));
        let shown = redacted(event(&alice), PlayerSight::Short);
        assert_eq!((shown.player.as_deref(), &shown.data["wallet"]), (Some("0x5a5a…5a5a"), &json!("0x5a5a…5a5a")));
        assert_eq!(redacted(event(&alice), PlayerSight::Full), event(&alice));
        let sight = |rights: &[Right]| PlayerSight::of(|right| rights.contains(&right));
        assert_eq!(sight(&[Right::ReadMoney]), PlayerSight::Nothing);
        assert_eq!(sight(&[Right::ReadMoney, Right::ReadPlayers]), PlayerSight::Short);
        assert_eq!(sight(&[Right::ReadPlayersInFull]), PlayerSight::Full);
    }
}
