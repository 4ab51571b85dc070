//! All-ins below a full raise.

use super::story::check;

const TABLE: &str = "button 6, blinds 50/100, 1: 5000, 2: 5000, 3: 5000, 4: 420, 5: 540, 6: 5000";

#[test]
fn one_short_all_in_does_not_reopen_the_betting() {
    check(
        TABLE,
        "deal
         3 raise 300
         4 raise 420
         5 fold
         6 fold
         1 fold
         2 fold
         legal 3: fold, call 120
         3 raise 620 refused: the bet went from 300 to 420 since the seat acted, less than a full raise of 200: call or fold
         3 call",
        "1: 4950, 2: 4900, 3: 4580, 4: 0, 5: 540, 6: 5000, Opening",
    );
}

#[test]
fn several_short_all_ins_add_up() {
    check(
        TABLE,
        "deal
         3 raise 300
         4 raise 420
         5 raise 540
         6 call
         1 fold
         2 fold
         legal 3: fold, call 240, raise 740-5000",
        "1: 4950, 2: 4900, 3: 4700, 4: 0, 5: 0, 6: 4460, seat 3 to act",
    );
}

#[test]
fn to_a_seat_that_has_not_acted_the_betting_is_open() {
    check(
        TABLE,
        "deal
         3 raise 300
         4 raise 420
         5 fold
         legal 6: fold, call 420, raise 620-5000",
        "1: 4950, 2: 4900, 3: 4700, 4: 0, 5: 540, 6: 5000, seat 6 to act",
    );
}

/// The caller in between has faced more, so less was raised since that call.
#[test]
fn what_counts_is_how_far_the_bet_went_since_the_seat_acted() {
    check(
        "button 6, blinds 50/100, 1: 5000, 2: 420, 3: 5000, 4: 5000, 5: 540, 6: 5000",
        "deal
         3 raise 300
         4 fold
         5 fold
         6 call
         1 fold
         2 raise 420
         legal 3: fold, call 120
         3 call
         legal 6: fold, call 120
         6 call
         phase Opening",
        "1: 4950, 2: 0, 3: 4580, 4: 5000, 5: 540, 6: 4580, Opening",
    );
    check(
        "button 7, blinds 50/100, 1: 5000, 2: 5000, 3: 5000, 4: 420, 5: 5000, 6: 540, 7: 5000",
        "deal
         3 raise 300
         4 raise 420
         5 call
         6 raise 540
         7 fold
         1 fold
         2 fold
         legal 3: fold, call 240, raise 740-5000
         3 call
         legal 5: fold, call 120
         5 raise 740 refused: the bet went from 420 to 540 since the seat acted, less than a full raise of 200: call or fold",
        "1: 4950, 2: 4900, 3: 4460, 4: 0, 5: 4580, 6: 0, 7: 5000, seat 5 to act",
    );
}

/// What was reopened stays so when another short all-in follows.
#[test]
fn a_further_short_all_in_does_not_close_what_is_open() {
    check(
        "button 7, blinds 50/100, 1: 5000, 2: 5000, 3: 5000, 4: 420, 5: 540, 6: 600, 7: 5000",
        "deal
         3 raise 300
         4 raise 420
         5 raise 540
         6 raise 600
         7 call
         1 fold
         2 fold
         legal 3: fold, call 300, raise 800-5000",
        "1: 4950, 2: 4900, 3: 4700, 4: 0, 5: 0, 6: 0, 7: 4400, seat 3 to act",
    );
}

#[test]
fn a_short_all_in_over_the_big_blind_does_not_reopen_to_those_who_called_it() {
    check(
        "button 4, blinds 50/100, 1: 5000, 2: 5000, 3: 5000, 4: 130",
        "deal
         3 call
         4 raise 130
         1 fold
         legal 2: fold, call 30, raise 230-5000
         2 call
         legal 3: fold, call 30",
        "1: 4950, 2: 4870, 3: 4900, 4: 0, seat 3 to act",
    );
}

#[test]
fn an_all_in_below_the_least_bet_does_not_reopen_to_those_who_checked() {
    check(
        "button 2, blinds 50/100, 1: 5000, 2: 140, 3: 5000",
        "deal
         2 call
         3 call
         1 check
         board 2c3c4c
         3 check
         1 check
         2 raise 40
         legal 3: fold, call 40
         3 call
         legal 1: fold, call 40",
        "1: 4900, 2: 0, 3: 4860, seat 1 to act",
    );
}

#[test]
fn a_full_raise_reopens_the_betting_to_every_seat() {
    check(
        TABLE,
        "deal
         3 raise 300
         4 raise 420
         5 fold
         6 raise 620
         1 fold
         2 fold
         legal 3: fold, call 320, raise 820-5000",
        "1: 4950, 2: 4900, 3: 4700, 4: 0, 5: 540, 6: 4380, seat 3 to act",
    );
}
