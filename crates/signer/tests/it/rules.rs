//! Each rule by example.

use bankroll_money::{Amount, Time};
use bankroll_orders::{
    Address, ChainId, Gas, Meaning, Order, OrderId, Price, SignedApproval, SignerAnswer, SignerRefusal, SignerRequest,
    Slot,
};

use crate::world::{CHAIN, HOUR, LEGACY, NOON, PLAYER, TOKEN, World, at, cancel, key, pay, pay_token, wallet};

/// Made once by ethers from the same fields and the same key.
const SIGNED_BY_ETHERS: &str = "02f864827a6980085082520894abababababababababababababababababababab6480c001a01bf1829aabdf\
    c289f7008f14e82ce7bc86a4436f8045b45dbd3497359bd914dca076d3d8e89a47d67cb38b86ba51c865784bf14e1436553da16fd9d34469\
    6c954a";

#[test]
fn a_payout_is_signed_and_these_are_its_bytes() {
    let mut world = World::new();
    let signed = world.ask(&pay("wd-1", 0, 100)).unwrap();
    assert_eq!(hex::encode(&signed.raw), SIGNED_BY_ETHERS);
    // One entry for the wallet, one for the promise, one for the transaction.
    assert_eq!(signed.head.count, 3);
    assert!(key().is_sealed(&signed.head));
}

#[test]
fn a_repeated_request_gets_the_same_bytes() {
    let mut world = World::new();
    let order = pay("wd-1", 0, 100);
    let raw = world.signs(&order);
    assert_eq!(world.signs(&order), raw);
    world.restart();
    assert_eq!(world.signs(&order), raw);
    // Under another id, with another time, long after the first one's: it is the same transaction.
    world.now = Time(NOON.0 + 48 * HOUR);
    let again = Order { id: OrderId("another".parse().unwrap()), expires: Time(0), ..order };
    assert_eq!(world.signs(&again), raw);
    assert_eq!(world.head.count, 3, "nothing was written for any of it");
}

#[test]
fn an_intent_is_paid_once() {
    let mut world = World::new();
    world.signs(&pay("wd-1", 0, 100));
    let to = Address([0xcd; 20]);
    let other = |meaning| Order { id: OrderId("other".parse().unwrap()), meaning, ..at(&pay("wd-1", 0, 100), 90, 9) };
    world.refuses(
        &other(Meaning::NativePayout { to: PLAYER, amount: Amount::new(101) }),
        SignerRefusal::IntentMeansOther,
    );
    world.refuses(&other(Meaning::NativePayout { to, amount: Amount::new(100) }), SignerRefusal::IntentMeansOther);
    world.refuses(&other(pay_token("wd-1", 0, 100).meaning), SignerRefusal::IntentMeansOther);
    world.refuses(&pay("wd-1", 1, 100), SignerRefusal::IntentElsewhere);
    let elsewhere =
        Order { slot: Slot { chain: LEGACY, ..pay("wd-1", 0, 100).slot }, ..at(&pay("wd-1", 0, 100), 90, 9) };
    world.refuses(&elsewhere, SignerRefusal::IntentElsewhere);
}

#[test]
fn a_nonce_has_one_intent() {
    let mut world = World::new();
    world.signs(&pay("wd-1", 0, 100));
    world.refuses(&at(&pay("wd-2", 0, 100), 90, 9), SignerRefusal::NonceTaken);
    world.refuses(&at(&cancel("wd-2", 0), 90, 9), SignerRefusal::NonceTaken);
    // The same nonce on another chain is another slot.
    let there = Slot { chain: LEGACY, ..pay("wd-2", 0, 100).slot };
    let gas = Gas { limit: 21_000, price: Price::Legacy { price: 80 } };
    world.signs(&Order { slot: there, gas, ..pay("wd-2", 0, 100) });
}

#[test]
fn an_order_id_stands_for_one_order() {
    let mut world = World::new();
    let first = pay("wd-1", 0, 100);
    world.signs(&first);
    world.refuses(&Order { id: first.id.clone(), ..pay("wd-2", 1, 100) }, SignerRefusal::OrderIdReused);
    world.refuses(&Order { id: first.id.clone(), ..at(&first, 90, 9) }, SignerRefusal::OrderIdReused);
}

#[test]
fn a_replacement_only_raises_fees() {
    let mut world = World::new();
    let first = pay("wd-1", 0, 100);
    let raw = world.signs(&first);
    world.refuses(&at(&first, 89, 9), SignerRefusal::FeesNotRaised);
    world.refuses(&at(&first, 90, 8), SignerRefusal::FeesNotRaised);
    let raised = at(&first, 90, 9);
    let second = world.signs(&raised);
    assert_ne!(second, raw);
    // The next is compared with the highest, and both can still be repeated.
    world.refuses(&at(&first, 100, 10), SignerRefusal::FeesNotRaised);
    world.signs(&at(&first, 102, 11));
    assert_eq!(world.signs(&first), raw);
    assert_eq!(world.signs(&raised), second);
    // A higher gas limit is not a raised fee.
    let more_gas = at(&first, 200, 20);
    world.refuses(&Order { gas: Gas { limit: 21_001, ..more_gas.gas }, ..more_gas }, SignerRefusal::IntentMeansOther);
}

#[test]
fn a_cancelled_intent_is_never_signed_again() {
    let mut world = World::new();
    let order = pay("wd-1", 0, 100);
    world.signs(&order);
    world.refuses(&cancel("wd-1", 0), SignerRefusal::FeesNotRaised);
    let cancelled = at(&cancel("wd-1", 0), 90, 9);
    let raw = world.signs(&cancelled);
    world.restart();
    // Not even the bytes that were handed out before.
    world.refuses(&order, SignerRefusal::IntentCancelled);
    world.refuses(&at(&order, 200, 20), SignerRefusal::IntentCancelled);
    world.refuses(&pay("wd-1", 1, 100), SignerRefusal::IntentCancelled);
    // The cancel itself can be repeated and raised.
    assert_eq!(world.signs(&cancelled), raw);
    world.signs(&at(&cancel("wd-1", 0), 102, 11));
    world.refuses(&at(&cancel("wd-1", 1), 102, 11), SignerRefusal::IntentElsewhere);
}

#[test]
fn a_nonce_that_was_never_signed_can_be_cancelled() {
    let mut world = World::new();
    world.signs(&cancel("wd-1", 0));
    world.refuses(&at(&pay("wd-1", 0, 100), 90, 9), SignerRefusal::IntentCancelled);
    world.refuses(&at(&pay("wd-2", 0, 100), 90, 9), SignerRefusal::NonceTaken);
}

#[test]
fn an_intent_is_cancelled_at_its_own_nonce_only() {
    let mut world = World::new();
    world.signs(&pay("wd-1", 0, 100));
    world.refuses(&cancel("wd-1", 1), SignerRefusal::IntentElsewhere);
}

#[test]
fn a_revoked_intent_is_never_signed() {
    let mut world = World::new();
    assert_eq!(world.revoke("wd-1"), Ok(()));
    let count = world.head.count;
    assert_eq!(world.revoke("wd-1"), Ok(()));
    assert_eq!(world.head.count, count, "it is said once");
    world.restart();
    world.refuses(&pay("wd-1", 0, 100), SignerRefusal::IntentRevoked);
    world.refuses(&cancel("wd-1", 0), SignerRefusal::IntentRevoked);
    // What is signed cannot be revoked, whether paid or cancelled.
    world.signs(&pay("wd-2", 0, 100));
    world.signs(&cancel("wd-3", 1));
    assert_eq!(world.revoke("wd-2"), Err(SignerRefusal::IntentSigned));
    assert_eq!(world.revoke("wd-3"), Err(SignerRefusal::IntentSigned));
}

#[test]
fn amounts_are_limited_in_a_rolling_window() {
    let mut world = World::new();
    let later = |order: Order, hours: u64| Order { expires: Time(NOON.0 + (hours + 1) * HOUR), ..order };
    world.refuses(&pay("wd-1", 0, 1_001), SignerRefusal::AmountAboveLimit);
    world.signs(&pay("wd-1", 0, 1_000));
    world.now = Time(NOON.0 + 12 * HOUR);
    world.signs(&later(pay("wd-2", 1, 1_000), 12));
    world.refuses(&later(pay("wd-3", 2, 501), 12), SignerRefusal::PaidAboveLimit);
    world.signs(&later(pay("wd-4", 2, 500), 12));
    world.refuses(&later(pay("wd-5", 3, 1), 12), SignerRefusal::PaidAboveLimit);
    // Tokens have limits of their own.
    world.signs(&later(pay_token("wd-6", 3, 500), 12));
    world.refuses(&later(pay_token("wd-7", 4, 301), 12), SignerRefusal::PaidAboveLimit);
    world.signs(&later(pay_token("wd-7", 4, 300), 12));
    // A replacement pays nothing more: it is signed although the limit is reached.
    world.signs(&later(at(&pay("wd-4", 2, 500), 90, 9), 12));
    // A day after the first thousand they no longer count; not a moment earlier, and not at midnight.
    world.now = Time(NOON.0 + 24 * HOUR - 1);
    world.refuses(&later(pay("wd-8", 5, 1_000), 24), SignerRefusal::PaidAboveLimit);
    world.restart();
    world.now = Time(NOON.0 + 24 * HOUR);
    world.signs(&later(pay("wd-8", 5, 1_000), 24));
    world.refuses(&later(pay("wd-9", 6, 1), 24), SignerRefusal::PaidAboveLimit);
}

#[test]
fn fees_are_limited_and_counted_at_their_highest() {
    let mut world = World::new();
    // 100,000 gas at 400 is 40 million of the 100 million.
    let expensive = |intent: &str, nonce, max| {
        let order = at(&pay(intent, nonce, 1), max, max / 10);
        Order { gas: Gas { limit: 100_000, ..order.gas }, ..order }
    };
    world.signs(&expensive("wd-1", 0, 400));
    world.signs(&expensive("wd-2", 1, 400));
    world.refuses(&expensive("wd-3", 2, 201), SignerRefusal::FeesAboveLimit);
    // Raised from 400 to 600: only one is mined, so 20 million more count, not 60.
    world.signs(&expensive("wd-2", 1, 600));
    world.refuses(&expensive("wd-3", 2, 1), SignerRefusal::FeesAboveLimit);
    let free =
        Order { gas: Gas { limit: 100_000, price: Price::Dynamic { max: 0, priority: 0 } }, ..pay("wd-4", 2, 1) };
    world.signs(&free);
}

#[test]
fn gas_and_its_price_have_ceilings() {
    let mut world = World::new();
    let order = pay("wd-1", 0, 1);
    let gas =
        |limit, max, priority| Order { gas: Gas { limit, price: Price::Dynamic { max, priority } }, ..order.clone() };
    world.refuses(&gas(100_001, 80, 8), SignerRefusal::GasAboveCeiling);
    world.refuses(&gas(21_000, 1_001, 8), SignerRefusal::PriceAboveCeiling);
    world.refuses(&gas(21_000, 1_000, 101), SignerRefusal::PriceAboveCeiling);
    world.refuses(&gas(21_000, 8, 9), SignerRefusal::PriorityAboveFee);
    world.refuses(&gas(u64::MAX, u128::MAX, u128::MAX), SignerRefusal::GasAboveCeiling);
    world.signs(&gas(100_000, 1_000, 100));
}

#[test]
fn only_what_the_configuration_names_is_signed() {
    let mut world = World::new();
    let order = pay("wd-1", 0, 100);
    world.refuses(
        &Order { slot: Slot { chain: ChainId(1), ..order.slot }, ..order.clone() },
        SignerRefusal::ChainUnknown,
    );
    world
        .refuses(&Order { slot: Slot { wallet: PLAYER, ..order.slot }, ..order.clone() }, SignerRefusal::WalletUnknown);
    let token = |token| Meaning::TokenPayout { token, to: PLAYER, amount: Amount::new(1) };
    world.refuses(&Order { meaning: token(Address([0xef; 20])), ..order.clone() }, SignerRefusal::AssetUnknown);
    // The token is one of another chain.
    let there = Order { slot: Slot { chain: LEGACY, ..order.slot }, meaning: token(TOKEN), ..order.clone() };
    world.refuses(&there, SignerRefusal::AssetUnknown);
    let legacy = Gas { limit: 21_000, price: Price::Legacy { price: 80 } };
    world.refuses(&Order { gas: legacy, ..order.clone() }, SignerRefusal::PriceOfOtherKind);
    world.refuses(
        &Order { slot: Slot { chain: LEGACY, ..order.slot }, ..order.clone() },
        SignerRefusal::PriceOfOtherKind,
    );
    assert_eq!(world.head.count, 1, "nothing was written for any of it");
    world.signs(&Order { slot: Slot { chain: LEGACY, ..order.slot }, gas: legacy, ..order });
}

#[test]
fn payouts_do_not_go_to_zero_to_own_wallets_or_to_token_contracts() {
    let mut world = World::new();
    for to in [Address::ZERO, wallet(), TOKEN] {
        let amount = Amount::new(1);
        let native = Order { meaning: Meaning::NativePayout { to, amount }, ..pay("wd-1", 0, 1) };
        let token = Order { meaning: Meaning::TokenPayout { token: TOKEN, to, amount }, ..pay_token("wd-1", 0, 1) };
        world.refuses(&native, SignerRefusal::DestinationForbidden);
        world.refuses(&token, SignerRefusal::DestinationForbidden);
    }
    world.refuses(&pay("wd-1", 0, 0), SignerRefusal::AmountZero);
    world.refuses(&pay_token("wd-1", 0, 0), SignerRefusal::AmountZero);
}

#[test]
fn an_order_expires_and_a_clock_set_back_does_not_revive_it() {
    let mut world = World::new();
    world.now = Time(NOON.0 + HOUR);
    world.refuses(&pay("wd-1", 0, 100), SignerRefusal::Expired);
    world.now = Time(NOON.0 + HOUR - 1);
    world.signs(&pay("wd-1", 0, 100));
    world.now = Time(NOON.0 + 2 * HOUR);
    world.signs(&Order { expires: Time(u64::MAX), ..pay("wd-2", 1, 100) });
    world.now = NOON;
    world.refuses(&pay("wd-3", 2, 100), SignerRefusal::Expired);
}

#[test]
fn approvals_that_cannot_be_checked_are_not_overlooked() {
    let mut world = World::new();
    let approvals = vec![SignedApproval { approver: PLAYER, signature: vec![0; 65] }];
    let answer = world.answer(&SignerRequest::Sign { order: pay("wd-1", 0, 100), approvals, head: world.head });
    let refusal = SignerRefusal::ApprovalsNotUnderstood;
    assert_eq!(answer, SignerAnswer::Refused { refusal, head: Some(world.head) });
}

#[test]
fn the_largest_numbers_are_refused_without_overflow() {
    let mut world = World::new();
    let slot = Slot { chain: ChainId(u64::MAX), wallet: wallet(), nonce: u64::MAX };
    world.refuses(&Order { slot, ..pay("wd-1", 0, u128::MAX) }, SignerRefusal::ChainUnknown);
    let slot = Slot { chain: CHAIN, ..slot };
    world.refuses(&Order { slot, ..pay("wd-1", 0, u128::MAX) }, SignerRefusal::AmountAboveLimit);
    world.now = Time(u64::MAX);
    world.refuses(&pay("wd-1", 0, 100), SignerRefusal::Expired);
    world.now = NOON;
    world.signs(&Order { slot, ..pay("wd-1", 0, 100) });
}
