//! Who shows when, and who wins what.

use super::story::check;

const TABLE: &str = "button 3, blinds 5/10, 1: 100, 2: 100, 3: 100";
/// Every seat in for ten, nothing happens until the river is open.
const TO_THE_RIVER: &str = "deal\n3 call\n1 call\n2 check\nboard 2c7d8h\n1 check\n2 check\n3 check\nboard Jh\n1 check\n2 check\n3 check\nboard 3s\n";

fn after_the_river(story: &str, end: &str) {
    check(TABLE, &format!("{TO_THE_RIVER}{story}"), end);
}

#[test]
fn without_a_bet_on_the_river_the_first_seat_left_of_the_button_shows_first() {
    after_the_river(
        "1 check
         2 check
         3 check
         2 mucks refused: it is the turn of seat 1, not of seat 2
         1 shows AsAc
         2 mucks
         3 shows KsKc",
        "1: 120, 2: 90, 3: 90",
    );
}

#[test]
fn the_last_who_bet_on_the_river_shows_first() {
    after_the_river(
        "1 check
         2 raise 10
         3 raise 30
         1 call
         2 call
         1 mucks refused: it is the turn of seat 3, not of seat 1
         3 shows KsKc
         1 shows AsAc
         2 mucks",
        "1: 180, 2: 60, 3: 60",
    );
}

#[test]
fn any_seat_may_show_before_its_turn() {
    after_the_river(
        "1 check
         2 check
         3 check
         3 shows KsKc
         3 shows KsKc refused: seat 3 has nothing to show
         1 mucks
         2 mucks",
        "1: 90, 2: 90, 3: 120",
    );
}

#[test]
fn the_last_one_left_wins_without_showing() {
    after_the_river("1 check\n2 check\n3 check\n1 mucks\n2 mucks", "1: 90, 2: 90, 3: 120");
}

#[test]
fn an_unproven_hand_cannot_win_against_a_shown_one() {
    after_the_river("1 check\n2 check\n3 check\n1 shows 4c5c\n2 mucks\n3 late", "1: 120, 2: 90, 3: 90");
}

#[test]
fn no_card_can_be_there_twice() {
    after_the_river(
        "1 check
         2 check
         3 check
         1 shows AsAs refused: As occurs twice
         1 shows As2c refused: 2c occurs twice
         1 shows AsAc
         2 shows AcKd refused: Ac occurs twice
         2 shows KdKc
         3 mucks",
        "1: 120, 2: 90, 3: 90",
    );
}

#[test]
fn the_board_comes_street_by_street_and_never_early() {
    check(
        TABLE,
        "board 2c7d8h refused: this cannot happen while the hand is in Dealing
         deal
         board 2c7d8h refused: this cannot happen while the hand is in Betting
         3 call
         1 call
         2 check
         deal refused: this cannot happen while the hand is in Opening
         board 2c refused: the street has 3 cards, not 1
         board 2c2c8h refused: 2c occurs twice
         1 shows AsAc refused: this cannot happen while the hand is in Opening
         board 2c7d8h",
        "1: 90, 2: 90, 3: 90, seat 1 to act",
    );
}

#[test]
fn in_a_cash_game_all_in_hands_are_shown_after_the_board() {
    check(
        TABLE,
        "deal
         3 raise 100
         1 call
         2 fold
         board 2c7d8h
         board Jh
         board 3s
         1 shows AsAc
         3 mucks",
        "1: 210, 2: 90, 3: 0",
    );
}

#[test]
fn in_a_tournament_all_in_hands_are_opened_before_the_board_and_none_is_mucked() {
    check(
        "button 3, blinds 5/10, 1: 100, 2: 100, 3: 100, open before run-out",
        "deal
         3 raise 100
         1 call
         2 fold
         board 2c7d8h refused: this cannot happen while the hand is in Showdown
         3 mucks refused: seat 3 must show: all hands are opened after an all-in
         1 shows AsAc
         3 shows KsKc
         board 2c7d8h
         board As refused: As occurs twice
         board Kd
         board 3s",
        "1: 0, 2: 90, 3: 210",
    );
}

/// The hand is dead; no other seat is left to run the board out for.
#[test]
fn a_seat_that_never_opens_its_all_in_hand_loses_it() {
    check(
        "button 3, blinds 5/10, 1: 100, 2: 100, 3: 100, open before run-out",
        "deal\n3 raise 100\n1 call\n2 fold\n1 shows AsAc\n3 late",
        "1: 210, 2: 90, 3: 0",
    );
}

/// Seat 3 is all-in for the main pot and shows; the side pot is between the two who muck, and goes to the later.
#[test]
fn a_side_pot_that_no_seat_shows_for_goes_to_the_last_to_muck() {
    check(
        "button 3, blinds 5/10, 1: 100, 2: 100, 3: 20",
        "deal
         3 raise 20
         1 call
         2 call
         board 2c7d8h
         1 raise 30
         2 call
         board Jh
         1 check
         2 check
         board 3s
         1 check
         2 check
         pots 60 for 1 2 3, 60 for 1 2
         3 shows AsAc
         1 mucks
         2 mucks",
        "1: 50, 2: 110, 3: 60",
    );
}

#[test]
fn a_board_that_beats_every_hand_is_shared() {
    check(
        "button 2, blinds 5/10, 1: 100, 2: 100",
        "deal
         2 raise 100
         1 call
         board AsKsQs
         board Js
         board Ts
         1 shows 2c2d
         2 shows AhAd",
        "1: 100, 2: 100",
    );
}
