//! Reach: the own server, the own wallet, and policies that only narrow.

use super::story::{Story, check, principal};
use crate::{AccountKind, AccountName, AccountPolicy, OpenRejection, Role, Roles};

#[test]
fn a_game_server_moves_only_what_is_its_own() {
    check(
        "open rival.world rival/world/1
         open rival.alice rival/funds/1/alice
         deposit d1 100 -> alice
         deposit d2 100 -> rival.alice
         k1 game_server: move alice -> rival.world 1                 not_allowed
         k2 game_server: move rival.alice -> rival.world 1           not_allowed
         k3 game_server: hold rival.alice 1                          not_allowed
         k4 game_server(rival): move alice -> world 1                not_allowed
         k5 game_server(rival): move rival.alice -> rival.world 100  applied",
        "vault 200, alice 100, rival.world 100",
    );
}

#[test]
fn money_never_crosses_from_one_servers_books_to_anothers() {
    check(
        "open rival.world rival/world/1
         open rival.alice rival/funds/1/alice
         open rival.vault rival/custody/1/deposits
         deposit d1 100 -> alice
         k1 admin(ann+ben): move alice -> rival.alice 1   not_allowed
         k2 admin(ann+ben): move alice -> rival.world 1   not_allowed
         d2 indexer: move rival.vault -> alice 1          not_allowed
         d3 indexer: move rival.vault -> rival.alice 5    applied
         k3 admin(ann+ben): move alice -> house 10        applied
         k4 admin(ann+ben): move house -> rival.alice 10  applied",
        "vault 100, alice 90, rival.alice 15, rival.vault 5",
    );
}

/// Allocation stays within one player's accounts; only two operators together can pay one player from another's.
#[test]
fn money_never_moves_directly_from_one_player_to_another() {
    check(
        "open alice.more arena/unallocated/1/alice
         open bob.more arena/unallocated/1/bob
         open bob.early arena/play_only/1/bob
         deposit d1 100 -> alice.more
         d2 indexer: move alice.more -> bob 10                                    not_allowed
         d3 indexer: move alice.more -> bob.more 10                               not_allowed
         d4 indexer: move alice.more -> alice 10, move alice.more -> bob 10       not_allowed
         d5 indexer: move alice.more -> alice 10, move alice.more -> developer 5  applied
         s1 system: move alice.more -> bob 10                                     not_allowed
         s2 system: move alice.more -> alice 10                                   applied
         s3 system: hold alice.more 10                                            applied h1
         s4 system: post h1 -> bob 10                                             not_allowed
         s5 system: post h1 -> alice 10                                           applied
         a1 admin(ann): move alice.more -> bob 10                                 not_confirmed
         a1 admin(ann+ben): move alice.more -> bob 10                             applied
         a2 admin(ann+ben): move alice -> bob.early 5, move bob -> bob.more 1     applied",
        "vault 100, developer 5, alice 25, bob 9, alice.more 55, bob.more 1, bob.early 5",
    );
}

#[test]
fn a_player_holds_only_their_own_money() {
    check(
        "open alice.more arena/unallocated/1/alice
         open alice.seat arena/table/1/alice
         open rival.alice rival/funds/1/alice
         deposit d1 100 -> alice
         deposit d2 100 -> bob
         deposit d3 100 -> alice.more
         deposit d4 100 -> rival.alice
         t1 tables: move alice -> alice.seat 10          applied
         k1 user(alice): hold bob 1 by system            not_allowed
         k2 user(alice): hold alice.seat 1               not_allowed
         k3 user(alice): move alice -> world 1           not_allowed
         k4 user(alice): hold world 1                    not_allowed
         k5 user(alice): hold alice 90 by system         applied h1
         k6 user(alice): hold alice.more 100 by system   applied h2
         k7 user(alice): hold rival.alice 100 by system  applied h3",
        "vault 400, alice 90 held 90, bob 100, alice.more 100 held 100, alice.seat 10, rival.alice 100 held 100",
    );
}

#[test]
fn a_developer_holds_only_their_own_fees() {
    check(
        "open rival.developer rival/developer/1
         deposit d1 25 -> developer
         deposit d2 5 -> rival.developer
         deposit d3 10 -> ecosystem
         k1 developer: hold rival.developer 5 by system  not_allowed
         k2 developer: hold ecosystem 10 by system       not_allowed
         k3 developer: move developer -> ecosystem 1     not_allowed
         k4 developer: hold developer 25 by system       applied h1
         k5 developer: release h1                        not_allowed
         k6 system: post h1 -> vault 25                  applied",
        "vault 15, ecosystem 10, rival.developer 5",
    );
}

#[test]
fn no_caller_mints() {
    check(
        "open alice.debt arena/debt/1/alice
         k1 game_server: move vault -> alice 1          not_allowed
         k2 admin(ann+ben): move vault -> alice 1       not_allowed
         k3 tables: move vault -> alice 1               not_allowed
         k4 user(alice): move vault -> alice 1          not_allowed
         k5 developer: move vault -> developer 1        not_allowed
         k6 system: move vault -> alice 1               not_allowed
         k7 admin(ann+ben): move alice.debt -> alice 1  not_allowed
         k8 system: move alice.debt -> alice 1          not_allowed
         k9 indexer: move alice.debt -> alice 1         not_allowed",
        "",
    );
}

#[test]
fn chips_are_moved_by_the_tables_alone() {
    check(
        "open seat1 arena/table/1/game-7.seat-1
         open seat2 arena/table/1/game-7.seat-2
         deposit d1 100 -> alice
         deposit d2 100 -> bob
         t1 tables: move alice -> seat1 100, move bob -> seat2 100     applied
         t2 tables: move seat1 -> seat2 95, move seat1 -> developer 5  applied
         k1 game_server: move seat2 -> bob 1                           not_allowed
         k2 admin(ann+ben): move seat2 -> bob 1                        not_allowed
         k3 system: move seat2 -> bob 1                                not_allowed
         k4 user(bob): hold seat2 1                                    not_allowed
         t3 tables: move seat2 -> bob 195                              applied
         t4 tables: move bob -> world 1                                not_allowed",
        "vault 200, developer 5, bob 195",
    );
}

#[test]
fn an_override_needs_the_confirmation_of_another_operator() {
    check(
        "deposit d1 100 -> alice
         k1 admin(ann): move alice -> bob 10      not_confirmed
         k1 admin(ann+ann): move alice -> bob 10  not_confirmed
         k1 admin(ann+ben): move alice -> bob 10  applied
         k1 admin(ann+ben): move alice -> bob 10  applied again
         // Who agreed is part of the request.
         k1 admin(ann+eve): move alice -> bob 10  key_reused
         // What moves no money needs no second person.
         k2 admin(ann): make servers/arena a=b    applied",
        "vault 100, alice 90, bob 10",
    );
}

#[test]
fn house_kinds_are_opened_by_the_system_alone() {
    let open = |who: &str, name: &str| {
        let name: AccountName = name.parse().unwrap();
        name.check_open(&principal(who).0, &AccountPolicy::of(name.kind))
    };
    let house =
        ["@house/suspense/1", "@house/house/1", "@house/custody/1/w", "@house/in_transit/1", "@house/network_fees/1"];
    for name in house.into_iter().chain(["arena/custody/1/w", "arena/clearing/1", "arena/world/1"]) {
        assert_eq!(open("system", name), Ok(()));
        for who in ["indexer", "admin(ann+ben)", "developer", "game_server", "user(w)", "tables"] {
            assert_eq!(open(who, name), Err(OpenRejection::NotAllowed), "{who} {name}");
        }
    }
    assert_eq!(open("game_server", "arena/funds/1/alice"), Ok(()));
    assert_eq!(open("game_server(rival)", "arena/funds/1/alice"), Err(OpenRejection::NotAllowed));
}

#[test]
fn opening_checks_the_owner_then_the_right_then_the_policy() {
    let wide = AccountPolicy { transfer: Roles::those(|_| true), ..AccountPolicy::of(AccountKind::World) };
    let name: AccountName = "arena/world/1".parse().unwrap();
    let unowned = AccountName { owner: Some("alice".parse().unwrap()), ..name.clone() };
    let open = |name: &AccountName, who: &str, policy| name.check_open(&principal(who).0, &policy);
    assert_eq!(open(&unowned, "game_server", wide), Err(OpenRejection::Owner));
    assert_eq!(open(&name, "game_server", wide), Err(OpenRejection::NotAllowed));
    assert_eq!(open(&name, "system", wide), Err(OpenRejection::PolicyTooWide));
    assert_eq!(open(&name, "system", AccountPolicy::of(AccountKind::World)), Ok(()));
}

#[test]
fn a_policy_may_be_narrower_than_the_kind_and_never_wider() {
    for kind in AccountKind::ALL {
        let (widest, no_roles) = (AccountPolicy::of(kind), Roles::default());
        assert!(
            AccountPolicy { deposit: no_roles, withdraw: no_roles, transfer: no_roles }.is_within(&widest)
                && widest.is_within(&widest)
        );
        for role in Role::ALL {
            let with = |roles: Roles| Roles::those(|other| other == role || roles.has(other));
            let wider = [
                (widest.deposit.has(role), AccountPolicy { deposit: with(widest.deposit), ..widest }),
                (widest.withdraw.has(role), AccountPolicy { withdraw: with(widest.withdraw), ..widest }),
                (widest.transfer.has(role), AccountPolicy { transfer: with(widest.transfer), ..widest }),
            ];
            for (had_it, policy) in wider {
                assert_eq!(policy.is_within(&widest), had_it, "{kind} {role:?}");
            }
        }
        // A bit that is no role does not bypass the rule either.
        assert!(!AccountPolicy { deposit: Roles::from_bits(0x80), ..widest }.is_within(&widest));
    }
}

/// Carol's account accepts nothing from game servers, sends nothing to them, and only she may hold in it.
#[test]
fn a_narrow_policy_closes_routes_that_the_kind_has() {
    let mut story = Story::new();
    let without = |roles: Roles| Roles::those(|role| roles.has(role) && role != Role::GameServer);
    let AccountPolicy { deposit, transfer, .. } = AccountPolicy::of(AccountKind::Funds);
    let withdraw = Roles::those(|role| role == Role::User);
    let policy = AccountPolicy { deposit: without(deposit), withdraw, transfer: without(transfer) };
    story.open_with("carol", "arena/funds/1/carol", policy);
    story.run(
        "deposit d1 100 -> carol
         deposit d2 100 -> alice
         k1 game_server: move carol -> world 1   not_allowed
         k2 game_server: move alice -> world 10  applied
         k3 game_server: move world -> carol 10  not_allowed
         k4 game_server: hold carol 1            not_allowed
         k5 system: hold carol 1                 not_allowed
         k6 user(carol): hold carol 40           applied h1
         k7 system: post h1 -> vault 40          not_allowed
         k8 user(carol): release h1              applied
         k9 system: move carol -> vault 40       applied",
    );
    assert_eq!(story.standings(), "vault 160, world 10, alice 90, carol 60");
}

#[test]
fn roles_survive_their_byte() {
    let some = Roles::those(|role| matches!(role, Role::Indexer | Role::System));
    assert_eq!(some.bits(), 0b100_0001);
    assert_eq!(Roles::from_bits(some.bits()), some);
    assert!(Role::ALL.into_iter().all(|role| Roles::from_bits(0x7f).has(role)));
    assert!(!Role::ALL.into_iter().any(|role| Roles::default().has(role)));
}
