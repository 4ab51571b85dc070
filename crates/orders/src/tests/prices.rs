//! A price outbids another if both fields rise by an eighth, rounded up, and by at least one unit.

use crate::{Gas, Price};

fn check(before: (u128, u128), after: (u128, u128), outbids: bool) {
    let price = |(max, priority)| Price::Dynamic { max, priority };
    assert_eq!(price(after).outbids(price(before)), outbids, "{before:?} -> {after:?}");
}

#[test]
fn both_fields_are_raised_by_an_eighth() {
    check((800, 80), (900, 90), true);
    check((800, 80), (899, 90), false);
    check((800, 80), (900, 89), false);
    check((800, 80), (2_000, 80), false);
    check((801, 80), (901, 90), false);
    check((801, 80), (902, 90), true);
}

#[test]
fn zero_is_raised_by_at_least_one_unit() {
    check((0, 0), (0, 0), false);
    check((8, 0), (9, 0), false);
    check((8, 0), (9, 1), true);
    check((1, 1), (2, 2), true);
}

#[test]
fn a_price_at_the_maximum_cannot_be_outbid() {
    check((u128::MAX, 8), (u128::MAX, 9), false);
}

#[test]
fn a_price_of_the_other_kind_does_not_outbid() {
    let (legacy, dynamic) = (Price::Legacy { price: 100 }, Price::Dynamic { max: 100, priority: 100 });
    assert!(Price::Legacy { price: 113 }.outbids(legacy));
    assert!(!Price::Legacy { price: 112 }.outbids(legacy));
    assert!(!Price::Legacy { price: 1_000 }.outbids(dynamic));
    assert!(!Price::Dynamic { max: 1_000, priority: 1_000 }.outbids(legacy));
}

#[test]
fn a_cost_that_leaves_128_bits_is_none() {
    let gas = |limit, max| Gas { limit, price: Price::Dynamic { max, priority: 0 } };
    assert_eq!(gas(21_000, 40).cost().unwrap().units(), 840_000);
    assert_eq!(gas(2, u128::MAX).cost(), None);
}
