//! The order of play and the sizes of bets.

use super::story::check;

#[test]
fn left_of_the_big_blind_begins_and_the_big_blind_has_the_option() {
    check(
        "button 3, blinds 5/10, 1: 100, 2: 100, 3: 100, 4: 100",
        "1 call refused: this cannot happen while the hand is in Dealing
         deal
         1 call refused: it is the turn of seat 2, not of seat 1
         7 call refused: seat 7 takes no part in this hand
         legal 2: fold, call 10, raise 20-100
         2 call
         legal 3: fold, call 10, raise 20-100
         3 call
         legal 4: fold, call 5, raise 20-100
         4 call
         legal 1: check, raise 20-100
         1 check
         phase Opening
         board 2c3c4c
         legal 4: check, raise 10-90",
        "1: 90, 2: 90, 3: 90, 4: 90, seat 4 to act",
    );
}

#[test]
fn heads_up_the_button_posts_the_small_blind_acts_first_and_then_last() {
    check(
        "button 2, blinds 5/10, 2: 100, 7: 100",
        "middle 15
         deal
         legal 2: fold, call 5, raise 20-100
         2 call
         legal 7: check, raise 20-100
         7 check
         board 2c3c4c
         7 check
         2 check
         board 5c
         legal 7: check, raise 10-90",
        "2: 90, 7: 90, seat 7 to act",
    );
}

#[test]
fn a_raise_is_at_least_as_large_as_the_last_one() {
    check(
        "button 3, blinds 5/10, 1: 1000, 2: 1000, 3: 1000",
        "deal
         3 raise 19 refused: a raise to 19 is too small: it must be to 20 or more
         3 raise 1001 refused: a raise to 1001 is more than the 1000 the seat has
         3 raise 35
         legal 1: fold, call 30, raise 60-1000
         1 raise 59 refused: a raise to 59 is too small: it must be to 60 or more
         1 raise 100
         legal 2: fold, call 90, raise 165-1000
         2 fold
         legal 3: fold, call 65, raise 165-1000",
        "1: 900, 2: 990, 3: 965, seat 3 to act",
    );
}

#[test]
fn the_least_bet_is_the_big_blind_on_every_street_and_all_in_may_be_less() {
    check(
        "button 2, blinds 5/10, 1: 1000, 2: 14",
        "deal
         2 call
         1 check
         board 2c3c4c
         1 raise 9 refused: a raise to 9 is too small: it must be to 10 or more
         1 check
         legal 2: check, raise 4-4
         2 raise 4
         legal 1: fold, call 4",
        "1: 990, 2: 0, seat 1 to act",
    );
}

#[test]
fn checks_calls_and_folds_have_their_time() {
    check(
        "button 2, blinds 5/10, 1: 100, 2: 100",
        "deal
         2 check refused: 5 chips are owed: call, raise or fold
         2 call
         1 call refused: nothing is owed: check or bet
         1 fold refused: nothing is owed: no reason to fold
         1 check",
        "1: 90, 2: 90, Opening",
    );
}

#[test]
fn a_house_may_allow_folding_for_nothing() {
    check(
        "button 2, blinds 5/10, 1: 100, 2: 100, open fold",
        "deal\n2 call\nlegal 1: fold, check, raise 20-100\n1 fold",
        "1: 90, 2: 110",
    );
}

#[test]
fn a_seat_that_is_covered_can_only_call_or_fold() {
    check(
        "button 3, blinds 5/10, 1: 100, 2: 100, 3: 500",
        "deal
         3 raise 500
         legal 1: fold, call 95
         1 raise 100 refused: the stack reaches 100, which is no more than the bet of 500: call or fold
         1 call
         legal 2: fold, call 90",
        "1: 0, 2: 90, 3: 0, seat 2 to act",
    );
}

/// It would only come back.
#[test]
fn no_seat_raises_against_seats_that_are_all_in() {
    check(
        "button 3, blinds 5/10, 1: 50, 2: 10, 3: 500",
        "deal
         3 call
         1 raise 50
         legal 3: fold, call 40
         3 raise 90 refused: no other seat can call more than 50
         3 call",
        "1: 0, 2: 0, 3: 450, Opening",
    );
}

#[test]
fn when_all_others_fold_the_last_seat_wins_without_showing_and_gets_its_uncalled_chips_back() {
    let hand = check(
        "button 3, blinds 5/10, 1: 100, 2: 100, 3: 100",
        "deal
         3 raise 60
         1 fold
         2 fold
         3 check refused: the hand is over (Settled)",
        "1: 95, 2: 90, 3: 115",
    );
    assert_eq!(hand.returned(), [(crate::Seat(3), crate::Chips::new(50))]);
}

/// The big blind has chips, but no seat is left to bet against.
#[test]
fn a_check_that_would_decide_nothing_is_skipped() {
    check("button 3, blinds 5/10, 1: 5, 2: 100, 3: 100", "deal\n3 fold\nphase Opening", "1: 0, 2: 95, 3: 100, Opening");
}

#[test]
fn there_is_no_cap_on_raises() {
    check(
        "button 2, blinds 5/10, 1: 100, 2: 100",
        "deal\n2 raise 20\n1 raise 30\n2 raise 40\n1 raise 50\n2 raise 60\n1 raise 70\nlegal 2: fold, call 10, raise 80-100",
        "1: 30, 2: 40, seat 2 to act",
    );
}
