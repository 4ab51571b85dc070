//! Receipts: the operator's signature that an event is the next link of the hand's chain.
//!
//! Each link hashes the one before and the event, so a receipt stands for everything up to it. A receipt that the final
//! log does not contain, or two receipts for one place, are proof of fraud that any verifier can check. No receipt can
//! prove that the operator ignored a message.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{
    HandConfig, LogHash,
    hex::Hex,
    signing::{MessageSigner, Signature, SignerKey},
};
use crate::{
    HandTime,
    codec::{self, HandDecodeError},
};

const DOMAIN: &str = "bankroll receipt 1";

/// What a receipt says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainLink {
    /// The operator's deployment.
    pub deployment: String,
    /// The game within it.
    pub game: String,
    /// The hand within the game.
    pub hand: String,
    /// The event's place in the hand, from 0.
    pub seq: u64,
    pub event: LogHash,
    /// The chain before it; before the first event, the hash of the configuration.
    pub previous: LogHash,
    /// The chain after it.
    pub chain: LogHash,
    /// When the operator took it.
    pub at: HandTime,
}

/// A signed link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventReceipt {
    pub link: ChainLink,
    /// Made by the operator.
    pub signature: Signature,
}

/// The chain after an event.
#[must_use]
pub fn chain(previous: &LogHash, event: &LogHash) -> LogHash {
    let domain = Sha256::new().chain_update(b"bankroll chain 1\0");
    Hex(domain.chain_update(previous.0).chain_update(event.0).finalize().into())
}

impl ChainLink {
    /// The next link of a hand.
    #[must_use]
    pub fn next(config: &HandConfig, seq: u64, event: LogHash, previous: LogHash, at: HandTime) -> Self {
        let (deployment, game, hand) = (config.deployment.clone(), config.game.clone(), config.hand.clone());
        Self { deployment, game, hand, seq, event, previous, chain: chain(&previous, &event), at }
    }
}

impl EventReceipt {
    #[must_use]
    pub fn issue(link: ChainLink, operator: &MessageSigner) -> Self {
        let signature = operator.sign(DOMAIN, &codec::encode(&link));
        Self { link, signature }
    }

    /// Whether the owner of this key signed it.
    #[must_use]
    pub fn is_signed_by(&self, operator: &SignerKey) -> bool {
        operator.signed(DOMAIN, &codec::encode(&self.link), &self.signature)
    }

    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Reads a receipt.
    ///
    /// # Errors
    /// If the bytes are not the one form of a receipt.
    pub fn decode(bytes: &[u8]) -> Result<Self, HandDecodeError> {
        codec::decode(bytes)
    }
}

/// What two receipts, or a receipt and a log, prove about the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fraud {
    /// An event that was accepted is not in the log.
    #[error("the event of the receipt for place {seq} is not in the log")]
    Missing { seq: u64 },
    /// Two events in one place.
    #[error("two receipts for place {seq}")]
    Equivocation { seq: u64 },
}

/// Whether two receipts, both signed by the operator, are of two histories of one hand.
#[must_use]
pub fn equivocation(one: &EventReceipt, two: &EventReceipt, operator: &SignerKey) -> Option<Fraud> {
    let place = |receipt: &EventReceipt| {
        let link = &receipt.link;
        (link.deployment.clone(), link.game.clone(), link.hand.clone(), link.seq)
    };
    let signed = [one, two].iter().all(|receipt| receipt.is_signed_by(operator));
    let two_histories = place(one) == place(two) && one.link != two.link;
    (signed && two_histories).then_some(Fraud::Equivocation { seq: one.link.seq })
}

/// Whether a receipt, signed by the operator, is for an event that these receipts of a finished log do not have.
#[must_use]
pub fn missing(receipt: &EventReceipt, log: &[EventReceipt], operator: &SignerKey) -> Option<Fraud> {
    let same_hand = |other: &&EventReceipt| {
        let (one, two) = (&receipt.link, &other.link);
        (&one.deployment, &one.game, &one.hand) == (&two.deployment, &two.game, &two.hand)
    };
    let of_this_hand = log.first().is_some_and(|first| same_hand(&first));
    let there = log.iter().any(|other| other.link == receipt.link);
    let gone = of_this_hand && !there && receipt.is_signed_by(operator);
    gone.then_some(Fraud::Missing { seq: receipt.link.seq })
}
