//! Amounts in coins: decimal text to wei and back, exact, digit by digit.

use bankroll_chains_simulated::U256;
use bankroll_ledger::Amount;
use bankroll_terminal::decimal;

/// The decimals of the coin of every EVM chain.
const DECIMALS: usize = 18;

/// A positive amount: `0.01035`, `5`, `.5` is refused.
pub fn parse(text: &str) -> Result<Amount, String> {
    let wrong = || "an amount is digits with at most 18 decimals, for example 0.01035".to_owned();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(fraction) || fraction.len() > DECIMALS {
        return Err(wrong());
    }
    let units: u128 = format!("{whole}{fraction:0<DECIMALS$}")
        .parse()
        .map_err(|_| "this is more than an amount can be".to_owned())?;
    if units == 0 {
        return Err("the amount must be above 0".to_owned());
    }
    Ok(Amount::new(units))
}

/// `0.01035`; an amount above 128 bits is shown in wei.
pub fn of_wei(wei: U256) -> String {
    u128::try_from(wei).map_or_else(|_| format!("{wei} wei"), |units| decimal(Amount::new(units), DECIMALS as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_digit_counts_and_nothing_is_rounded() {
        let check = |text: &str, wei: u128| {
            assert_eq!(parse(text), Ok(Amount::new(wei)));
            assert_eq!(parse(&of_wei(U256::from(wei))), Ok(Amount::new(wei)));
        };
        check("0.01035", 10_350_000_000_000_000);
        check("0.000000000000000001", 1);
        check("5", 5_000_000_000_000_000_000);
        check("1.10", 1_100_000_000_000_000_000);
        check("340282366920938463463.374607431768211455", u128::MAX);
    }

    #[test]
    fn what_is_not_an_exact_amount_is_refused() {
        for text in ["", ".", "1.", ".5", "-1", "+1", "1e18", "1,5", "0x10", "1 ETH", "0.0000000000000000001", "１"] {
            assert!(parse(text).unwrap_err().contains("at most 18 decimals"), "{text}");
        }
        assert!(parse("0.0").unwrap_err().contains("above 0"));
        assert!(parse("340282366920938463463.374607431768211456").unwrap_err().contains("more than"));
    }
}
