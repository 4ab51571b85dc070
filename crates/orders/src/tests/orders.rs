//! Orders have one encoding, and digests that cover the right fields.

use bankroll_money::{Amount, Time};

use super::{PLAYER, WALLET, payout};
use crate::{Address, ChainId, Gas, IntentId, Meaning, Order, OrderId, Price, Slot};

/// Signers' memories contain these bytes: they must never change.
#[test]
fn the_encoding_is_golden() {
    let bytes = payout().encode();
    assert_eq!(hex::encode(&bytes), GOLDEN);
    assert_eq!(Order::decode(&bytes), Ok(payout()));
    assert_eq!(payout().digest().to_string(), DIGEST);
    assert_eq!(payout().payload().to_string(), PAYLOAD);
    assert_eq!(payout().content().to_string(), CONTENT);
}

const GOLDEN: &str = "01076f726465722d310577642d3831e9f40111111111111111111111111111111111111111110700abababababab\
    abababababababababababababab8080d8d8d7c1c4e81488a4010080a0be81950180a8d6b90780e0d4b4f6899803";
const DIGEST: &str = "b925678f2438857a96f19394ee58ea90322fc8ec772101bbc08adbfba90ac4c9";
const PAYLOAD: &str = "ea45615c7ff43caec15cf32c2ba3ba4a855822e524725a52607bf87b09fe319c";
const CONTENT: &str = "88c8fee74140f5e29d4b603780576a381aabd9d79e2c07f9bf05bf97d04588af";

#[test]
fn no_other_bytes_are_an_order() {
    let bytes = payout().encode();
    for length in 0..bytes.len() {
        assert!(Order::decode(&bytes[..length]).is_err(), "cut to {length}");
    }
    assert!(Order::decode(&[&bytes[..], &[0]].concat()).is_err(), "trailing byte");
    for place in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[place] ^= 1 << bit;
            // Bytes that still decode are another order with another digest.
            let Ok(order) = Order::decode(&changed) else { continue };
            assert_ne!(order, payout());
            assert_eq!(order.encode(), changed);
            assert_ne!(order.digest(), payout().digest());
        }
    }
    // The same order with a number in a longer form, which postcard alone accepts.
    let position = bytes.iter().rposition(|byte| *byte == 7).unwrap();
    let mut longer = bytes.clone();
    longer.splice(position..=position, [0x87, 0x00]);
    assert!(Order::decode(&longer).is_err());
}

#[test]
fn each_digest_changes_with_every_field_it_covers() {
    let order = payout();
    let id = Order { id: OrderId("order-2".parse().unwrap()), ..payout() };
    let expiry = Order { expires: Time(1), ..payout() };
    for other in [&id, &expiry] {
        assert_ne!(order.digest(), other.digest());
        assert_eq!((order.payload(), order.content()), (other.payload(), other.content()));
    }
    let repriced = Order { gas: Gas { price: Price::Dynamic { max: 50, priority: 5 }, ..order.gas }, ..payout() };
    assert_eq!(order.payload(), repriced.payload());
    assert_ne!(order.content(), repriced.content());
    let slot = order.slot;
    let others = [
        Order { intent: IntentId("wd-82".parse().unwrap()), ..payout() },
        Order { slot: Slot { chain: ChainId(1), ..slot }, ..payout() },
        Order { slot: Slot { wallet: Address([0x12; 20]), ..slot }, ..payout() },
        Order { slot: Slot { nonce: 8, ..slot }, ..payout() },
        Order {
            meaning: Meaning::NativePayout { to: WALLET, amount: Amount::new(1_500_000_000_000_000_000) },
            ..payout()
        },
        Order { meaning: Meaning::NativePayout { to: PLAYER, amount: Amount::new(1) }, ..payout() },
        Order { meaning: Meaning::Cancel, ..payout() },
        Order { gas: Gas { limit: 21_001, ..order.gas }, ..payout() },
    ];
    for other in others {
        assert_ne!(order.payload(), other.payload(), "{other:?}");
    }
    assert_ne!(order.digest(), order.payload());
    assert_ne!(order.content(), order.payload());
}
