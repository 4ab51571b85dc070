//! Early credit: the house's money, lent to a player until their deposit is final.

use super::story::{Story, check};

/// The house had 100 and gave alice 50 of it before her deposit was final.
const BEFORE: &str = "
    open alice.early arena/play_only/1/alice
    t1 indexer: move vault -> house 100       applied
    e1 indexer: move house -> alice.early 50  applied
";

fn check_early(scenario: &str, expected: &str) {
    check(&format!("{BEFORE}\n{scenario}"), expected);
}

#[test]
fn early_credit_is_the_houses_money() {
    check_early(
        "e2 indexer: move house -> alice.early 51  insufficient_funds
         e3 indexer: move vault -> alice.early 1   not_allowed",
        "vault 100, house 50, alice.early 50",
    );
}

#[test]
fn early_credit_may_be_staked_but_not_paid_out() {
    check_early(
        "u1 user(alice): hold alice.early 50 by system  not_allowed
         s1 system: hold alice.early 50                 not_allowed
         s2 system: move alice.early -> vault 50        not_allowed
         k1 game_server: move alice.early -> alice 50   not_allowed
         k2 game_server: move alice.early -> world 50   applied",
        "vault 100, house 50, world 50",
    );
}

/// A stake that is returned goes back as early credit, to the same player on the same server.
#[test]
fn what_comes_back_from_the_world_is_early_credit_again() {
    check_early(
        "open rival.early rival/play_only/1/alice
         k1 game_server: move alice.early -> world 50     applied
         k2 game_server: move world -> rival.early 50     not_allowed
         k3 game_server: move world -> alice.early 51     insufficient_funds
         k4 game_server: move world -> alice.early 50     applied
         k5 game_server: move ecosystem -> alice.early 1  not_allowed
         u1 user(alice): hold alice.early 50 by system    not_allowed
         f1 indexer: move alice.early -> house 50         applied",
        "vault 100, house 100",
    );
}

#[test]
fn when_the_deposit_is_final_the_house_has_its_money_back() {
    check_early(
        "f1 indexer: move alice.early -> house 50, move vault -> alice 50  applied",
        "vault 150, house 100, alice 50",
    );
}

#[test]
fn early_credit_that_was_not_staked_is_returned_in_full() {
    check_early("r1 indexer: reverse e1  applied", "vault 100, house 100");
}

/// The transaction never became final: a player who stakes early credit risks the house's money, not their own.
#[test]
fn early_credit_that_was_staked_is_the_houses_loss() {
    check_early(
        "open alice.debt arena/debt/1/alice
         k1 game_server: move alice.early -> world 30  applied
         r1 indexer: reverse e1                        applied",
        "vault 100, house 70, world 30",
    );
}

/// There is no debt to book, and the deposits flow does not wait for one.
#[test]
fn a_lost_early_credit_needs_no_debt_account() {
    let mut story = Story::new();
    story.run(BEFORE).run(
        "k1 game_server: move alice.early -> world 30  applied
         r1 indexer: reverse e1                        applied",
    );
    assert_eq!(story.postings("r1"), ["alice.early -> house 20 (then 0 and 70)"]);
    assert_eq!(story.standings(), "vault 100, house 70, world 30");
}

#[test]
fn early_credit_that_was_staked_in_full_is_reversed_once_without_postings() {
    let mut story = Story::new();
    story.run(BEFORE).run(
        "k1 game_server: move alice.early -> world 50  applied
         r1 indexer: reverse e1                        applied
         r1 indexer: reverse e1                        applied again
         r2 indexer: reverse e1                        already_reversed
         r3 system: reverse r1                         not_reversible",
    );
    assert_eq!(story.postings("r1"), [""; 0]);
    assert_eq!(story.standings(), "vault 100, house 50, world 50");
}

/// One request may have credited both; each is reversed by its own rule.
#[test]
fn the_players_own_money_in_the_same_request_is_still_owed() {
    check_early(
        "open alice.debt arena/debt/1/alice
         d1 indexer: move house -> alice.early 10, move vault -> alice 40      applied
         k1 game_server: move alice.early -> world 60, move alice -> world 40  applied
         r1 indexer: reverse d1                                                applied",
        "vault 100, house 40, world 100, alice.debt 40",
    );
}

/// Alice owes 40: neither early credit nor what the game gives back of it repays that.
#[test]
fn early_credit_that_returns_repays_nothing() {
    check_early(
        "open alice.debt arena/debt/1/alice
         deposit d1 40 -> alice
         k1 game_server: move alice -> world 40        applied
         r1 indexer: reverse d1                        applied
         e2 indexer: move house -> alice.early 20      applied
         k2 game_server: move alice.early -> world 70  applied
         k3 game_server: move world -> alice.early 30  applied",
        "vault 100, house 30, world 80, alice.early 30, alice.debt 40",
    );
}
