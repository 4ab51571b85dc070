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
                writeln!(f, "for at most {} gas at {max}, of which {priority} as priority", self.gas.limit)?;
            }
            Price::Legacy { price } => writeln!(f, "for at most {} gas at exactly {price}", self.gas.limit)?,
        }
        write!(f, "until {}", format_time(self.expires))
    }
}

/// A time in ISO 8601.
#[must_use]
pub fn format_time(time: Time) -> String {
    let date = i64::try_from(time.0).ok().and_then(|micros| Timestamp::from_microsecond(micros).ok());
    date.map_or_else(|| "the end of time".to_owned(), |date| date.to_string())
}
