//! Void hands.

use super::story::check;
use crate::{MissingParty, Phase, VoidCause};

const TABLE: &str = "button 2, blinds 5/10, ante 1, 1: 100, 2: 250, 3: 8";

#[test]
fn a_shuffler_who_does_not_open_the_flop_voids_the_hand_and_is_named() {
    let hand = check(
        TABLE,
        "deal
         2 raise 50
         3 fold
         1 call
         phase Opening
         void without refused: the void names no missing participant
         void without 1 3
         void by host refused: the hand is over (Void)",
        "1: 100, 2: 250, 3: 8, Void",
    );
    let who = vec![MissingParty::Shuffler(1), MissingParty::Shuffler(3)];
    assert_eq!(hand.phase(), &Phase::Void(VoidCause::Missing { who }));
}

#[test]
fn no_shuffler_is_missing_while_a_player_thinks() {
    check(
        TABLE,
        "deal\nvoid without 1 refused: this cannot happen while the hand is in Betting",
        "1: 89, 2: 249, 3: 2, seat 2 to act",
    );
}

#[test]
fn a_host_can_end_the_hand_at_any_time() {
    check(TABLE, "void by host", "1: 100, 2: 250, 3: 8, Void");
    check(TABLE, "deal\n2 raise 50\nvoid by host", "1: 100, 2: 250, 3: 8, Void");
}

/// Not after it was paid out.
#[test]
fn what_is_settled_stays_settled() {
    check(
        "button 2, blinds 5/10, 1: 100, 2: 100",
        "deal\n2 fold\nvoid by host refused: the hand is over (Settled)",
        "1: 105, 2: 95",
    );
}
