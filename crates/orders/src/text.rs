//! The text form of an order, which an approver reads. It leaves nothing out.

use std::fmt;

use bankroll_money::Time;
use jiff::Timestamp;

use crate::{Meaning, Order, Price};

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.meaning {
            Meaning::NativePayout { to, amount } => {
                writeln!(f, "pay {amount} base units of the coin of chain {}", self.slot.chain)?;
                writeln!(f, "to {to}")?;
            }
            Meaning::TokenPayout { token, to, amount } => {
                writeln!(f, "pay {amount} base units of token {token} on chain {}", self.slot.chain)?;
                writeln!(f, "to {to}")?;
            }
            Meaning::Cancel => {
                writeln!(f, "pay nothing on chain {}, so that the intent cannot be paid", self.slot.chain)?;
            }
        }
        writeln!(f, "from {} with nonce {}", self.slot.wallet, self.slot.nonce)?;
        writeln!(f, "for intent {}, by order {}", self.intent, self.id)?;
        match self.gas.price {
            Price::Dynamic { max, priority } => {
                let (limit, max, priority) = (self.gas.limit, gwei(max), gwei(priority));
                writeln!(f, "for at most {limit} gas at {max} gwei, of which {priority} gwei as priority")?;
            }
            Price::Legacy { price } => {
                writeln!(f, "for at most {} gas at exactly {} gwei", self.gas.limit, gwei(price))?;
            }
        }
        write!(f, "until {}", format_time(self.expires))
    }
}

fn gwei(price: u128) -> String {
    format_decimal(price, 9)
}

/// An amount of base units as a decimal number, exactly: 1500000000 with 9 decimals is `1.5`.
#[must_use]
pub fn format_decimal(units: u128, decimals: usize) -> String {
    let digits = format!("{units:0>width$}", width = decimals.saturating_add(1));
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(decimals));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

/// A time in ISO 8601, with six digits after the seconds.
#[must_use]
pub fn format_time(time: Time) -> String {
    let date = i64::try_from(time.0).ok().and_then(|micros| Timestamp::from_microsecond(micros).ok());
    date.map_or_else(|| "the end of time".to_owned(), |date| format!("{date:.6}"))
}
