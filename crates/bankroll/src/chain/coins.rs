//! Amounts in coins: decimal text to wei and back, exact, digit by digit.

use bankroll_chains_simulated::U256;
use bankroll_ledger::Amount;
use bankroll_terminal::{decimal, parse_decimal};

/// The decimals of the coin of every EVM chain.
const DECIMALS: u8 = 18;

/// A positive amount: `0.01035`, `5`.
pub fn parse(text: &str) -> Result<Amount, String> {
    match parse_decimal(text, DECIMALS)? {
        Amount::ZERO => Err("the amount must be more than 0".to_owned()),
        amount => Ok(amount),
    }
}

/// `0.01035`; an amount above 128 bits is shown in wei.
pub fn of_wei(wei: U256) -> String {
    u128::try_from(wei).map_or_else(|_| format!("{wei} wei"), |units| decimal(Amount::new(units), DECIMALS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_positive_and_shown_as_it_was_read() {
        for text in ["0.01035", "0.000000000000000001", "5", "340282366920938463463.374607431768211455"] {
            assert_eq!(of_wei(U256::from(parse(text).unwrap().units())), text);
        }
        assert_eq!(parse("0.0").unwrap_err(), "the amount must be more than 0");
        assert_eq!(of_wei(U256::MAX), format!("{} wei", U256::MAX));
    }
}
