//! Fee-on-top: the player pays the buy-in and the fees, and every wei goes somewhere.

use bankroll_ledger::Amount;

use crate::buy_in::{BuyIn, Split};

fn buy_in(amount: u128, developer_bps: u32, world_bps: u32) -> BuyIn {
    BuyIn { amount: Amount::new(amount), developer_bps, world_bps }
}

/// `funds + developer + ecosystem, unallocated`, in base units.
fn show(split: Split) -> String {
    let Split { funds, developer, ecosystem, unallocated } = split;
    format!("{funds} + {developer} + {ecosystem}, {unallocated}")
}

/// The example of the seed: 0.001 ETH, 2.5 % for the developer, 1 % for the world.
const SEED: BuyIn = BuyIn { amount: Amount::new(1_000_000_000_000_000), developer_bps: 250, world_bps: 100 };

#[test]
fn the_seeds_example() {
    assert_eq!(SEED.required(), Some(Amount::new(1_035_000_000_000_000)));
    let exact = SEED.split(Amount::new(1_035_000_000_000_000));
    assert_eq!(show(exact), "1000000000000000 + 25000000000000 + 10000000000000, 0");
}

#[test]
fn one_wei_too_little_is_no_buy_in() {
    let split = SEED.split(Amount::new(1_034_999_999_999_999));
    assert_eq!(show(split), "0 + 0 + 0, 1034999999999999");
    assert_eq!(show(SEED.split(Amount::ZERO)), "0 + 0 + 0, 0");
}

#[test]
fn the_excess_is_unallocated_and_one_deposit_is_one_buy_in() {
    let one_more = SEED.split(Amount::new(1_035_000_000_000_001));
    assert_eq!(show(one_more), "1000000000000000 + 25000000000000 + 10000000000000, 1");
    let three_times = SEED.split(Amount::new(3_105_000_000_000_000));
    assert_eq!(show(three_times), "1000000000000000 + 25000000000000 + 10000000000000, 2070000000000000");
}

#[test]
fn fees_are_rounded_down_each_for_itself() {
    assert_eq!(show(buy_in(39, 250, 100).split(Amount::new(39))), "39 + 0 + 0, 0");
    assert_eq!(show(buy_in(40, 250, 100).split(Amount::new(41))), "40 + 1 + 0, 0");
    assert_eq!(show(buy_in(199, 250, 100).split(Amount::new(204))), "199 + 4 + 1, 0");
    // 2 * 0.5 would be 1 if they were added before rounding.
    assert_eq!(show(buy_in(1, 5_000, 5_000).split(Amount::new(1))), "1 + 0 + 0, 0");
}

#[test]
fn without_fees_the_buy_in_is_all() {
    assert_eq!(show(buy_in(100, 0, 0).split(Amount::new(150))), "100 + 0 + 0, 50");
}

#[test]
fn fees_may_be_larger_than_the_buy_in() {
    assert_eq!(show(buy_in(100, 20_000, 10_000).split(Amount::new(400))), "100 + 200 + 100, 0");
}

#[test]
fn a_buy_in_of_nothing_is_never_allocated() {
    let free = buy_in(0, 250, 100);
    assert_eq!(free.required(), Some(Amount::ZERO));
    assert_eq!(show(free.split(Amount::new(5))), "0 + 0 + 0, 5");
    assert_eq!(free.allocate(Amount::new(5)), None);
    assert!(!free.is_completed_by(Amount::new(1), Amount::new(5)));
}

#[test]
fn a_buy_in_beyond_128_bits_cannot_be_paid() {
    for endless in [buy_in(u128::MAX, 1, 0), buy_in(u128::MAX, 0, 1), buy_in(u128::MAX / 2 + 1, 10_000, 0)] {
        assert_eq!(endless.required(), None);
        assert_eq!(endless.split(Amount::MAX), Split { unallocated: Amount::MAX, ..Split::default() });
        assert_eq!(endless.allocate(Amount::MAX), None);
        assert!(!endless.is_completed_by(Amount::MAX, Amount::MAX));
    }
    let just_fits = buy_in(u128::MAX, 0, 0);
    assert_eq!(just_fits.split(Amount::MAX), Split { funds: Amount::MAX, ..Split::default() });
}

#[test]
fn small_deposits_add_up_to_a_buy_in() {
    let units = |units: u128| Amount::new(units);
    let asks = buy_in(1_000, 250, 100);
    assert_eq!(asks.required(), Some(units(1_035)));
    assert!(!asks.is_completed_by(units(500), units(0)));
    assert!(!asks.is_completed_by(units(34), units(1_000)));
    assert!(asks.is_completed_by(units(35), units(1_000)));
    assert!(asks.is_completed_by(units(1_034), units(1)));
    // Large enough by itself: `split` makes the buy-in, nothing has to be completed.
    assert!(!asks.is_completed_by(units(1_035), units(0)));
    assert!(!asks.is_completed_by(units(1_035), units(1_000)));
    let largest = buy_in(u128::MAX, 0, 0);
    let almost = units(u128::MAX - 1);
    assert!(largest.is_completed_by(units(1), almost));
    assert!(!largest.is_completed_by(almost, almost), "a sum beyond 128 bits cannot be credited");
}

/// A buy-in that lies unallocated waits for a spawn or for the player to ask; the next small deposit does not take it.
#[test]
fn what_was_enough_before_the_deposit_is_not_completed_by_it() {
    let units = |units: u128| Amount::new(units);
    let asks = buy_in(1_000, 250, 100);
    assert!(asks.is_completed_by(units(1), units(1_034)));
    assert!(!asks.is_completed_by(units(1), units(1_035)));
    assert!(!asks.is_completed_by(units(1_034), units(2_000)));
    assert!(!asks.is_completed_by(units(0), units(1_035)));
    assert_eq!(asks.allocate(units(1_035)).map(show).as_deref(), Some("1000 + 25 + 10, 0"), "the player requests it");
}

#[test]
fn unallocated_money_is_allocated_one_buy_in_at_a_time() {
    let asks = buy_in(1_000, 250, 100);
    assert_eq!(asks.allocate(Amount::new(1_034)), None);
    assert_eq!(asks.allocate(Amount::new(1_035)).map(show).as_deref(), Some("1000 + 25 + 10, 0"));
    assert_eq!(asks.allocate(Amount::new(2_100)).map(show).as_deref(), Some("1000 + 25 + 10, 1065"));
}

/// The next number of a fixed sequence (SplitMix64), so that a failure can be repeated.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// An amount of one to 128 bits, each size as likely as the others.
fn next_amount(state: &mut u64) -> u128 {
    let (high, low, size) = (next(state), next(state), next(state) % 128);
    ((u128::from(high) << 64) | u128::from(low)) >> size
}

#[test]
fn no_split_makes_or_loses_a_wei() {
    let (mut state, mut bought, mut not) = (1, 0, 0);
    for _ in 0..100_000 {
        let (price, deposit) = (next_amount(&mut state), Amount::new(next_amount(&mut state)));
        let (developer_bps, world_bps) = (next(&mut state) % 10_001, next(&mut state) % 10_001);
        let asks = buy_in(price, developer_bps as u32, world_bps as u32);
        let split = asks.split(deposit);
        assert_eq!(split.total(), Some(deposit), "{asks:?} {deposit}");
        if split.unallocated == deposit {
            not += 1;
            assert!(asks.required().is_none_or(|required| deposit < required || required.is_zero()));
        } else {
            bought += 1;
            assert_eq!(split.funds, asks.amount);
        }
    }
    assert!(bought > 10_000 && not > 10_000, "both were seen often: {bought} and {not}");
}
