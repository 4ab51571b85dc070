//! The byte form of snapshots, events and states.

use super::story::{check, snapshot};
use crate::codec::{HandDecodeError, decode, encode};
use crate::{Card, Chips, Hand, HandEvent, HandTime, MissingParty, PlayerAction, Seat, Snapshot, VoidCause};

const TABLE: &str = "button 2, blinds 5/10, ante 1, 1: 100, 2: 250";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_snapshot_comes_back_as_it_was() {
    let snapshot = snapshot(TABLE);
    let bytes = encode(&snapshot);
    assert_eq!(
        hex(&bytes),
        "050a010000000000000000b0ea019875b0ea010201640 2fa0102020100020201030405060708 00".replace(' ', "")
    );
    assert_eq!(decode(&bytes), Ok(snapshot));
}

#[test]
fn bytes_that_are_no_sound_snapshot_are_refused() {
    let bytes = encode(&snapshot(TABLE));
    for length in 0..bytes.len() {
        assert_eq!(decode::<Snapshot>(&bytes[..length]), Err(HandDecodeError::Malformed), "cut to {length}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert_eq!(decode::<Snapshot>(&longer), Err(HandDecodeError::NotCanonical));
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut other = bytes.clone();
            other[at] ^= 1 << bit;
            if let Ok(changed) = decode::<Snapshot>(&other) {
                assert_eq!(encode(&changed), other, "every form that is read is the one that is written");
                let plan = Snapshot::new(*changed.rules(), changed.seats().to_vec(), changed.button());
                assert_eq!(plan, Ok(changed), "and it is as sound as one that was made");
            }
        }
    }
}

#[test]
fn every_event_has_its_bytes() {
    let (seat, cards) = (Seat(3), ["As".parse().unwrap(), "2c".parse().unwrap()]);
    let acted = |action| HandEvent::Acted { seat, action };
    let board = Card::parse_many("AsKdQh").unwrap();
    let missing = vec![MissingParty::Shuffler(300), MissingParty::Seat(seat)];
    for (event, bytes) in [
        (HandEvent::HoleCardsDealt, "00"),
        (acted(PlayerAction::Fold), "010300"),
        (acted(PlayerAction::Check), "010301"),
        (acted(PlayerAction::Call), "010302"),
        (acted(PlayerAction::RaiseTo(Chips::new(300))), "010303ac02"),
        (HandEvent::TimedOut { seat }, "0203"),
        (HandEvent::BoardOpened { cards: board }, "0303331824"),
        (HandEvent::Shown { seat, cards }, "04033300"),
        (HandEvent::Mucked { seat }, "0503"),
        (HandEvent::ClockRestarted, "06"),
        (HandEvent::Voided { cause: VoidCause::Missing { who: missing } }, "07000200ac020103"),
        (HandEvent::Voided { cause: VoidCause::HostEnded }, "0701"),
    ] {
        assert_eq!(hex(&encode(&event)), bytes, "{event:?}");
        assert_eq!(decode(&encode(&event)), Ok(event));
    }
}

/// A JSON number is a double to most readers, so chips are strings there.
#[test]
fn an_event_as_json() {
    let event = HandEvent::Acted { seat: Seat(3), action: PlayerAction::RaiseTo(Chips::MAX) };
    let json = r#"{"acted":{"seat":3,"action":{"raise_to":"18446744073709551615"}}}"#;
    assert_eq!(serde_json::to_string(&event).unwrap(), json);
    assert_eq!(serde_json::from_str::<HandEvent>(json).unwrap(), event);
    let board = HandEvent::BoardOpened { cards: Card::parse_many("As2c").unwrap() };
    assert_eq!(serde_json::to_string(&board).unwrap(), r#"{"board_opened":{"cards":["As","2c"]}}"#);
    assert_eq!(serde_json::from_str::<HandEvent>(&serde_json::to_string(&board).unwrap()).unwrap(), board);
    assert!(serde_json::from_str::<Card>("51").is_err());
    for wrong in ["\"+5\"", "\"05\"", "\"5 \"", "\"\"", "5", "\"18446744073709551616\""] {
        assert!(serde_json::from_str::<Chips>(wrong).is_err(), "{wrong}");
    }
}

/// The same number could be written in more bytes; then it would have two hashes.
#[test]
fn a_longer_form_of_the_same_event_is_refused() {
    assert_eq!(
        decode::<HandEvent>(&[1, 3, 3, 0xac, 2]),
        Ok(HandEvent::Acted { seat: Seat(3), action: PlayerAction::RaiseTo(Chips::new(300)) })
    );
    assert_eq!(decode::<HandEvent>(&[1, 3, 3, 0xac, 0x82, 0]), Err(HandDecodeError::NotCanonical));
    assert_eq!(decode::<HandEvent>(&[4, 3, 52, 0]), Err(HandDecodeError::Malformed), "there is no card 52");
}

#[test]
fn states_differ_in_their_hash_and_a_replay_gives_the_same_hash() {
    let story = "deal\n2 call\n1 check\nboard 2c7d8h";
    let hand = check("button 2, blinds 5/10, 1: 100, 2: 250", story, "1: 90, 2: 240, seat 1 to act");
    let again = check("button 2, blinds 5/10, 1: 100, 2: 250", story, "1: 90, 2: 240, seat 1 to act");
    assert_eq!((hand.hash(), hand.to_bytes()), (again.hash(), again.to_bytes()));
    let other = hand.apply(&HandEvent::Acted { seat: Seat(1), action: PlayerAction::Check }, HandTime(0)).unwrap();
    assert_ne!(hand.hash(), other.hash());
    let later = Hand::start(hand.snapshot().clone(), HandTime(1));
    assert_ne!(
        later.hash(),
        Hand::start(hand.snapshot().clone(), HandTime(0)).hash(),
        "a deadline is part of the state"
    );
}

#[test]
fn a_replay_names_the_event_it_stopped_at() {
    let deal = HandEvent::HoleCardsDealt;
    let events = [(&deal, HandTime(0)), (&deal, HandTime(0))];
    let (place, refusal) = Hand::replay(snapshot(TABLE), HandTime(0), events).unwrap_err();
    assert_eq!((place, refusal.to_string().as_str()), (1, "this cannot happen while the hand is in Betting"));
}
