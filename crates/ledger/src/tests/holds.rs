//! Holds: made, posted in parts, released, expired.

use super::story::{Story, check};
use crate::{Amount, HoldId, HoldState, Role, Time};

#[test]
fn a_hold_is_posted_in_parts_until_nothing_is_left() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 60 until 500  applied h1
         k2 game_server: post h1 -> world 10      applied
         k3 game_server: post h1 -> world 20      applied
         k4 game_server: post h1 -> world 31      hold_exceeded
         k5 game_server: post h1 -> world 30      applied
         k6 game_server: post h1 -> world 1       hold_settled
         k7 game_server: release h1               hold_settled",
        "vault 100, world 60, alice 40",
    );
}

#[test]
fn what_is_left_after_a_post_stays_held() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 60 until 500  applied h1
         k2 game_server: post h1 -> world 10      applied",
        "vault 100, world 10, alice 90 held 50",
    );
}

#[test]
fn post_and_release_settle_a_hold_in_one_request() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 60 until 500          applied h1
         k2 game_server: release h1, post h1 -> world 10  hold_settled
         k3 game_server: post h1 -> world 60, release h1  hold_settled
         k4 game_server: post h1 -> world 10, release h1  applied",
        "vault 100, world 10, alice 90",
    );
}

#[test]
fn two_posts_in_one_request_share_what_is_left() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 60 until 500                   applied h1
         k2 game_server: post h1 -> world 40, post h1 -> world 21  hold_exceeded
         k3 game_server: post h1 -> world 40, post h1 -> world 20  applied",
        "vault 100, world 60, alice 40",
    );
}

#[test]
fn each_leg_sees_the_hold_as_the_one_before_left_it() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 60 until 500                                        applied h1
         k2 game_server: post h1 -> world 20, post h1 -> world 20, post h1 -> world 21  hold_exceeded
         k3 game_server: post h1 -> world 20, post h1 -> world 20, release h1           applied",
        "vault 100, world 40, alice 60",
    );
}

#[test]
fn held_money_can_be_neither_moved_nor_held_again() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 60 until 500  applied h1
         k2 game_server: move alice -> world 41   insufficient_funds
         k3 game_server: hold alice 41 until 500  insufficient_funds
         k4 user(alice): hold alice 41 by system  insufficient_funds
         k5 game_server: move alice -> world 40   applied",
        "vault 100, world 40, alice 60 held 60",
    );
}

/// Between its time and the record of its expiry no role can use a hold, and its money is not available yet either.
#[test]
fn a_hold_ends_at_its_time() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 60 until 500  applied h1
         at 499
         k2 game_server: post h1 -> world 10      applied
         at 500
         k3 game_server: post h1 -> world 10      hold_expired
         k4 game_server: release h1               hold_expired
         k5 game_server: move alice -> world 41   insufficient_funds
         expire h1
         k6 game_server: post h1 -> world 10      hold_expired
         k7 game_server: release h1               hold_expired
         k8 game_server: move alice -> world 41   applied",
        "vault 100, world 51, alice 49",
    );
}

#[test]
fn a_hold_cannot_be_made_for_a_time_that_is_over() {
    check(
        "deposit d1 100 -> alice
         at 500
         k1 game_server: hold alice 60 until 499  hold_expired
         k2 game_server: hold alice 60 until 500  hold_expired
         k3 game_server: hold alice 60 until 501  applied h1",
        "vault 100, alice 100 held 60",
    );
}

#[test]
fn a_hold_without_a_time_never_ends_by_itself() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 60        applied h1
         at 18446744073709551615
         k2 game_server: post h1 -> world 60  applied",
        "vault 100, world 60, alice 40",
    );
}

#[test]
fn a_time_that_no_store_can_keep_means_never() {
    let mut story = Story::new();
    story.run(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 1 until 9223372036854775807, hold alice 1 until 9223372036854775808  applied h1 h2",
    );
    let expires = |hold: &str| story.books.hold(story.hold(hold)).unwrap().expires;
    assert_eq!(expires("h1"), Some(Time(9_223_372_036_854_775_807)));
    assert_eq!(expires("h2"), None);
}

/// A payout must not be released while its transaction may still pay.
#[test]
fn only_the_system_settles_what_was_held_for_it() {
    check(
        "deposit d1 100 -> alice
         k1 user(alice): hold alice 60 by system  applied h1
         k2 user(alice): release h1               not_allowed
         k3 game_server: release h1               not_allowed
         k4 game_server: post h1 -> world 60      not_allowed
         k5 admin(ann+ben): release h1            not_allowed
         k6 system: post h1 -> vault 50           applied
         k7 system: release h1                    applied",
        "vault 50, alice 50",
    );
}

/// A player cannot release what a game has reserved, nor a game what the player holds.
#[test]
fn a_reservation_is_settled_by_the_role_that_made_it() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 40           applied h1
         u1 user(alice): hold alice 30           applied h2
         a1 admin(ann+ben): hold alice 10        applied h3
         u2 user(alice): release h1              not_allowed
         u3 user(alice): release h3              not_allowed
         k2 game_server: release h2              not_allowed
         k3 game_server: post h2 -> world 30     not_allowed
         k4 game_server: post h3 -> world 10     not_allowed
         a2 admin(ann+ben): release h1           not_allowed
         a3 admin(ann+ben): post h2 -> house 30  not_allowed
         k5 game_server: post h1 -> world 40     applied
         u4 user(alice): release h2              applied
         a4 admin(eve+ann): post h3 -> house 10  applied",
        "vault 100, house 10, world 40, alice 50",
    );
}

#[test]
fn the_system_settles_every_hold() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 40                           applied h1
         u1 user(alice): hold alice 30                           applied h2
         a1 admin(ann+ben): hold alice 10                        applied h3
         s1 system: post h1 -> vault 40, release h2, release h3  applied",
        "vault 60, alice 60",
    );
}

#[test]
fn a_hold_says_who_settles_it() {
    let mut story = Story::new();
    story.run(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 1, hold alice 1 by system     applied h1 h2
         u1 user(alice): hold alice 1, hold alice 1 by system     applied h3 h4
         a1 admin(ann+ben): hold alice 1, hold alice 1 by system  applied h5 h6
         s1 system: hold alice 1                                  applied h7
         k2 game_server: hold alice 9                             applied h8
         k3 game_server: post h8 -> world 1                       applied",
    );
    let settler = |hold: &str| story.books.hold(story.hold(hold)).unwrap().settler;
    let made_it = [Role::GameServer, Role::User, Role::Admin, Role::System, Role::GameServer];
    assert_eq!(["h1", "h3", "h5", "h7", "h8"].map(settler), made_it);
    assert_eq!(["h2", "h4", "h6"].map(settler), [Role::System; 3]);
}

#[test]
fn a_post_goes_only_where_the_money_could_be_moved() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 60        applied h1
         k2 game_server: post h1 -> bob 60    not_allowed
         k3 game_server: post h1 -> vault 60  not_allowed
         k4 user(alice): post h1 -> vault 60  not_allowed
         k5 user(bob): release h1             not_allowed
         k6 game_server(rival): release h1    not_allowed",
        "vault 100, alice 100 held 60",
    );
}

#[test]
fn no_role_holds_on_the_debit_side() {
    check(
        "open alice.debt arena/debt/1/alice
         open transit @house/in_transit/1
         open gas @house/network_fees/1
         deposit d1 100 -> alice
         k1 system: hold vault 1          not_allowed
         k2 system: hold transit 1        not_allowed
         k3 system: hold gas 1            not_allowed
         k4 system: hold alice.debt 1     not_allowed
         k5 indexer: hold vault 1         not_allowed
         k6 admin(ann+ben): hold vault 1  not_allowed
         k7 game_server: hold vault 1     not_allowed",
        "vault 100, alice 100",
    );
}

/// The player leaves the world and the payout is reserved, or nothing happens at all.
#[test]
fn an_exit_is_a_move_and_a_hold_in_one_request() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: move alice -> world 100                            applied
         x1 game_server: move world -> alice 150, hold alice 150 by system  insufficient_funds
         x2 game_server: move world -> alice 70, hold alice 71 by system    insufficient_funds
         x3 game_server: move world -> alice 70, hold alice 70 by system    applied h1
         w1 game_server: release h1                                         not_allowed
         w2 system: post h1 -> vault 70                                     applied",
        "vault 30, world 30",
    );
}

#[test]
fn holds_of_one_account_are_independent() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 10, hold alice 20 until 500, hold alice 30  applied h1 h2 h3
         k2 game_server: release h1, post h3 -> world 5                         applied
         at 500
         expire h2",
        "vault 100, world 5, alice 95 held 25",
    );
}

#[test]
fn a_request_cannot_use_a_hold_that_it_makes_itself() {
    let mut story = Story::new();
    story.run("deposit d1 100 -> alice");
    let own = HoldId::of(story.next_seq(), 0);
    let line = format!("k1 game_server: hold alice 60, post #{own} -> world 60");
    let request = story.read(&line);
    assert_eq!(story.ask(request), "hold_not_found");
    assert_eq!(story.standings(), "vault 100, alice 100");
}

#[test]
fn sixteen_holds_have_sixteen_numbers() {
    let mut story = Story::new();
    let names: Vec<String> = (0..16).map(|leg| format!("h{leg}")).collect();
    let legs = vec!["hold alice 1"; 16].join(", ");
    story.run("deposit d1 16 -> alice");
    let seq = story.next_seq();
    story.run(&format!("k1 game_server: {legs}  applied {}", names.join(" ")));
    let ids: Vec<HoldId> = names.iter().map(|name| story.hold(name)).collect();
    assert_eq!(ids, (0..16).map(|leg| HoldId(seq.0 * 16 + leg)).collect::<Vec<_>>());
    assert_eq!(story.standings(), "vault 16, alice 16 held 16");
}

#[test]
fn only_an_open_hold_can_expire() {
    let mut story = Story::new();
    story.run(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 60 until 500  applied h1
         k2 game_server: hold alice 10 until 500  applied h2
         k3 game_server: release h2               applied
         at 500
         expire h1",
    );
    let expired = story.books.hold(story.hold("h1")).unwrap();
    assert_eq!((expired.state, expired.remaining), (HoldState::Expired, Amount::ZERO));
    assert_eq!(story.books.expire(story.hold("h1")), None);
    assert_eq!(story.books.expire(story.hold("h2")), None);
    assert_eq!(story.books.expire(HoldId(99)), None);
}
