//! Orders: what the signer may be told to sign, as one value of a closed list.
//!
//! An order says everything that its transaction says, and nothing of the transaction's bytes: those the signer makes
//! itself. Sweeps, treasury moves and gas top-ups will be further meanings at the end of the list.

use std::fmt;

use bankroll_money::{Amount, Name, Time};
use serde::{Deserialize, Serialize};

use crate::{
    Address, Gas, MalformedMessage,
    canonical::{self, OrderDigest},
};

/// The number of a chain (EIP-155).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChainId(pub u64);

/// What somebody wants paid, once. Never used for anything else, on no chain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IntentId(pub Name);

/// One order; a replacement of it is another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderId(pub Name);

/// The one place on a chain that a transaction takes: of all that are signed for it, one can ever be mined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot {
    /// The chain.
    pub chain: ChainId,
    /// The wallet that pays.
    pub wallet: Address,
    /// Its count of transactions before this one.
    pub nonce: u64,
}

/// What a transaction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Meaning {
    /// Pays the chain's own coin.
    NativePayout {
        /// Who is paid.
        to: Address,
        /// How much.
        amount: Amount,
    },
    /// Pays a token, by the `transfer` of its contract.
    TokenPayout {
        /// The token's contract.
        token: Address,
        /// Who is paid.
        to: Address,
        /// How much.
        amount: Amount,
    },
    /// Nothing, from the wallet to itself: takes the nonce away from the intent, which is never signed again.
    Cancel,
}

/// One order to sign.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Order {
    /// This order.
    pub id: OrderId,
    /// What it is for.
    pub intent: IntentId,
    /// Where on which chain.
    pub slot: Slot,
    /// What it does.
    pub meaning: Meaning,
    /// What it may cost.
    pub gas: Gas,
    /// After this nobody wants it signed any more.
    pub expires: Time,
}

impl Meaning {
    /// The token it pays; `None` is the chain's own coin.
    #[must_use]
    pub const fn token(&self) -> Option<Address> {
        match self {
            Self::TokenPayout { token, .. } => Some(*token),
            Self::NativePayout { .. } | Self::Cancel => None,
        }
    }

    /// Who is paid how much; nobody by a cancel.
    #[must_use]
    pub const fn payment(&self) -> Option<(Address, Amount)> {
        match self {
            Self::NativePayout { to, amount } | Self::TokenPayout { to, amount, .. } => Some((*to, *amount)),
            Self::Cancel => None,
        }
    }
}

impl Order {
    /// The one encoding of the order.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        canonical::encode(self)
    }

    /// Reads [`Order::encode`] back.
    ///
    /// # Errors
    /// Bytes that are no order's encoding.
    pub fn decode(bytes: &[u8]) -> Result<Self, MalformedMessage> {
        canonical::decode(bytes, "order")
    }

    /// Stands for the order with everything in it; what approvals will be over.
    #[must_use]
    pub fn digest(&self) -> OrderDigest {
        canonical::digest("bankroll order 1", self)
    }

    /// Stands for what the order does, whatever it may cost and until when. A replacement has the same, and a price that
    /// [outbids](crate::Price::outbids) the one before.
    #[must_use]
    pub fn payload(&self) -> OrderDigest {
        canonical::digest("bankroll payload 1", &(&self.intent, &self.slot, &self.meaning, self.gas.limit))
    }

    /// Stands for the transaction's content: two orders with the same one make the same bytes.
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
