//! The rolling minute.

#![allow(clippy::arithmetic_side_effects, reason = "small numbers of a test")]

use super::*;

const KEY: WindowKey = (Address([1; 20]), AssetId(1), SpendSide::Taken);
const LIMIT: Amount = Amount::new(100);

fn at(second: u64) -> Time {
    Time(second * SECOND)
}

#[test]
fn any_sixty_seconds_stay_within_the_limit() {
    let mut limits = SpendLimits::default();
    let mut spend = |units: u128, second: u64| limits.spend(KEY, LIMIT, Amount::new(units), at(second));
    assert_eq!(spend(60, 0), Ok(()));
    assert_eq!(spend(40, 30), Ok(()));
    let refused = spend(1, 59).expect_err("a hundred are spent");
    assert_eq!((refused.spent, refused.retry_at), (LIMIT, Some(at(61))));
    // The second in which the first was spent counts whole.
    assert!(spend(1, 60).is_err());
    assert_eq!(spend(60, 61), Ok(()));
    assert!(spend(1, 90).is_err());
    assert_eq!(spend(40, 91), Ok(()));
}

#[test]
fn keys_assets_and_sides_have_windows_of_their_own() {
    let mut limits = SpendLimits::default();
    let (address, coin, taken) = KEY;
    let others = [(address, AssetId(2), taken), (Address([2; 20]), coin, taken), (address, coin, SpendSide::Given)];
    for key in others.into_iter().chain([KEY]) {
        assert_eq!(limits.spend(key, LIMIT, LIMIT, at(0)), Ok(()));
        assert!(limits.spend(key, LIMIT, Amount::new(1), at(0)).is_err());
    }
}

#[test]
fn an_amount_above_the_limit_is_never_possible_and_counts_nothing() {
    let mut limits = SpendLimits::default();
    for amount in [Amount::new(101), Amount::new(u128::MAX)] {
        let refused = limits.spend(KEY, LIMIT, amount, at(0)).expect_err("above the limit");
        assert_eq!((refused.spent, refused.retry_at), (Amount::ZERO, None));
    }
    assert_eq!(limits.spend(KEY, LIMIT, LIMIT, at(0)), Ok(()));
}

#[test]
fn a_refused_call_gives_its_amount_back() {
    let mut limits = SpendLimits::default();
    limits.spend(KEY, LIMIT, LIMIT, at(0)).expect("within the limit");
    limits.give_back(KEY, LIMIT, at(0));
    assert_eq!(limits.spend(KEY, LIMIT, LIMIT, at(1)), Ok(()));
}

#[test]
fn a_clock_that_goes_back_frees_nothing() {
    let mut limits = SpendLimits::default();
    limits.spend(KEY, LIMIT, LIMIT, at(100)).expect("within the limit");
    assert!(limits.spend(KEY, LIMIT, Amount::new(1), at(10)).is_err());
}

#[test]
fn memory_is_bounded_by_the_seconds_of_a_minute() {
    let mut limits = SpendLimits::default();
    for second in 0..10_000 {
        limits.spend(KEY, LIMIT, Amount::new(1), at(second)).expect("61 at most");
    }
    assert_eq!(limits.windows[&KEY].seconds.len(), 61);
}
