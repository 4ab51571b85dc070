//! Deadlines: thirty seconds for a turn, fifteen for a showdown.

use super::story::check;

const TABLE: &str = "button 2, blinds 5/10, 1: 100, 2: 100";

#[test]
fn a_late_seat_folds_if_it_owes_and_checks_if_not() {
    check(
        TABLE,
        "deal
         2 late at 29999 refused: the deadline is 30000 ms, and it is 29999 ms
         1 late at 30000 refused: it is the turn of seat 2, not of seat 1
         2 late at 30000",
        "1: 105, 2: 95",
    );
    check(TABLE, "deal\n2 call\n1 late\nboard 2c3c4c\n1 late\n2 late\nphase Opening", "1: 90, 2: 90, Opening");
}

/// The operator records the time-out; until then a decision counts.
#[test]
fn a_decision_after_the_deadline_counts_if_it_comes_before_the_time_out() {
    check(
        TABLE,
        "deal\nclock restarts at 5\n2 late at 30004 refused: the deadline is 30005 ms, and it is 30004 ms\n2 call\n1 check",
        "1: 90, 2: 90, Opening",
    );
}

#[test]
fn deadlines_begin_again_after_the_operator_was_away() {
    check(
        TABLE,
        "deal
         clock restarts at 500000
         2 late at 529999 refused: the deadline is 530000 ms, and it is 529999 ms
         2 late at 530000",
        "1: 105, 2: 95",
    );
}

#[test]
fn a_seat_that_is_silent_at_the_showdown_mucks() {
    check(
        TABLE,
        "deal
         2 call
         1 check
         board 2c7d8h
         1 check
         2 check
         board Jh
         1 check
         2 check
         board 3s
         1 check
         2 check
         1 late at 14999 refused: the deadline is 15000 ms, and it is 14999 ms
         1 late",
        "1: 90, 2: 110",
    );
}

#[test]
fn no_seat_is_late_while_cards_are_awaited() {
    check(TABLE, "2 late at 99999 refused: this cannot happen while the hand is in Dealing", "1: 90, 2: 95, Dealing");
}
