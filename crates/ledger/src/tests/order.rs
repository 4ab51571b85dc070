//! The order of the checks: for a request that breaks two rules the earlier one is reported.

use super::story::{Story, check};
use crate::{Rejection, Request};

/// Each line breaks the reported rule and one that comes later.
#[test]
fn form_is_checked_before_everything_else() {
    check(
        "deposit d1 100 -> alice
         k\u{7}1 game_server:                                              key_malformed
         k1 game_server: make Spawns/s1 state=live                         fact_malformed
         k1 game_server:                                                   legs_out_of_range
         k1 game_server: move alice -> alice 1, move alice -> world 0      amount_zero
         k1 game_server: move alice -> alice 1, make Spawns/s1 state=live  accounts_must_differ
         k1@system game_server: move #98 -> #99 1, make Spawns/s1 a=b      fact_malformed",
        "vault 100, alice 100",
    );
}

#[test]
fn the_request_as_a_whole_is_checked_rule_by_rule() {
    check(
        "open alice2 arena/funds/2/alice
         open world2 arena/world/2
         deposit d1 100 -> alice
         k1 game_server: hold alice 20 until 500                                           applied h1
         k2 game_server: move alice -> world 30                                            applied
         k3 game_server: move alice -> world 10                                            applied
         r1 system: reverse k2                                                             applied

         k9@system admin(ann): move alice -> #99 1                                         key_not_allowed
         k9 admin(ann): move alice -> #99 1, need servers/arena spawns=open                not_confirmed
         k9 admin(ann): hold #99 1 by system without intent                                not_confirmed
         k9 game_server: hold #99 1 by system without intent                               hold_needs_intent
         k9 game_server: hold #99 1 by system without row                                  hold_needs_intent
         k9 game_server: hold #99 1 by system without row, make intents/wd-k8 state=new    hold_needs_intent
         k9 game_server: hold #99 1 by system without row, need intents/wd-k9 state=new    hold_needs_intent
         k2 game_server: move alice -> #99 1, need servers/arena spawns=open               key_reused
         k9 game_server: move alice -> #99 1, need servers/arena spawns=open               server_paused
         l0 game_server: post #99 -> #99 1                                                 account_not_found
         l1 game_server: release #99, move alice -> #99 1                                  account_not_found
         l2 game_server: move alice -> bob 1, release #99                                  hold_not_found
         m0 game_server: post h1 -> alice 1, release #99                                   hold_not_found
         m2 game_server: post h1 -> alice 1, move alice -> bob 1                           not_allowed
         l3 game_server: reverse #99                                                       transfer_not_found
         l4 game_server: reverse r1                                                        not_reversible
         l5 game_server: reverse k2                                                        already_reversed
         l6 game_server: reverse k3                                                        not_allowed
         l7 game_server: move alice2 -> world 1, move alice -> bob 1                       not_allowed
         at 500
         l8 game_server: release h1, move alice -> world2 1                                asset_mismatch
         l9 game_server: move alice -> world 999, release h1, turn spawns/s1 a=b into a=c  hold_expired
         m1 game_server: move alice -> world 999, turn spawns/s1 a=b into a=c              guard_failed",
        "vault 100, world 10, alice 90 held 20",
    );
}

/// From here on legs are executed one by one, so the earlier leg wins, whatever its rule.
#[test]
fn legs_are_executed_in_their_order() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 20                       applied h1
         k2 game_server: hold alice 10                       applied h2
         k3 game_server: release h2                          applied
         k4 game_server: move alice -> world 81, release h2  insufficient_funds
         k5 game_server: release h2, move alice -> world 81  hold_settled
         k6 game_server: post h1 -> world 21, release h2     hold_exceeded
         k7 game_server: release h2, post h1 -> world 21     hold_settled
         k8 game_server: release h1, move alice -> world 81  applied",
        "vault 100, world 81, alice 19",
    );
}

#[test]
fn a_settled_hold_is_settled_even_after_its_time() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 20 until 500  applied h1
         k2 game_server: release h1               applied
         at 500
         k3 game_server: release h1               hold_settled",
        "vault 100, alice 100",
    );
}

/// What `Request::check` rejects without the books is exactly what `decide` rejects first.
#[test]
fn the_check_of_the_form_and_the_decision_agree() {
    let mut story = Story::new();
    story.run("deposit d1 100 -> alice");
    let door = |request: &Request| request.check().err().map(Rejection::code);
    let lines = [
        ("k1 game_server: move alice -> world 1", None),
        ("k1 game_server: move alice -> #99 1", None),
        ("k1 game_server: move alice -> world 0", Some("amount_zero")),
        ("k1@tables game_server: move alice -> world 1", Some("key_not_allowed")),
        ("k1 admin(ann): move alice -> world 1", Some("not_confirmed")),
    ];
    for (line, expected) in lines {
        let request = story.read(line);
        assert_eq!(door(&request), expected, "{line}");
        if let Some(code) = expected {
            let verdict = crate::decide(&story.books, &request, story.next_seq(), story.now);
            assert_eq!(super::story::code(&verdict), code, "{line}");
        }
    }
}
