//! Requests: what a caller asks the ledger to do, as a whole or not at all.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    AccountId, Amount, Column, ColumnValue, Confirmation, Fact, Guard, HoldId, IdempotencyKey, Name, Principal,
    Rejection, Seq, Time, fact::is_storable,
};

pub const LEGS_MAX: usize = 16;
/// The most facts, and the most events, in one request.
pub const FACTS_MAX: usize = 16;
/// The most bytes that facts and events of one request may take together.
pub const EXTRAS_BYTES_MAX: usize = 16 * 1024;

/// One atomic request under one idempotency key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub key: IdempotencyKey,
    pub principal: Principal,
    /// For an override: the operator who agreed.
    pub confirmation: Option<Confirmation>,
    pub action: Action,
    #[serde(default)]
    pub references: References,
    /// Rows of flows, checked and written in the same commit.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// Events, announced in the same commit.
    #[serde(default)]
    pub events: Vec<Event>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// One to sixteen legs, of any kind; none for an act that records facts and moves no money.
    Legs(Vec<Leg>),
    /// Reverses what the request at this position moved. What was spent meanwhile becomes its owner's debt.
    Reverse(Seq),
}

/// One step of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Leg {
    Move {
        from: AccountId,
        to: AccountId,
        amount: Amount,
    },
    /// Reserves an amount in its account.
    Hold {
        account: AccountId,
        amount: Amount,
        /// A time after the year 294,000 means never.
        expires: Option<Time>,
        settler: Settler,
    },
    /// Moves all or part of a hold. The rest stays held.
    Post {
        hold: HoldId,
        to: AccountId,
        amount: Amount,
    },
    /// Makes the rest of a hold available again.
    Release {
        hold: HoldId,
    },
}

/// The role that may post or release a hold; the system always may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settler {
    /// The role that made it: a reservation.
    Holder,
    /// Only Bankroll: a payout, which must not be released while its transaction may still pay.
    System,
}

/// The objects that a request refers to: they cannot be added to the journal later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct References {
    pub deposit: Option<String>,
    pub intent: Option<String>,
    pub tx_hash: Option<String>,
    pub hand: Option<String>,
    /// The block in which a custody leg took effect on chain.
    pub block: Option<BlockRef>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockRef {
    pub number: u64,
    pub hash: String,
}

/// An announcement for the outbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Its type: `deposit.credited`.
    pub kind: Name,
    /// Its subject: `dep_01h...`.
    pub resource: String,
    pub body: String,
}

/// The hash of a request's canonical body.
pub type BodyHash = [u8; 32];

impl Request {
    /// Checks what needs no books: the form, and whether the caller may use the key at all.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), Rejection> {
        self.check_form()?;
        if !self.principal.may_use_key(self.key.namespace, &self.key.scope, &self.key.text) {
            return Err(Rejection::KeyNotAllowed);
        }
        if let Principal::Admin(person) = &self.principal
            && self.moves_money()
            && self.confirmation.as_ref().is_none_or(|yes| yes.by == *person)
        {
            return Err(Rejection::NotConfirmed);
        }
        if self.principal != Principal::System && self.holds_for_system() && !self.makes_its_intent() {
            return Err(Rejection::HoldNeedsIntent);
        }
        Ok(())
    }

    /// Whether it can change a balance or a hold. A request without legs records facts alone.
    fn moves_money(&self) -> bool {
        !matches!(&self.action, Action::Legs(legs) if legs.is_empty())
    }

    fn holds_for_system(&self) -> bool {
        let for_system = |leg: &Leg| matches!(leg, Leg::Hold { settler: Settler::System, .. });
        matches!(&self.action, Action::Legs(legs) if legs.iter().any(for_system))
    }

    /// Whether it makes the row of the intent that it names, by which the system will free what is held.
    fn makes_its_intent(&self) -> bool {
        let Some(intent) = &self.references.intent else { return false };
        let is_its_key = |column: &Column| matches!(&column.1, ColumnValue::Text(key) if key == intent);
        let makes = |fact: &Fact| fact.guard == Guard::Absent && fact.row.columns.first().is_some_and(is_its_key);
        self.facts.iter().any(makes)
    }

    fn check_form(&self) -> Result<(), Rejection> {
        if !self.key.is_well_formed() {
            return Err(Rejection::KeyMalformed);
        }
        if let Action::Legs(legs) = &self.action {
            if legs.len() > LEGS_MAX || (legs.is_empty() && self.facts.is_empty()) {
                return Err(Rejection::LegsOutOfRange);
            }
            if legs.iter().any(|leg| leg.amount().is_some_and(Amount::is_zero)) {
                return Err(Rejection::AmountZero);
            }
            if legs.iter().any(|leg| matches!(leg, Leg::Move { from, to, .. } if from == to)) {
                return Err(Rejection::AccountsMustDiffer);
            }
        }
        if self.extras_are_well_formed() { Ok(()) } else { Err(Rejection::FactMalformed) }
    }

    /// The hash by which two requests under one key are compared: principal, confirmation, action, references, facts
    /// and events in their canonical encoding, with the version of that encoding.
    #[must_use]
    pub fn body_hash(&self) -> BodyHash {
        let body = (&self.principal, &self.confirmation, &self.action, &self.references, &self.facts, &self.events);
        let bytes = postcard::to_stdvec(&body).expect("encoding into memory cannot fail");
        Sha256::new().chain_update(b"bankroll request body 1\0").chain_update(bytes).finalize().into()
    }

    /// The bytes of the request inside its record.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_extend(self, Vec::with_capacity(128)).expect("encoding into memory cannot fail")
    }

    fn extras_are_well_formed(&self) -> bool {
        if self.facts.is_empty() && self.events.is_empty() && self.references == References::default() {
            return true;
        }
        let text_is_fine = |text: &String| (1..=255).contains(&text.len()) && !text.chars().any(char::is_control);
        let References { deposit, intent, tx_hash, hand, block } = &self.references;
        let block_hash = block.as_ref().map(|block| &block.hash);
        let mut texts = [deposit.as_ref(), intent.as_ref(), tx_hash.as_ref(), hand.as_ref(), block_hash]
            .into_iter()
            .flatten()
            .chain(self.events.iter().map(|event| &event.resource));
        texts.all(text_is_fine)
            && self.facts.len() <= FACTS_MAX
            && self.events.len() <= FACTS_MAX
            && self.facts.iter().all(Fact::is_well_formed)
            && self.events.iter().all(|event| is_storable(&event.body))
            && postcard::to_stdvec(&(&self.facts, &self.events)).is_ok_and(|bytes| bytes.len() <= EXTRAS_BYTES_MAX)
    }
}

impl Leg {
    /// A release has none.
    #[must_use]
    pub const fn amount(&self) -> Option<Amount> {
        match self {
            Self::Move { amount, .. } | Self::Hold { amount, .. } | Self::Post { amount, .. } => Some(*amount),
            Self::Release { .. } => None,
        }
    }
}
