//! How many legs, of which assets, and how large the sums may be.

use super::story::{Story, check};
use crate::{Amount, AssetId, Leg, Total};

/// So many moves of 1 from alice to the world, in one request.
fn moves(count: usize) -> String {
    vec!["move alice -> world 1"; count].join(", ")
}

#[test]
fn sixteen_legs_are_the_most() {
    let scenario = format!(
        "deposit d1 100 -> alice
         k1 game_server: {}  applied
         k2 game_server: {}  legs_out_of_range
         k3 game_server:     legs_out_of_range",
        moves(16),
        moves(17)
    );
    check(&scenario, "vault 100, world 16, alice 84");
}

#[test]
fn a_request_is_applied_whole_or_not_at_all() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: move alice -> world 60, move alice -> world 41  insufficient_funds
         k2 game_server: move alice -> world 60, move alice -> world 40  applied",
        "vault 100, world 100",
    );
}

#[test]
fn later_legs_see_what_earlier_ones_did() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: move world -> bob 30, move alice -> world 30                        insufficient_funds
         k2 game_server: move alice -> world 30, move world -> bob 30, move bob -> world 10  applied",
        "vault 100, world 10, alice 70, bob 20",
    );
}

#[test]
fn both_ends_of_a_move_must_differ() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: move alice -> alice 1                         accounts_must_differ
         k2 game_server: move alice -> world 1, move alice -> alice 1  accounts_must_differ
         k3 game_server: move #99 -> #99 1                             accounts_must_differ",
        "vault 100, alice 100",
    );
}

/// The account of a post is its hold's, so that this is known only with the books.
#[test]
fn both_ends_of_a_post_must_differ() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 40                             applied h1
         // A game server has no route from funds to funds, and learns no more than that.
         k2 game_server: post h1 -> alice 10                       not_allowed
         k3 user(bob): post h1 -> alice 10                         not_allowed
         // An override has a route from funds to funds.
         a1 admin(ann+ben): hold alice 20                          applied h2
         a2 admin(ann+ben): post h2 -> alice 20                    accounts_must_differ
         // As with a move, the key stays free.
         a2 admin(ann+ben): post h2 -> bob 20                      applied
         k4 game_server: post h1 -> world 40                       applied",
        "vault 100, world 40, alice 40, bob 20",
    );
}

#[test]
fn one_request_may_move_two_assets_but_one_leg_may_not() {
    check(
        "open vault2 @house/custody/2/vault
         open alice2 arena/funds/2/alice
         open world2 arena/world/2
         deposit d1 100 -> alice
         d2 indexer: move vault2 -> alice2 50                             applied
         k1 game_server: move alice -> world 10, move alice2 -> world2 5  applied
         k2 game_server: move alice -> world2 10                          asset_mismatch
         k3 game_server: move alice -> world 1, move alice2 -> world 1    asset_mismatch
         k4 game_server: hold alice2 5                                    applied h1
         k5 game_server: post h1 -> world 5                               asset_mismatch
         d3 indexer: move vault -> alice2 1                               asset_mismatch",
        "vault 100, world 10, alice 90, vault2 50, alice2 45 held 5, world2 5",
    );
}

#[test]
fn a_wallet_cannot_be_owed_more_than_128_bits() {
    check(
        "deposit d1 MAX -> alice
         d2 indexer: move vault -> bob 1          balance_overflow
         k1 game_server: move alice -> world MAX  applied
         k2 game_server: move world -> alice MAX  applied
         d3 indexer: move vault -> bob 1          balance_overflow",
        "vault 340282366920938463463374607431768211455, alice 340282366920938463463374607431768211455",
    );
}

#[test]
fn an_account_cannot_receive_more_than_128_bits() {
    check(
        "open other @house/custody/1/other
         deposit d1 MAX -> alice
         d2 indexer: move other -> alice 1                           balance_overflow
         d3 indexer: move other -> bob 5                             applied
         k1 game_server: move alice -> world MAX                     applied
         k2 game_server: move bob -> world 1                         balance_overflow
         k3 game_server: move world -> alice 1, move bob -> world 1  applied
         k4 game_server: hold bob 4, hold bob MAX                    insufficient_funds",
        "vault 340282366920938463463374607431768211455, world 340282366920938463463374607431768211455, \
         alice 1, bob 4, other 5",
    );
}

/// Each account fits, all together do not, and the books are still seen to be sound.
#[test]
fn the_total_of_an_asset_may_leave_128_bits() {
    let mut story = Story::new();
    story.run(
        "deposit d1 MAX -> alice
         open other @house/custody/1/other",
    );
    let totals = |story: &Story| story.books.totals()[&AssetId(1)];
    let (debit, credit) = totals(&story);
    assert_eq!((debit.amount(), credit.amount()), (Some(Amount::MAX), Some(Amount::MAX)));
    story.run("d2 indexer: move other -> bob 8  applied");
    let (debit, credit) = totals(&story);
    assert_eq!((debit.amount(), credit.amount()), (None, None));
    assert_eq!((debit.to_string(), credit.to_string()), ("1 * 2^128 + 7".to_owned(), "1 * 2^128 + 7".to_owned()));
}

#[test]
fn each_asset_has_its_own_totals() {
    let mut story = Story::new();
    story.run(
        "open vault2 @house/custody/2/vault
         open alice2 arena/funds/2/alice
         deposit d1 100 -> alice
         d2 indexer: move vault2 -> alice2 50  applied",
    );
    let side = |(asset, (debit, credit)): (AssetId, (Total, Total))| format!("{asset}: {debit} = {credit}");
    assert_eq!(story.books.totals().into_iter().map(side).collect::<Vec<_>>(), ["1: 100 = 100", "2: 50 = 50"]);
}

#[test]
fn a_wallet_pays_no_more_than_it_holds() {
    check(
        "open other @house/custody/1/other
         deposit d1 100 -> alice
         k1 user(alice): hold alice 60 by system  applied h1
         k2 system: post h1 -> other 60           custody_short
         k3 system: post h1 -> vault 60           applied
         // If the player has less as well, that is reported first.
         k4 system: move alice -> vault 41        insufficient_funds
         k5 system: move alice -> other 41        insufficient_funds",
        "vault 40, alice 40",
    );
}

/// The chain has paid and the books are behind: the same settlement is retried, under the same key.
#[test]
fn a_payout_waits_until_the_books_have_caught_up_with_the_wallet() {
    check(
        "open hot @house/custody/1/hot
         open transit @house/in_transit/1
         deposit d1 100 -> alice
         w1 user(alice): hold alice 60 by system                      applied h1
         w2 system: post h1 -> hot 60                                 custody_short
         w2 system: post h1 -> hot 60                                 custody_short
         s1 system: move transit -> vault 80, move hot -> transit 80  applied
         w2 system: post h1 -> hot 60                                 applied
         w2 system: post h1 -> hot 60                                 applied again",
        "vault 20, alice 40, hot 20",
    );
}

/// A debit account grows by what leaves it: gas and sweeps are booked from what they add to.
#[test]
fn sweeps_and_gas_keep_the_wallets_in_step_with_the_chain() {
    check(
        "open hot @house/custody/1/hot
         open transit @house/in_transit/1
         open gas @house/network_fees/1
         deposit d1 100 -> alice
         s1 system: move transit -> vault 90, move gas -> vault 1  applied
         s2 system: move hot -> transit 91                         custody_short
         s3 system: move hot -> transit 90                         applied",
        "vault 9, alice 100, hot 90, gas 1",
    );
}

#[test]
fn a_leg_in_json_has_its_amount_as_a_string() {
    let leg: Leg = serde_json::from_str(r#"{"move":{"from":1,"to":2,"amount":"60"}}"#).unwrap();
    assert_eq!(leg.amount(), Some(Amount::new(60)));
    let refused = [
        r#"{"move":{"from":1,"to":2,"amount":60}}"#,
        r#"{"move":{"from":1,"to":2}}"#,
        r#"{"move":{"from":1,"to":2,"amount":"60","memo":"x"}}"#,
    ];
    for refused in refused {
        assert!(serde_json::from_str::<Leg>(refused).is_err(), "{refused}");
    }
}
