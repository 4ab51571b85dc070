//! Orders: encoding, digests, replacement.

#![allow(clippy::indexing_slicing, reason = "a test that is wrong should panic")]
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, reason = "small numbers")]

mod addresses;
mod extended_keys;
mod frames;
mod messages;
mod orders;
mod prices;
mod typed_data;

use bankroll_money::{Amount, Time};

use crate::{Address, ChainId, Gas, IntentId, Meaning, Order, OrderId, Price, Slot};

const WALLET: Address = Address([0x11; 20]);
const PLAYER: Address = Address([0xab; 20]);

/// Pays a player one and a half coins on chain 31337, with nonce 7, until 15 November 2026, noon.
fn payout() -> Order {
    Order {
        id: OrderId("order-1".parse().unwrap()),
        intent: IntentId("wd-81".parse().unwrap()),
        slot: Slot { chain: ChainId(31337), wallet: WALLET, nonce: 7 },
        meaning: Meaning::NativePayout { to: PLAYER, amount: Amount::new(1_500_000_000_000_000_000) },
        gas: Gas { limit: 21_000, price: Price::Dynamic { max: 40_000_000_000, priority: 2_000_000_000 } },
        expires: Time(1_794_744_000_000_000),
    }
}
