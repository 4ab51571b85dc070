//! Posting with too little.

use super::story::check;

#[test]
fn a_short_big_blind_is_owed_whole_as_cardrooms_have_it() {
    check(
        "button 3, blinds 50/100, 1: 1000, 2: 60, 3: 1000",
        "middle 110
         deal
         legal 3: fold, call 100, raise 200-1000",
        "1: 950, 2: 0, 3: 1000, seat 3 to act",
    );
}

#[test]
fn a_short_big_blind_is_owed_only_as_posted_if_the_house_says_so() {
    check(
        "button 3, blinds 50/100, 1: 1000, 2: 60, 3: 1000, as posted",
        "deal
         legal 3: fold, call 60, raise 160-1000",
        "1: 950, 2: 0, 3: 1000, seat 3 to act",
    );
}

/// Seat 3 called forty chips that no other seat has put in.
#[test]
fn chips_paid_over_a_short_blind_come_back_if_no_seat_matches_them() {
    check(
        "button 3, blinds 50/100, 1: 1000, 2: 60, 3: 1000",
        "deal
         3 call
         1 fold
         pots 170 for 2 3
         phase Opening",
        "1: 950, 2: 0, 3: 940, Opening",
    );
}

#[test]
fn a_small_blind_above_an_all_in_big_blind_has_nothing_to_decide() {
    check(
        "button 1, blinds 50/100, 1: 1000, 2: 30",
        "deal
         phase Opening
         pots 60 for 2 1",
        "1: 970, 2: 0, Opening",
    );
}

#[test]
fn antes_are_no_bets_but_part_of_the_pot() {
    check(
        "button 3, blinds 5/10, ante 2, 1: 100, 2: 100, 3: 100",
        "middle 21
         deal
         legal 3: fold, call 10, raise 20-98
         3 fold
         1 call
         2 check
         pots 26 for 1 2",
        "1: 88, 2: 88, 3: 98, Opening",
    );
}

#[test]
fn a_stack_too_short_for_both_antes_first() {
    check(
        "button 3, blinds 5/10, ante 8, 1: 100, 2: 12, 3: 100",
        "middle 33\ndeal",
        "1: 87, 2: 0, 3: 92, seat 3 to act",
    );
    check(
        "button 3, blinds 5/10, ante 8, 1: 100, 2: 9, 3: 100, as posted",
        "deal\nlegal 3: fold, call 5, raise 15-92",
        "1: 87, 2: 0, 3: 92, seat 3 to act",
    );
}

#[test]
fn a_stack_too_short_for_both_posts_the_blind_first_if_the_house_says_so() {
    check(
        "button 3, blinds 5/10, ante 8, 1: 100, 2: 9, 3: 100, as posted, blind first",
        "deal\nlegal 3: fold, call 9, raise 19-92",
        "1: 87, 2: 0, 3: 92, seat 3 to act",
    );
}

/// Seat 1 has 3 in a pot of three; the rest of the antes is between the others.
#[test]
fn short_antes_make_side_pots() {
    check(
        "button 3, blinds 5/10, ante 10, 1: 3, 2: 10, 3: 100",
        "deal
         pots 9 for 1 2 3, 14 for 2 3
         board 2c3c4c
         board 5d
         board 9h
         1 shows AcAd
         2 shows KcKd
         3 mucks",
        "1: 9, 2: 14, 3: 90",
    );
}

#[test]
fn blinds_larger_than_every_stack_are_a_hand_without_betting() {
    check(
        "button 2, blinds 500/1000, 1: 3, 2: 2",
        "deal
         pots 4 for 1 2
         board 2c3c4c
         board 5d
         board 9h
         1 shows AcAd
         2 shows KcKd",
        "1: 5, 2: 0",
    );
}
