//! Decisions of the flow, with nothing but values.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

use bankroll_ledger::{Amount, Guard, Time};

use crate::{Mass, SpawnError, SpawnId, SpawnStatus, SpawnTerms, exit_fact};

const TERMS: SpawnTerms = SpawnTerms {
    price: Amount::new(5_000_000_000_000_000),
    developer_fee: Amount::new(3),
    world_fee: Amount::new(4),
    mass_per_coin: 100,
    decimals: 18,
    accepts: true,
    allocates: true,
    version: 1,
};

#[test]
fn mass_is_exact() {
    let mass = |price: u128, mass_per_coin| {
        SpawnTerms { price: Amount::new(price), mass_per_coin, ..TERMS }.mass().map(|mass| mass.to_string())
    };
    assert_eq!(mass(5_000_000_000_000_000, 100).unwrap(), "0.5");
    assert_eq!(mass(5_000_000_000_000_000_000, 100).unwrap(), "500");
    assert_eq!(mass(1, 1).unwrap(), "0.000000000000000001");
    assert_eq!(mass(3, 0).unwrap(), "0");
    assert!(matches!(mass(u128::MAX, 2), Err(SpawnError::TooLarge)));
    assert_eq!(Mass { units: 12, decimals: 0 }.to_string(), "12");
    assert_eq!(TERMS.required(), Some(Amount::new(5_000_000_000_000_007)));
    assert_eq!(SpawnTerms { price: Amount::MAX, ..TERMS }.required(), None);
}

#[test]
fn a_reservation_is_expired_from_its_time_on_and_nothing_else_is() {
    let at = |status: SpawnStatus, now| status.at(Time(now), Time(60));
    assert_eq!(
        (at(SpawnStatus::Reserved, 59), at(SpawnStatus::Reserved, 60)),
        (SpawnStatus::Reserved, SpawnStatus::Expired)
    );
    for status in SpawnStatus::ALL.into_iter().filter(|status| *status != SpawnStatus::Reserved) {
        assert_eq!(at(status, 1_000), status);
    }
    let words = SpawnStatus::ALL.map(SpawnStatus::as_str);
    assert_eq!(words, ["reserved", "committed", "released", "refunded", "expired", "exited"]);
    assert_eq!(words.map(SpawnStatus::from_row), SpawnStatus::ALL.map(Some));
    assert_eq!(SpawnStatus::from_row("gone"), None);
}

#[test]
fn an_id_belongs_to_a_server_and_its_key() {
    let id = |server: &str, key: &str| SpawnId::new(&server.parse().unwrap(), key);
    assert_eq!(id("arena", "k1"), id("arena", "k1"));
    assert_ne!(id("ab", "c"), id("a", "bc"));
    let text = id("arena", "k1").to_string();
    assert_eq!((text.len(), SpawnId::parse(&text)), (36, Some(id("arena", "k1"))));
    for bad in ["", "spn_", "spn_0", "wd-00000000000000000000000000000000", &text.to_uppercase()] {
        assert_eq!(SpawnId::parse(bad), None, "{bad}");
    }
}

/// One player's spawn must not be ended by the exit of another.
#[test]
fn an_exit_ends_only_a_live_spawn_of_its_own_player() {
    let (arena, alice) = ("arena".parse().unwrap(), "alice".parse().unwrap());
    let fact = exit_fact(&SpawnId::new(&arena, "k1"), &arena, &alice);
    let Guard::Is(is) = &fact.guard else { panic!("{fact:?}") };
    let names: Vec<&str> = is.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["status", "server", "wallet"]);
}
