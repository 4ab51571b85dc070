//! Orders: what the signer can be asked to sign, as one value of a closed list.
//!
//! An order determines its transaction completely but contains none of its bytes: the signer makes those itself.
//! Sweeps, treasury moves and gas top-ups will be further meanings at the end of the list.

use std::fmt;

use bankroll_money::{Amount, Name, Time};
use serde::{Deserialize, Serialize};

use crate::{
    Address, Gas, MalformedMessage,
    canonical::{self, OrderDigest},
};

/// A chain id (EIP-155).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChainId(pub u64);

/// Identifies one payment. It is never reused, on any chain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IntentId(pub Name);

/// Identifies one order; a replacement has another id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderId(pub Name);

/// A nonce of a wallet on a chain. Of all transactions signed for one slot, at most one is ever mined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot {
    pub chain: ChainId,
    pub wallet: Address,
    pub nonce: u64,
}

/// What a transaction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Meaning {
    /// Pays the chain's native coin.
    NativePayout { to: Address, amount: Amount },
    /// Pays a token through `transfer` of its contract.
    TokenPayout { token: Address, to: Address, amount: Amount },
    /// Pays nothing, from the wallet to itself. It uses up the intent's nonce; the signer never signs the intent again.
    Cancel,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Order {
    pub id: OrderId,
    pub intent: IntentId,
    pub slot: Slot,
    pub meaning: Meaning,
    pub gas: Gas,
    /// The signer refuses the order from this time on.
    pub expires: Time,
}

impl Meaning {
    /// The token it pays; `None` for the native coin.
    #[must_use]
    pub const fn token(&self) -> Option<Address> {
        match self {
            Self::TokenPayout { token, .. } => Some(*token),
            Self::NativePayout { .. } | Self::Cancel => None,
        }
    }

    /// The recipient and the amount; `None` for a cancel.
    #[must_use]
    pub const fn payment(&self) -> Option<(Address, Amount)> {
        match self {
            Self::NativePayout { to, amount } | Self::TokenPayout { to, amount, .. } => Some((*to, *amount)),
            Self::Cancel => None,
        }
    }
}

impl Order {
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        canonical::encode(self)
    }

    /// Reads [`Order::encode`] back.
    ///
    /// # Errors
    /// The bytes are not the encoding of an order.
    pub fn decode(bytes: &[u8]) -> Result<Self, MalformedMessage> {
        canonical::decode(bytes, "order")
    }

    /// Covers the whole order; approvals will sign this digest.
    #[must_use]
    pub fn digest(&self) -> OrderDigest {
        canonical::digest("bankroll order 1", self)
    }

    /// Covers what the order does, without its price and expiry. A replacement has the same payload, and a price that
    /// [outbids](crate::Price::outbids) the previous one.
    #[must_use]
    pub fn payload(&self) -> OrderDigest {
        canonical::digest("bankroll payload 1", &(&self.intent, &self.slot, &self.meaning, self.gas.limit))
    }

    /// Covers the content of the transaction: orders with equal content produce the same bytes.
    #[must_use]
    pub fn content(&self) -> OrderDigest {
        canonical::digest("bankroll transaction 1", &(&self.intent, &self.slot, &self.meaning, &self.gas))
    }
}

impl fmt::Display for ChainId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for IntentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
