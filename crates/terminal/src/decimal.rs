//! Amounts for people: base units written with the decimals of their asset. Exact, digit by digit.

use std::collections::BTreeMap;

use bankroll_ledger::{Amount, Asset, AssetId};

/// The assets of a ledger, for showing amounts.
#[derive(Debug)]
pub struct Assets(BTreeMap<AssetId, Asset>);

impl Assets {
    pub fn new(listed: impl IntoIterator<Item = (AssetId, Asset)>) -> Self {
        Self(listed.into_iter().collect())
    }

    /// No assets: for showing amounts without books.
    pub fn none() -> Self {
        Self(BTreeMap::new())
    }

    pub fn get(&self, id: AssetId) -> Option<&Asset> {
        self.0.get(&id)
    }

    /// The amount without its symbol: `1.0325`. An unknown asset has no decimals.
    pub fn decimal(&self, id: AssetId, amount: Amount) -> String {
        decimal(amount, self.get(id).map_or(0, |asset| asset.decimals))
    }

    /// The amount with its symbol: `1.0325 ETH`.
    pub fn with_symbol(&self, id: AssetId, amount: Amount) -> String {
        let symbol = self.get(id).map_or_else(|| format!("of asset {id}"), |asset| asset.symbol.clone());
        format!("{} {symbol}", self.decimal(id, amount))
    }
}

/// The amount in base units: `1 base unit`, `1500000 base units`.
pub fn base_units(amount: Amount) -> String {
    format!("{amount} base {}", if amount == Amount::new(1) { "unit" } else { "units" })
}

/// All digits, without trailing zeros.
pub fn decimal(amount: Amount, decimals: u8) -> String {
    let (whole, fraction) = digits(amount, decimals);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}

/// Exactly `places` decimals, the rest cut off: a live view must keep its width.
pub fn decimal_cut(amount: Amount, decimals: u8, places: usize) -> String {
    let (whole, mut fraction) = digits(amount, decimals);
    fraction.truncate(places);
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}

/// The amount that a text like `0.01035` means, in base units. Exact: a digit that is smaller than a base unit is
/// refused, not rounded.
///
/// # Errors
/// A sentence that says what is wrong.
pub fn parse_decimal(text: &str, decimals: u8) -> Result<Amount, String> {
    let decimals = usize::from(decimals);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || text.ends_with('.') || !are_digits(whole) || !are_digits(fraction) {
        return Err("an amount is digits with at most one point, as in 0.01035".into());
    }
    if fraction.len() > decimals {
        return Err(format!("an amount has at most {decimals} digits after the point"));
    }
    let units = format!("{whole}{fraction:0<decimals$}").parse::<u128>();
    units.map(Amount::new).map_err(|_| "the amount is too large".into())
}

fn digits(amount: Amount, decimals: u8) -> (String, String) {
    let decimals = usize::from(decimals);
    // At least one digit before the point.
    let mut whole = format!("{:0>width$}", amount.to_string(), width = decimals + 1);
    let fraction = whole.split_off(whole.len() - decimals);
    (whole, fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_digit_is_there() {
        let check = |units: u128, decimals: u8, expected: &str| {
            assert_eq!(decimal(Amount::new(units), decimals), expected);
        };
        check(0, 18, "0");
        check(1, 18, "0.000000000000000001");
        check(1_000_000_000_000_000_000, 18, "1");
        check(1_032_500_000_000_000_000, 18, "1.0325");
        check(10_325_000_000_000_000_001, 18, "10.325000000000000001");
        check(7, 0, "7");
        check(1_500_000, 6, "1.5");
        check(u128::MAX, 18, "340282366920938463463.374607431768211455");
        check(5, 40, "0.0000000000000000000000000000000000000005");
    }

    #[test]
    fn an_amount_is_read_exactly_or_refused() {
        let check = |text: &str, expected: Result<u128, &str>| {
            let read = parse_decimal(text, 18);
            assert_eq!(read, expected.map(Amount::new).map_err(str::to_owned), "{text}");
        };
        check("0.01035", Ok(10_350_000_000_000_000));
        check("1", Ok(1_000_000_000_000_000_000));
        check("0.000000000000000001", Ok(1));
        check("340282366920938463463.374607431768211455", Ok(u128::MAX));
        check("340282366920938463463.374607431768211456", Err("the amount is too large"));
        check("0.0000000000000000001", Err("an amount has at most 18 digits after the point"));
        for wrong in ["", ".5", "5.", "1.2.3", "-1", "+1", "1e3", "0x5", "1,5", "\u{0661}"] {
            check(wrong, Err("an amount is digits with at most one point, as in 0.01035"));
        }
        assert_eq!(parse_decimal("7", 0), Ok(Amount::new(7)));
        assert_eq!(parse_decimal("7.0", 0), Err("an amount has at most 0 digits after the point".into()));
    }

    #[test]
    fn a_cut_amount_is_not_rounded() {
        let check = |units: u128, expected: &str| assert_eq!(decimal_cut(Amount::new(units), 6, 3), expected);
        check(1_999_999, "1.999");
        check(1_000_000, "1.000");
        assert_eq!(decimal_cut(Amount::new(42), 0, 3), "42");
    }
}
