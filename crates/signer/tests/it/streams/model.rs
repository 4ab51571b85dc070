//! An independent implementation of the rules with plain lists and loops.

use std::collections::{BTreeMap, BTreeSet};

use bankroll_money::Time;
use bankroll_orders::{Meaning, Order, Price, SignerRefusal};

use crate::world::{CHAIN, HOUR, LEGACY, TOKEN, wallet};

/// The model's verdict.
#[derive(Debug)]
pub enum ModelVerdict {
    Sign,
    Finish,
    /// These bytes.
    Repeat(Vec<u8>),
    Refuse(SignerRefusal),
}

struct Done {
    order: Order,
    at: Time,
    paid: u128,
    fees: u128,
    signed: Option<Vec<u8>>,
}

#[derive(Default)]
pub struct Model {
    done: Vec<Done>,
    revoked: BTreeSet<String>,
}

fn same(one: &Order, other: &Order) -> bool {
    one.intent == other.intent && one.slot == other.slot && one.meaning == other.meaning && one.gas == other.gas
}

/// Maximum fee, priority fee, and whether the price has both.
fn fees(order: &Order) -> (u128, u128, bool) {
    match order.gas.price {
        Price::Dynamic { max, priority } => (max, priority, true),
        Price::Legacy { price } => (price, price, false),
    }
}

fn is_cancel(order: &Order) -> bool {
    matches!(order.meaning, Meaning::Cancel)
}

impl Model {
    pub fn judge(&self, order: &Order, now: Time) -> ModelVerdict {
        let now = self.done.iter().map(|done| done.at).fold(now, Time::max);
        let of_intent = || self.done.iter().filter(|done| done.order.intent == order.intent);
        let of_slot = || self.done.iter().filter(|done| done.order.slot == order.slot);
        if self.revoked.contains(&order.intent.to_string()) {
            return ModelVerdict::Refuse(SignerRefusal::IntentRevoked);
        }
        if !is_cancel(order) && of_intent().any(|done| is_cancel(&done.order)) {
            return ModelVerdict::Refuse(SignerRefusal::IntentCancelled);
        }
        if self.done.iter().any(|done| done.order.id == order.id && !same(&done.order, order)) {
            return ModelVerdict::Refuse(SignerRefusal::OrderIdReused);
        }
        if of_intent().any(|done| done.order.slot != order.slot) {
            return ModelVerdict::Refuse(SignerRefusal::IntentElsewhere);
        }
        for done in of_intent().filter(|done| is_cancel(&done.order) == is_cancel(order)) {
            if done.order.meaning != order.meaning || done.order.gas.limit != order.gas.limit {
                return ModelVerdict::Refuse(SignerRefusal::IntentMeansOther);
            }
        }
        if of_slot().any(|done| done.order.intent != order.intent) {
            return ModelVerdict::Refuse(SignerRefusal::NonceTaken);
        }
        let before = of_slot().find(|done| same(&done.order, order));
        if let Some(Done { signed: Some(raw), .. }) = before {
            return ModelVerdict::Repeat(raw.clone());
        }
        if let (None, Some(last)) = (before, of_slot().next_back()) {
            let ((max, priority, two), (last_max, last_priority, last_two)) = (fees(order), fees(&last.order));
            let raised = |from: u128, to: u128| to * 8 >= from * 9 && to > from;
            if two != last_two || !raised(last_max, max) || !raised(last_priority, priority) {
                return ModelVerdict::Refuse(SignerRefusal::FeesNotRaised);
            }
        }
        match self.refusal(order, now, before.is_some()) {
            Some(refusal) => ModelVerdict::Refuse(refusal),
            None if before.is_some() => ModelVerdict::Finish,
            None => ModelVerdict::Sign,
        }
    }

    /// The rules of the test policy.
    fn refusal(&self, order: &Order, now: Time, promised: bool) -> Option<SignerRefusal> {
        let (max, priority, two) = fees(order);
        let (to, amount, token) = match order.meaning {
            Meaning::NativePayout { to, amount } => (Some(to), amount.units(), None),
            Meaning::TokenPayout { token, to, amount } => (Some(to), amount.units(), Some(token)),
            Meaning::Cancel => (None, 0, None),
        };
        let (per_payout, per_window) = match (order.slot.chain, token) {
            (_, None) => (1_000, 2_500),
            (CHAIN, Some(TOKEN)) => (500, 800),
            _ => return Some(SignerRefusal::AssetUnknown),
        };
        if two != (order.slot.chain == CHAIN) {
            return Some(SignerRefusal::PriceOfOtherKind);
        }
        if let Some(to) = to {
            if amount == 0 {
                return Some(SignerRefusal::AmountZero);
            }
            if to.0 == [0; 20] || to == wallet() || (to == TOKEN && order.slot.chain == CHAIN) {
                return Some(SignerRefusal::DestinationForbidden);
            }
        }
        if priority > max {
            return Some(SignerRefusal::PriorityAboveFee);
        }
        if now >= order.expires {
            return Some(SignerRefusal::Expired);
        }
        if order.gas.limit > 100_000 {
            return Some(SignerRefusal::GasAboveCeiling);
        }
        if max > 1_000 || priority > if order.slot.chain == LEGACY { 1_000 } else { 100 } {
            return Some(SignerRefusal::PriceAboveCeiling);
        }
        if promised {
            return None;
        }
        if amount > per_payout {
            return Some(SignerRefusal::AmountAboveLimit);
        }
        let counted = |done: &&Done| done.order.slot.chain == order.slot.chain && done.at.0 + 24 * HOUR > now.0;
        let (paid, fees) = self.adds(order);
        let paid_before: u128 = self
            .done
            .iter()
            .filter(counted)
            .filter(|done| done.order.meaning.token() == token)
            .map(|done| done.paid)
            .sum();
        if paid > 0 && paid_before + paid > per_window {
            return Some(SignerRefusal::PaidAboveLimit);
        }
        let fees_before: u128 = self.done.iter().filter(counted).map(|done| done.fees).sum();
        (fees_before + fees > 100_000_000).then_some(SignerRefusal::FeesAboveLimit)
    }

    /// What an order adds to the earlier ones of its slot.
    fn adds(&self, order: &Order) -> (u128, u128) {
        let cost = |order: &Order| fees(order).0 * u128::from(order.gas.limit);
        let before: Vec<u128> =
            self.done.iter().filter(|done| done.order.slot == order.slot).map(|done| cost(&done.order)).collect();
        let paid = match order.meaning {
            Meaning::NativePayout { amount, .. } | Meaning::TokenPayout { amount, .. } if before.is_empty() => {
                amount.units()
            }
            _ => 0,
        };
        (paid, cost(order).saturating_sub(before.into_iter().max().unwrap_or(0)))
    }

    pub fn promised(&mut self, order: &Order, now: Time) {
        let at = self.done.iter().map(|done| done.at).fold(now, Time::max);
        let (paid, fees) = self.adds(order);
        self.done.push(Done { order: order.clone(), at, paid, fees, signed: None });
    }

    pub fn signed(&mut self, order: &Order, raw: Vec<u8>) {
        let done = self.done.iter_mut().find(|done| same(&done.order, order)).unwrap();
        done.signed = Some(raw);
    }

    /// Signed and stored, and the process crashed before it answered. Signatures are deterministic, so the test can
    /// compute the bytes.
    pub fn signed_unseen(&mut self, order: &Order) {
        let transaction = bankroll_signer::evm::sign(order, &crate::world::key()).unwrap();
        self.signed(order, transaction.raw);
    }

    pub fn revoke(&mut self, intent: &str) -> Result<(), SignerRefusal> {
        if self.done.iter().any(|done| done.order.intent.to_string() == intent) {
            return Err(SignerRefusal::IntentSigned);
        }
        self.revoked.insert(intent.to_owned());
        Ok(())
    }

    /// Holds for everything ever signed, independent of the rules: one payment per intent, one intent and one payment
    /// per nonce.
    pub fn check_promises(&self) {
        let mut of_intent: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut of_slot: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for done in self.done.iter().filter(|done| done.signed.is_some() && !is_cancel(&done.order)) {
            let payment = format!("{:?} {:?} {:?}", done.order.intent, done.order.slot, done.order.meaning);
            of_intent.entry(done.order.intent.to_string()).or_default().insert(payment.clone());
            of_slot.entry(format!("{:?}", done.order.slot)).or_default().insert(payment);
        }
        for payments in of_intent.values().chain(of_slot.values()) {
            assert_eq!(payments.len(), 1, "{payments:?}");
        }
    }
}
