//! Debts: new credits repay them first, and nothing else does.

use super::story::{Story, check};

/// Alice was credited 100, spent them, and the deposit was orphaned: she owes 100.
fn check_with_debt(scenario: &str, expected: &str) {
    let owing = "
        open alice.debt arena/debt/1/alice
        open arena.debt arena/debt/1
        open alice.more arena/unallocated/1/alice
        open alice.early arena/play_only/1/alice
        d1 indexer: move vault -> alice 100, move vault -> developer 20, move vault -> ecosystem 10  applied
        k1 game_server: move alice -> world 100, move ecosystem -> world 10                          applied
        a1 admin(ann+ben): move developer -> house 20                                                applied
        r1 indexer: reverse d1                                                                       applied";
    check(&format!("{owing}\n{scenario}"), expected);
}

#[test]
fn the_player_owes_their_share_and_the_server_its_own() {
    check_with_debt("", "house 20, world 110, alice.debt 100, arena.debt 30");
}

#[test]
fn a_smaller_credit_repays_a_part() {
    check_with_debt("deposit d2 60 -> alice", "vault 60, house 20, world 110, alice.debt 40, arena.debt 30");
}

#[test]
fn an_equal_credit_repays_the_debt_exactly() {
    check_with_debt("deposit d2 100 -> alice", "vault 100, house 20, world 110, arena.debt 30");
}

#[test]
fn the_rest_of_a_larger_credit_is_the_players() {
    check_with_debt("deposit d2 130 -> alice", "vault 130, house 20, world 110, alice 30, arena.debt 30");
}

#[test]
fn a_credit_that_repays_is_recorded_as_what_it_did() {
    let mut story = Story::new();
    story.run(
        "open alice.debt arena/debt/1/alice
         deposit d1 100 -> alice
         k1 game_server: move alice -> world 100  applied
         r1 indexer: reverse d1                   applied
         deposit d2 60 -> alice
         deposit d3 60 -> alice
         deposit d4 60 -> alice",
    );
    assert_eq!(story.postings("d2"), ["vault -> alice.debt 60 (then 60 and 40)"]);
    assert_eq!(
        story.postings("d3"),
        ["vault -> alice.debt 40 (then 100 and 0)", "vault -> alice 20 (then 120 and 20)"]
    );
    assert_eq!(story.postings("d4"), ["vault -> alice 60 (then 180 and 80)"]);
}

#[test]
fn the_orphaned_deposit_included_again_cancels_the_debt() {
    check_with_debt(
        "d2 indexer: move vault -> alice 100, move vault -> developer 20, move vault -> ecosystem 10  applied",
        "vault 130, house 20, world 110",
    );
}

/// A server has one debt, whichever of its shares was spent.
#[test]
fn a_deposits_share_for_the_ecosystem_repays_what_the_server_owes() {
    check_with_debt("deposit d2 25 -> ecosystem", "vault 25, house 20, world 110, alice.debt 100, arena.debt 5");
    check_with_debt("deposit d2 40 -> ecosystem", "vault 40, house 20, world 110, ecosystem 10, alice.debt 100");
}

/// Money that the game or the house puts into the budget belongs to the budget.
#[test]
fn only_deposits_into_the_ecosystem_repay() {
    check_with_debt(
        "k2 game_server: move world -> ecosystem 40    applied
         s1 system: move house -> ecosystem 15         applied
         a2 admin(ann+ben): move world -> ecosystem 5  applied
         d2 indexer: move vault -> suspense 7          applied
         d3 indexer: move suspense -> ecosystem 7      applied",
        "vault 7, house 5, world 65, ecosystem 67, alice.debt 100, arena.debt 30",
    );
}

#[test]
fn fees_repay_what_the_server_owes_wherever_they_come_from() {
    check_with_debt(
        "a2 admin(ann+ben): move house -> developer 12  applied",
        "house 8, world 110, alice.debt 100, arena.debt 18",
    );
}

#[test]
fn unallocated_money_repays_as_well() {
    check_with_debt("deposit d2 130 -> alice.more", "vault 130, house 20, world 110, arena.debt 30, alice.more 30");
}

#[test]
fn winnings_repay_before_they_can_be_paid_out() {
    check_with_debt("x1 game_server: move world -> alice 110  applied", "house 20, alice 10, arena.debt 30");
}

#[test]
fn legs_of_one_request_repay_only_what_is_still_owed() {
    check_with_debt(
        "d2 indexer: move vault -> alice 70, move vault -> alice.more 70, move vault -> alice 5  applied",
        "vault 145, house 20, world 110, alice 5, arena.debt 30, alice.more 40",
    );
}

#[test]
fn early_credit_is_the_houses_and_repays_nothing() {
    check_with_debt(
        "e1 indexer: move house -> alice.early 20  applied",
        "world 110, alice.debt 100, arena.debt 30, alice.early 20",
    );
}

#[test]
fn a_credit_repays_no_other_owners_debt() {
    check_with_debt(
        "open alice.pol arena/funds/2/alice
         open vault.pol @house/custody/2/vault
         open rival.alice rival/funds/1/alice
         deposit d2 50 -> bob
         deposit d3 50 -> rival.alice
         d4 indexer: move vault.pol -> alice.pol 50  applied",
        "vault 100, house 20, world 110, bob 50, alice.debt 100, arena.debt 30, alice.pol 50, vault.pol 50, \
         rival.alice 50",
    );
}

#[test]
fn a_post_to_the_debtor_repays_too() {
    check_with_debt(
        "deposit d2 50 -> bob
         h1 admin(ann+ben): hold bob 50          applied h1
         h2 admin(ann+ben): post h1 -> alice 50  applied",
        "vault 50, house 20, world 110, alice.debt 50, arena.debt 30",
    );
}

#[test]
fn the_house_can_forgive_a_debt_but_not_more_than_it() {
    check_with_debt(
        "t1 indexer: move vault -> house 200              applied
         f1 admin(ann+ben): move house -> alice.debt 101  custody_short
         f2 admin(ann): move house -> alice.debt 100      not_confirmed
         f3 system: move house -> alice.debt 100          not_allowed
         f4 game_server: move world -> alice.debt 100     not_allowed
         f5 admin(ann+ben): move world -> alice.debt 100  not_allowed
         f6 admin(ann+ben): move house -> alice.debt 100  applied",
        "vault 200, house 120, world 110, arena.debt 30",
    );
}

#[test]
fn debts_add_up() {
    check_with_debt(
        "// A second deposit of 150 repays 100; the 50 left are spent; then it is orphaned as well.
         deposit d2 150 -> alice
         k2 game_server: move alice -> world 50  applied
         r2 indexer: reverse d2                  applied",
        "house 20, world 160, alice.debt 150, arena.debt 30",
    );
}

#[test]
fn a_deposit_that_repaid_can_be_reversed() {
    check_with_debt(
        "deposit d2 150 -> alice
         r2 indexer: reverse d2  applied",
        "house 20, world 110, alice.debt 100, arena.debt 30",
    );
}
