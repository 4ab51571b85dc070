//! What the house takes.

use super::story::check;

const SHOWDOWN: &str = "deal
    2 call
    1 check
    board 2c7d8h
    1 raise 40
    2 call
    board Jh
    1 check
    2 check
    board 3s
    1 check
    2 check
    1 shows AsAc
    2 mucks";

/// Five percent of 100 chips.
#[test]
fn the_rake_is_a_share_of_the_pot() {
    check("button 2, blinds 5/10, rake 500, 1: 100, 2: 100", SHOWDOWN, "1: 145, 2: 50, rake 5");
}

#[test]
fn the_rake_is_rounded_down() {
    check("button 2, blinds 5/10, rake 199, 1: 100, 2: 100", SHOWDOWN, "1: 149, 2: 50, rake 1");
}

#[test]
fn the_rake_stops_at_its_cap() {
    check("button 2, blinds 5/10, rake 500, cap 3, 1: 100, 2: 100", SHOWDOWN, "1: 147, 2: 50, rake 3");
}

#[test]
fn there_is_no_rake_without_a_flop_if_the_house_says_so() {
    let fold = "deal\n2 fold";
    check("button 2, blinds 20/40, rake 500, 1: 100, 2: 100", fold, "1: 118, 2: 80, rake 2");
    check("button 2, blinds 20/40, rake 500, no-flop-no-drop, 1: 100, 2: 100", fold, "1: 120, 2: 80");
    check("button 2, blinds 5/10, rake 500, no-flop-no-drop, 1: 100, 2: 100", SHOWDOWN, "1: 145, 2: 50, rake 5");
}

/// The pot is what was called: sixty chips came back before it was raked.
#[test]
fn uncalled_chips_are_not_raked() {
    check(
        "button 2, blinds 5/10, rake 1000, 1: 100, 2: 100",
        "deal\n2 call\n1 check\nboard 2c7d8h\n1 raise 60\n2 fold",
        "1: 108, 2: 90, rake 2",
    );
}

/// 300 and 108 chips: 15 and 5 of them; the cap is used up by the main pot first.
#[test]
fn each_pot_is_raked_before_it_is_split() {
    let story = "deal
        3 raise 100
        1 raise 154
        2 call
        pots 300 for 1 2 3, 108 for 1 2
        board AsKsQd
        board Jd
        board 2c
        1 shows Tc3d
        2 shows Td3c
        3 shows 4c4d";
    check("button 3, blinds 5/10, rake 500, 1: 154, 2: 154, 3: 100", story, "1: 195, 2: 193, 3: 0, rake 20");
    check("button 3, blinds 5/10, rake 500, cap 16, 1: 154, 2: 154, 3: 100", story, "1: 197, 2: 195, 3: 0, rake 16");
}
