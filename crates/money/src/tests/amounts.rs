//! Amounts: legal and illegal texts, and exact arithmetic.

use crate::{Amount, AmountError, Total};

const MAX: &str = "340282366920938463463374607431768211455";

#[track_caller]
fn refused(text: &str, code: &str) {
    assert_eq!(text.parse::<Amount>().map_err(AmountError::code), Err(code), "{text:?}");
}

#[test]
fn whole_decimal_numbers_up_to_128_bits_are_amounts() {
    assert_eq!("0".parse(), Ok(Amount::ZERO));
    assert_eq!("7".parse(), Ok(Amount::new(7)));
    assert_eq!("1035000000000000".parse(), Ok(Amount::new(1_035_000_000_000_000)));
    assert_eq!(MAX.parse(), Ok(Amount::MAX));
    assert_eq!(Amount::MAX.to_string(), MAX);
}

#[test]
fn every_other_text_is_malformed() {
    refused("", "amount_malformed");
    refused("-1", "amount_malformed");
    refused("-0", "amount_malformed");
    refused("+5", "amount_malformed");
    refused("05", "amount_malformed");
    refused("00", "amount_malformed");
    refused(" 5", "amount_malformed");
    refused("5 ", "amount_malformed");
    refused("5\n", "amount_malformed");
    refused("5\0", "amount_malformed");
    refused("1 000", "amount_malformed");
    refused("1_000", "amount_malformed");
    refused("1,000", "amount_malformed");
    refused("5.0", "amount_malformed");
    refused("5.", "amount_malformed");
    refused("5e3", "amount_malformed");
    refused("0x5", "amount_malformed");
    refused("five", "amount_malformed");
    refused("NaN", "amount_malformed");
    // Digits, but not ASCII: Arabic-Indic three, full-width five, superscript two.
    refused("\u{663}", "amount_malformed");
    refused("\u{ff15}", "amount_malformed");
    refused("\u{b2}", "amount_malformed");
}

#[test]
fn a_number_above_128_bits_is_too_large_not_malformed() {
    refused("340282366920938463463374607431768211456", "amount_too_large");
    refused("1000000000000000000000000000000000000000", "amount_too_large");
    refused(&"9".repeat(1000), "amount_too_large");
    refused(&format!("0{MAX}"), "amount_malformed");
}

#[test]
fn sums_and_differences_end_where_128_bits_end() {
    let (one, two) = (Amount::new(1), Amount::new(2));
    assert_eq!(one.checked_add(two), Some(Amount::new(3)));
    assert_eq!(Amount::MAX.checked_add(Amount::ZERO), Some(Amount::MAX));
    assert_eq!(Amount::MAX.checked_add(one), None);
    assert_eq!(two.checked_sub(two), Some(Amount::ZERO));
    assert_eq!(one.checked_sub(two), None);
}

#[test]
fn a_total_continues_above_128_bits() {
    let total = |amounts: &[Amount]| {
        let mut total = Total::default();
        amounts.iter().for_each(|amount| total.add(*amount));
        total
    };
    let show = |amounts: &[Amount]| (total(amounts).to_string(), total(amounts).amount());
    let (one, max) = (Amount::new(1), Amount::MAX);
    assert_eq!(show(&[]), ("0".to_owned(), Some(Amount::ZERO)));
    assert_eq!(show(&[one, Amount::new(69)]), ("70".to_owned(), Some(Amount::new(70))));
    assert_eq!(show(&[max]), (MAX.to_owned(), Some(max)));
    assert_eq!(show(&[max, one]), ("1 * 2^128 + 0".to_owned(), None));
    assert_eq!(show(&[max, one, one]), ("1 * 2^128 + 1".to_owned(), None));
    assert_eq!(show(&[max, max]), ("1 * 2^128 + 340282366920938463463374607431768211454".to_owned(), None));
    assert_eq!(show(&[max; 4]), ("3 * 2^128 + 340282366920938463463374607431768211452".to_owned(), None));
}

/// Two sides of the books are equal or not, whatever the order in which their accounts were added.
#[test]
fn totals_compare_as_the_sums_do() {
    let total = |amounts: [u128; 3]| {
        let mut total = Total::default();
        amounts.iter().for_each(|units| total.add(Amount::new(*units)));
        total
    };
    assert_eq!(total([u128::MAX, 5, 7]), total([7, u128::MAX, 5]));
    assert_ne!(total([u128::MAX, 1, 0]), total([0, 0, 0]), "2^128 is not nothing");
    assert!(total([u128::MAX, 1, 0]) > total([u128::MAX, 0, 0]));
}

#[test]
fn json_carries_strings_and_refuses_numbers() {
    assert_eq!(serde_json::to_string(&Amount::MAX).unwrap(), format!("\"{MAX}\""));
    assert_eq!(serde_json::from_str::<Amount>("\"5\"").unwrap(), Amount::new(5));
    for refused in ["5", "5.0", "-5", "null", "true", "[5]", "\"05\"", "\"-5\"", "\"5.0\"", "\"\""] {
        assert!(serde_json::from_str::<Amount>(refused).is_err(), "{refused}");
    }
    let too_large = serde_json::from_str::<Amount>("\"340282366920938463463374607431768211456\"").unwrap_err();
    assert!(too_large.to_string().starts_with(&format!("an amount is at most {MAX}")), "{too_large}");
}

#[test]
fn sortable_bytes_sort_as_the_amounts_do() {
    let ascending = [0, 1, 255, 256, 65_535, 1 << 63, 1 << 64, (1 << 127) - 1, 1 << 127, u128::MAX].map(Amount::new);
    assert!(ascending.is_sorted());
    assert!(ascending.map(Amount::to_sortable).is_sorted());
    assert_eq!(ascending.map(|amount| Amount::from_sortable(amount.to_sortable())), ascending);
    assert_eq!(Amount::new(256).to_sortable(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
}

#[test]
fn basis_points_are_rounded_down() {
    let of = |units: u128, bps: u32| Amount::new(units).basis_points(bps).map(Amount::units);
    assert_eq!(of(10_000, 250), Some(250));
    assert_eq!(of(9_999, 1), Some(0));
    assert_eq!(of(19_999, 1), Some(1));
    assert_eq!(of(39, 250), Some(0));
    assert_eq!(of(40, 250), Some(1));
    assert_eq!(of(0, u32::MAX), Some(0));
    assert_eq!(of(u128::MAX, 0), Some(0));
    assert_eq!(of(u128::MAX, 10_000), Some(u128::MAX));
    assert_eq!(of(u128::MAX, 10_001), None);
}

#[test]
fn basis_points_are_exact_up_to_the_edges() {
    let amounts = (0..128).flat_map(|bit| [(1 << bit) - 1, 1 << bit, u128::MAX - (1 << bit), u128::MAX >> bit]);
    let per_myriad = [0, 1, 2, 99, 100, 250, 3_333, 9_999, 10_000, 10_001, 65_536, 1_000_000, u32::MAX];
    for amount in amounts.chain([u128::MAX]) {
        for bps in per_myriad {
            let got = Amount::new(amount).basis_points(bps).map(Amount::units);
            assert_eq!(got, by_long_division(amount, bps), "{bps} basis points of {amount}");
        }
    }
}

/// The same on paper: 160-bit product in limbs of 32 bits, divided by 10,000 from the top.
fn by_long_division(amount: u128, bps: u32) -> Option<u128> {
    let mut limbs = [0_u64; 5];
    let mut carry = 0;
    for (place, limb) in limbs.iter_mut().enumerate() {
        let digit = if place < 4 { (amount >> (32 * place)) as u32 } else { 0 };
        let product = u64::from(digit) * u64::from(bps) + carry;
        (*limb, carry) = (product & 0xffff_ffff, product >> 32);
    }
    let (mut quotient, mut rest) = ([0_u64; 5], 0);
    for place in (0..5).rev() {
        let dividend = (rest << 32) | limbs[place];
        (quotient[place], rest) = (dividend / 10_000, dividend % 10_000);
    }
    let value = quotient[..4].iter().rev().fold(0_u128, |value, limb| (value << 32) | u128::from(*limb));
    (quotient[4] == 0).then_some(value)
}
