//! Reversals: the receivers return what they got; what they have spent becomes their debt.

use super::story::{Story, check};

#[test]
fn an_orphaned_deposit_is_reversed_in_full() {
    check(
        "deposit d1 100 -> alice
         deposit d2 7 -> alice
         r1 indexer: reverse d1  applied",
        "vault 7, alice 7",
    );
}

#[test]
fn developer_and_ecosystem_give_their_shares_back() {
    check(
        "d1 indexer: move vault -> alice 1000, move vault -> developer 25, move vault -> ecosystem 10  applied
         r1 indexer: reverse d1                                                                        applied",
        "",
    );
}

#[test]
fn what_was_spent_becomes_debt() {
    check(
        "open alice.debt arena/debt/1/alice
         deposit d1 100 -> alice
         k1 game_server: move alice -> world 60  applied
         r1 indexer: reverse d1                  applied",
        "world 60, alice.debt 60",
    );
}

#[test]
fn the_debt_account_may_be_older_than_the_account() {
    check(
        "open carol.debt arena/debt/1/carol
         open carol arena/funds/1/carol
         deposit d1 100 -> carol
         k1 game_server: move carol -> world 100  applied
         r1 indexer: reverse d1                   applied",
        "world 100, carol.debt 100",
    );
}

#[test]
fn without_a_debt_account_nothing_is_reversed() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: move alice -> world 60  applied
         r1 indexer: reverse d1                  debt_account_not_found
         r1 indexer: reverse d1                  debt_account_not_found
         // The deposits flow opens it and retries, under the same key.
         open alice.debt arena/debt/1/alice
         r1 indexer: reverse d1                  applied
         r1 indexer: reverse d1                  applied again",
        "world 60, alice.debt 60",
    );
}

/// The developer was paid out and the budget was spent; bob's deposit keeps the wallet filled.
#[test]
fn a_server_owes_the_shares_it_has_spent() {
    check(
        "open arena.debt arena/debt/1
         deposit d0 500 -> bob
         d1 indexer: move vault -> alice 1000, move vault -> developer 25, move vault -> ecosystem 10  applied
         w1 developer: hold developer 25 by system                                                     applied h1
         w2 system: post h1 -> vault 25                                                                applied
         k1 game_server: move ecosystem -> world 10                                                    applied
         r1 indexer: reverse d1                                                                        applied",
        "vault 475, world 10, bob 500, arena.debt 35",
    );
}

#[test]
fn held_money_is_not_taken() {
    check(
        "open alice.debt arena/debt/1/alice
         deposit d1 100 -> alice
         k1 game_server: hold alice 70 until 500  applied h1
         r1 indexer: reverse d1                   applied
         k2 game_server: post h1 -> world 70      applied",
        "world 70, alice.debt 70",
    );
}

/// Otherwise the owner would have the money again, and could withdraw it, while their other account owes it.
#[test]
fn two_accounts_of_one_owner_make_no_debt() {
    check(
        "open more arena/unallocated/1/alice
         open alice.debt arena/debt/1/alice
         d1 indexer: move vault -> more 100      applied
         s1 system: move more -> alice 100       applied
         k1 game_server: move alice -> world 30  applied
         r1 system: reverse s1                   debt_account_not_found",
        "vault 100, world 30, alice 70",
    );
}

#[test]
fn a_transfer_is_reversed_once() {
    check(
        "deposit d1 100 -> alice
         r1 indexer: reverse d1  applied
         r2 indexer: reverse d1  already_reversed
         r3 system: reverse d1   already_reversed
         r1 indexer: reverse d1  applied again",
        "",
    );
}

#[test]
fn a_reversal_cannot_be_reversed() {
    check(
        "deposit d1 100 -> alice
         r1 indexer: reverse d1         applied
         r2 indexer: reverse r1         not_reversible
         r3 admin(ann+ben): reverse r1  not_reversible",
        "",
    );
}

#[test]
fn what_moved_nothing_cannot_be_reversed() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 10 until 500  applied h1
         k2 game_server: move alice -> world 999  insufficient_funds
         at 500
         expire h1
         r1 system: reverse k1                    not_reversible
         r2 system: reverse k2                    transfer_not_found
         // The first record lists an asset, and there is no record 0 or 99.
         r3 system: reverse #1                    transfer_not_found
         r4 system: reverse #0                    transfer_not_found
         r5 system: reverse #99                   transfer_not_found",
        "vault 100, alice 100",
    );
}

#[test]
fn the_indexer_reverses_only_its_own_credits() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: move alice -> world 60  applied
         r1 indexer: reverse k1                  not_allowed
         r2 game_server: reverse k1              not_allowed
         r3 user(alice): reverse k1              not_allowed
         r4 developer: reverse k1                not_allowed
         r5 tables: reverse k1                   not_allowed
         r6 admin(ann): reverse k1               not_confirmed
         r7 admin(ann+ann): reverse k1           not_confirmed
         r8 admin(ann+ben): reverse k1           applied",
        "vault 100, alice 100",
    );
}

#[test]
fn a_failed_payout_comes_back_from_the_wallet() {
    check(
        "deposit d1 100 -> alice
         k1 user(alice): hold alice 60 by system  applied h1
         k2 system: post h1 -> vault 60           applied
         r1 system: reverse k2                    applied",
        "vault 100, alice 100",
    );
}

/// Alice owes 100 for an orphaned deposit that she has staked, and then her payout of 60 comes back.
#[test]
fn what_returns_to_a_debtor_repays_their_debt_first() {
    let mut story = Story::new();
    story.run(
        "open alice.debt arena/debt/1/alice
         deposit d1 100 -> alice
         deposit d2 130 -> alice
         w1 user(alice): hold alice 60 by system  applied h1
         w2 system: post h1 -> vault 60           applied
         w3 user(alice): hold alice 70 by system  applied h2
         w4 system: post h2 -> vault 70           applied
         k1 game_server: move alice -> world 100  applied
         r1 indexer: reverse d1                   applied
         r2 system: reverse w2                    applied",
    );
    assert_eq!(story.standings(), "vault 60, world 100, alice.debt 40");
    assert_eq!(story.postings("r2"), ["vault -> alice.debt 60 (then 60 and 40)"]);
    story.run("r4 system: reverse w4  applied");
    assert_eq!(story.standings(), "vault 130, world 100, alice 30");
    assert_eq!(
        story.postings("r4"),
        ["vault -> alice.debt 40 (then 100 and 0)", "vault -> alice 30 (then 130 and 30)"]
    );
}

/// Bob owes what alice sent him and he has spent; that repays her debt.
#[test]
fn what_another_player_owes_to_a_debtor_repays_their_debt_too() {
    check(
        "open alice.debt arena/debt/1/alice
         open bob.debt arena/debt/1/bob
         deposit d1 100 -> alice
         a1 admin(ann+ben): move alice -> bob 50                       applied
         k1 game_server: move alice -> world 50, move bob -> world 50  applied
         r1 indexer: reverse d1                                        applied
         r2 admin(ann+ben): reverse a1                                 applied",
        "world 100, alice.debt 50, bob.debt 50",
    );
}

/// The orphaned deposit was paid out already: the wallet cannot have held it, so the books wait for the rest.
#[test]
fn a_wallet_gives_back_no_more_than_it_holds() {
    check(
        "open alice.debt arena/debt/1/alice
         deposit d1 100 -> alice
         w1 user(alice): hold alice 100 by system  applied h1
         w2 system: post h1 -> vault 100           applied
         r1 indexer: reverse d1                    custody_short
         deposit d2 100 -> bob
         r1 indexer: reverse d1                    applied",
        "bob 100, alice.debt 100",
    );
}

/// Postings are reversed last first, so that money which moved through an account is available when it is needed.
#[test]
fn a_chain_of_moves_is_reversed_last_first() {
    check(
        "open alice.more arena/unallocated/1/alice
         deposit d1 100 -> alice
         k1 admin(ann+ben): move alice -> bob 100, move bob -> alice.more 100  applied
         r1 admin(ann+ben): reverse k1                                         applied",
        "vault 100, alice 100",
    );
}

/// The journal shows what was returned and what is owed; there is no posting of zero.
#[test]
fn a_reversal_is_recorded_share_by_share() {
    let mut story = Story::new();
    story.run(
        "open alice.debt arena/debt/1/alice
         open arena.debt arena/debt/1
         d1 indexer: move vault -> alice 100, move vault -> developer 25, move vault -> ecosystem 10  applied
         k1 game_server: move alice -> world 60, move ecosystem -> world 10                           applied
         r1 indexer: reverse d1                                                                       applied",
    );
    let expected = [
        "arena.debt -> vault 10 (then 10 and 125)",
        "developer -> vault 25 (then 0 and 100)",
        "alice -> vault 40 (then 0 and 60)",
        "alice.debt -> vault 60 (then 60 and 0)",
    ];
    assert_eq!(story.postings("r1"), expected);
}

#[test]
fn a_reversal_is_linked_to_what_it_reverses() {
    let mut story = Story::new();
    story.run(
        "deposit d1 100 -> alice
         r1 indexer: reverse d1  applied",
    );
    let (original, reversal) = (story.place("d1"), story.place("r1"));
    assert_eq!(story.replay.reversals.get(&original), Some(&reversal));
    assert_eq!(story.books.past(original).and_then(|past| past.reversed_by), Some(reversal));
}

#[test]
fn what_the_house_or_suspense_no_longer_has_becomes_no_debt() {
    check(
        "d1 indexer: move vault -> suspense 100  applied
         d2 indexer: move suspense -> alice 100  applied
         r1 indexer: reverse d1                  debt_account_not_found
         r2 indexer: reverse d2                  applied
         r1 indexer: reverse d1                  applied",
        "",
    );
}
