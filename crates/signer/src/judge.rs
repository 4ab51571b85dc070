//! Decides what to do with an order, given what was signed before, the signer's own rules, and the time.
//!
//! Pure. It guarantees, over all verdicts carried out one after the other:
//! - an intent has one slot and one payment, permanently;
//! - a slot has one intent; later transactions for it only raise the gas price, or cancel;
//! - once a cancel is signed, the intent's payment is neither signed nor handed out again;
//! - every chain, asset and destination is allowed by the policy, and every amount is within its limits.
//!
//! It does not know: keys, transaction bytes, files. A promise counts like a signature, because the signature may have
//! been handed out.

use bankroll_money::{Amount, Time};
use bankroll_orders::{Meaning, Order, SignerRefusal};

use crate::policy::{ChainRules, SigningLimits, SigningPolicy};

/// What the memory has about an order: every promise for its id, its intent and its slot.
#[derive(Clone, Debug, Default)]
pub struct OrderHistory {
    /// The order that was promised with this order's id.
    pub same_id: Option<Order>,
    pub revoked: bool,
    /// Promises for the intent, oldest first.
    pub of_intent: Vec<SigningPromise>,
    /// Promises for the slot, oldest first.
    pub of_slot: Vec<SigningPromise>,
    /// What the wallet's promises pay and spend on fees within the window; not read if the same content was promised
    /// before.
    pub spent: LimitUsage,
}

/// An order that the signer decided to sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningPromise {
    /// Its place in the log.
    pub seq: u64,
    pub order: Order,
    /// The signed transaction, if it is stored.
    pub signed: Option<TransactionFields>,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TransactionFields {
    pub raw: Vec<u8>,
    pub hash: [u8; 32],
}

/// Amounts that count against limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LimitUsage {
    /// In the paid asset.
    pub paid: Amount,
    /// In the native coin, at the highest price.
    pub fees: Amount,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SigningVerdict {
    /// Signed before: hand out the same bytes.
    Repeat(TransactionFields),
    /// Promised before and perhaps not signed: sign it under that promise.
    Finish {
        /// The promise's place in the log.
        promise: u64,
    },
    /// Promise it, then sign it.
    Sign {
        counted: LimitUsage,
        /// The promise that it replaces.
        replaces: Option<u64>,
    },
    Refuse(SignerRefusal),
}

#[must_use]
pub fn judge(recalled: &OrderHistory, policy: &SigningPolicy, order: &Order, now: Time) -> SigningVerdict {
    verdict(recalled, policy, order, now).unwrap_or_else(SigningVerdict::Refuse)
}

/// Decides about revoking an intent; `false` if it is already revoked.
///
/// # Errors
/// The intent has a promise.
pub fn judge_revocation(recalled: &OrderHistory) -> Result<bool, SignerRefusal> {
    if recalled.of_intent.is_empty() { Ok(!recalled.revoked) } else { Err(SignerRefusal::IntentSigned) }
}

fn verdict(
    recalled: &OrderHistory,
    policy: &SigningPolicy,
    order: &Order,
    now: Time,
) -> Result<SigningVerdict, SignerRefusal> {
    check_past(recalled, order)?;
    let before = recalled.of_slot.iter().find(|promise| promise.order.content() == order.content());
    if let Some(SigningPromise { signed: Some(transaction), .. }) = before {
        return Ok(SigningVerdict::Repeat(transaction.clone()));
    }
    let last = recalled.of_slot.last();
    if before.is_none() && last.is_some_and(|last| !order.gas.price.outbids(last.order.gas.price)) {
        return Err(SignerRefusal::FeesNotRaised);
    }
    let rules = check_policy(policy, order)?;
    check_form(policy, order)?;
    if now >= order.expires {
        return Err(SignerRefusal::Expired);
    }
    check_ceilings(rules, order)?;
    if let Some(promise) = before {
        // Its amounts were counted with the promise.
        return Ok(SigningVerdict::Finish { promise: promise.seq });
    }
    let counted = count(recalled, order)?;
    check_limits(recalled.spent, rules, order, counted)?;
    Ok(SigningVerdict::Sign { counted, replaces: last.map(|last| last.seq) })
}

/// One payment for an intent, one meaning for a slot.
fn check_past(recalled: &OrderHistory, order: &Order) -> Result<(), SignerRefusal> {
    let is_cancel = |order: &Order| order.meaning == Meaning::Cancel;
    if recalled.revoked {
        return Err(SignerRefusal::IntentRevoked);
    }
    if !is_cancel(order) && recalled.of_intent.iter().any(|promise| is_cancel(&promise.order)) {
        return Err(SignerRefusal::IntentCancelled);
    }
    if recalled.same_id.as_ref().is_some_and(|same| same.content() != order.content()) {
        return Err(SignerRefusal::OrderIdReused);
    }
    if recalled.of_intent.iter().any(|promise| promise.order.slot != order.slot) {
        return Err(SignerRefusal::IntentElsewhere);
    }
    let mut payments = recalled.of_intent.iter().filter(|promise| is_cancel(&promise.order) == is_cancel(order));
    if payments.any(|promise| promise.order.payload() != order.payload()) {
        return Err(SignerRefusal::IntentMeansOther);
    }
    if recalled.of_slot.iter().any(|promise| promise.order.intent != order.intent) {
        return Err(SignerRefusal::NonceTaken);
    }
    Ok(())
}

fn check_policy<'a>(policy: &'a SigningPolicy, order: &Order) -> Result<&'a ChainRules, SignerRefusal> {
    if !policy.wallets.contains(&order.slot.wallet) {
        return Err(SignerRefusal::WalletUnknown);
    }
    let rules = policy.chains.get(&order.slot.chain).ok_or(SignerRefusal::ChainUnknown)?;
    if order.meaning.payment().is_some() && rules.limits_of(order.meaning.token()).is_none() {
        return Err(SignerRefusal::AssetUnknown);
    }
    if rules.manner.fits(order.gas.price) { Ok(rules) } else { Err(SignerRefusal::PriceOfOtherKind) }
}

fn check_form(policy: &SigningPolicy, order: &Order) -> Result<(), SignerRefusal> {
    if let Some((to, amount)) = order.meaning.payment() {
        if amount.is_zero() {
            return Err(SignerRefusal::AmountZero);
        }
        if policy.forbids_destination(order.slot.chain, to) {
            return Err(SignerRefusal::DestinationForbidden);
        }
    }
    if order.gas.price.priority() > order.gas.price.max() { Err(SignerRefusal::PriorityAboveFee) } else { Ok(()) }
}

fn check_ceilings(rules: &ChainRules, order: &Order) -> Result<(), SignerRefusal> {
    let price = order.gas.price;
    if order.gas.limit > rules.max_gas {
        return Err(SignerRefusal::GasAboveCeiling);
    }
    if price.max() > rules.max_price || price.priority() > rules.max_priority {
        return Err(SignerRefusal::PriceAboveCeiling);
    }
    Ok(())
}

/// What the order adds to the promises for its slot, of which at most one is ever mined: the payment once, and the
/// part of the fees above the highest so far.
fn count(recalled: &OrderHistory, order: &Order) -> Result<LimitUsage, SignerRefusal> {
    let cost = |order: &Order| order.gas.cost().ok_or(SignerRefusal::FeesAboveLimit);
    let highest = recalled
        .of_slot
        .iter()
        .try_fold(Amount::ZERO, |highest, promise| cost(&promise.order).map(|cost| cost.max(highest)))?;
    let fees = cost(order)?.checked_sub(highest).unwrap_or(Amount::ZERO);
    let first = recalled.of_slot.is_empty();
    let paid = order.meaning.payment().filter(|_| first).map_or(Amount::ZERO, |(_, amount)| amount);
    Ok(LimitUsage { paid, fees })
}

fn check_limits(
    spent: LimitUsage,
    rules: &ChainRules,
    order: &Order,
    counted: LimitUsage,
) -> Result<(), SignerRefusal> {
    let within = |spent: Amount, more: Amount, limit: Amount| spent.checked_add(more).is_some_and(|sum| sum <= limit);
    if let Some((_, amount)) = order.meaning.payment() {
        let SigningLimits { per_payout, per_window } =
            rules.limits_of(order.meaning.token()).ok_or(SignerRefusal::AssetUnknown)?;
        if amount > *per_payout {
            return Err(SignerRefusal::AmountAboveLimit);
        }
        // A replacement pays nothing more, so other payouts must not block it.
        if !counted.paid.is_zero() && !within(spent.paid, counted.paid, *per_window) {
            return Err(SignerRefusal::PaidAboveLimit);
        }
    }
    if within(spent.fees, counted.fees, rules.fees_per_window) { Ok(()) } else { Err(SignerRefusal::FeesAboveLimit) }
}
