//! The text form of an order, which an approver reads. It leaves nothing out.

use std::fmt;

use bankroll_money::Time;
use time::OffsetDateTime;

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
    let show = |at: OffsetDateTime| {
        let ((year, month, day), (hour, minute, second, micro)) = (at.to_calendar_date(), at.to_hms_micro());
        let month = u8::from(month);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micro:06}Z")
    };
    let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(time.0).saturating_mul(1_000));
    at.map_or_else(|_| "the end of time".to_owned(), show)
}
