//! The text form of an order, which an approver reads. It leaves nothing out.

use std::fmt;

use bankroll_ledger::{Amount, Time};
use bankroll_orders::{Meaning, Order, Price};
use bankroll_terminal::{decimal, when};

pub struct OrderText<'a>(pub &'a Order);

impl fmt::Display for OrderText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = self.0;
        match &order.meaning {
            Meaning::NativePayout { to, amount } => {
                writeln!(f, "pay {amount} base units of the coin of chain {}", order.slot.chain)?;
                writeln!(f, "to {to}")?;
            }
            Meaning::TokenPayout { token, to, amount } => {
                writeln!(f, "pay {amount} base units of token {token} on chain {}", order.slot.chain)?;
                writeln!(f, "to {to}")?;
            }
            Meaning::Cancel => {
                writeln!(f, "pay nothing on chain {}, so that the intent cannot be paid", order.slot.chain)?;
            }
        }
        writeln!(f, "from {} with nonce {}", order.slot.wallet, order.slot.nonce)?;
        writeln!(f, "for intent {}, by order {}", order.intent, order.id)?;
        match order.gas.price {
            Price::Dynamic { max, priority } => {
                let (limit, max, priority) = (order.gas.limit, gwei(max), gwei(priority));
                writeln!(f, "for at most {limit} gas at {max} gwei, of which {priority} gwei as priority")?;
            }
            Price::Legacy { price } => {
                writeln!(f, "for at most {} gas at exactly {} gwei", order.gas.limit, gwei(price))?;
            }
        }
        write!(f, "until {}", time_text(order.expires))
    }
}

/// A price of gas, exactly: 1500000000 is `1.5`.
pub fn gwei(price: u128) -> String {
    decimal(Amount::new(price), 9)
}

/// A time with all its digits. An order that never expires has one outside the calendar.
pub fn time_text(time: Time) -> String {
    when::in_calendar(time).unwrap_or_else(|| "the end of time".to_owned())
}

#[cfg(test)]
mod tests {
    use bankroll_orders::{Address, ChainId, Gas, IntentId, OrderId, Slot};

    use super::*;

    const PLAYER: Address = Address([0xab; 20]);
    const TOKEN: Address = Address([0xee; 20]);

    /// Pays a player one and a half coins on chain 31337, with nonce 7, until 15 November 2026, noon.
    fn payout() -> Order {
        Order {
            id: OrderId("order-1".parse().unwrap()),
            intent: IntentId("wd-81".parse().unwrap()),
            slot: Slot { chain: ChainId(31337), wallet: Address([0x11; 20]), nonce: 7 },
            meaning: Meaning::NativePayout { to: PLAYER, amount: Amount::new(1_500_000_000_000_000_000) },
            gas: Gas { limit: 21_000, price: Price::Dynamic { max: 40_000_000_000, priority: 2_000_000_000 } },
            expires: Time(1_794_744_000_000_000),
        }
    }

    #[test]
    fn the_text_of_an_order_has_every_field() {
        assert_eq!(
            OrderText(&payout()).to_string(),
            "pay 1500000000000000000 base units of the coin of chain 31337\n\
             to 0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB\n\
             from 0x1111111111111111111111111111111111111111 with nonce 7\n\
             for intent wd-81, by order order-1\n\
             for at most 21000 gas at 40 gwei, of which 2 gwei as priority\n\
             until 2026-11-15T12:00:00.000000Z"
        );
        let meaning = Meaning::TokenPayout { token: TOKEN, to: PLAYER, amount: Amount::new(250) };
        let gas = Gas { limit: 60_000, price: Price::Legacy { price: 30 } };
        assert_eq!(
            OrderText(&Order { meaning, gas, ..payout() }).to_string(),
            "pay 250 base units of token 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE on chain 31337\n\
             to 0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB\n\
             from 0x1111111111111111111111111111111111111111 with nonce 7\n\
             for intent wd-81, by order order-1\n\
             for at most 60000 gas at exactly 0.00000003 gwei\n\
             until 2026-11-15T12:00:00.000000Z"
        );
        let cancel = Order { meaning: Meaning::Cancel, expires: Time(u64::MAX), ..payout() };
        let cancel = OrderText(&cancel).to_string();
        assert!(
            cancel.starts_with("pay nothing on chain 31337, so that the intent cannot be paid\nfrom 0x1111"),
            "{cancel}"
        );
        assert!(cancel.ends_with("until the end of time"), "{cancel}");
    }
}
