//! What is signed: one published head.

use bankroll_ledger::merkle::Hash;
use bankroll_orders::{
    Address, ChainId,
    typed_data::{self, B256, PublishedHead, SignatureError, WalletSignature},
};

/// A head of the journal with the signature of the deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedHead {
    /// The public name of the deployment.
    pub audience: String,
    /// The chain in the domain of the signature.
    pub chain: ChainId,
    pub batch: u64,
    /// The head of the hash chain after this batch.
    pub head: Hash,
    /// The root of the tree over the heads of batches 1 to this one.
    pub root: Hash,
    /// When it was signed, in seconds since 1970.
    pub seconds: u64,
    /// Whose key signed it.
    pub address: Address,
    pub signature: WalletSignature,
}

/// Why a signed head counts for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadRefusal {
    #[error("the signature of the head is malformed: {0}")]
    Signature(#[from] SignatureError),
    #[error("the head names {named}, and its signature is not of that key")]
    NotSigned { named: Address },
    #[error("the head is signed by {named}, and not by {expected}")]
    OtherSigner { named: Address, expected: Address },
}

impl SignedHead {
    /// The hash that the deployment signs.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let message = PublishedHead {
            audience: self.audience.clone(),
            batch: self.batch,
            head: B256::from(self.head),
            root: B256::from(self.root),
            time: self.seconds,
        };
        typed_data::digest(&message, self.chain)
    }

    /// Checks that the key of the named address signed exactly this, and that it is the expected one, if one is.
    ///
    /// # Errors
    /// As [`HeadRefusal`] says.
    pub fn verify(&self, expected: Option<Address>) -> Result<(), HeadRefusal> {
        let named = self.address;
        if typed_data::recover(&self.digest(), &self.signature)? != named {
            return Err(HeadRefusal::NotSigned { named });
        }
        match expected {
            Some(expected) if expected != named => Err(HeadRefusal::OtherSigner { named, expected }),
            _ => Ok(()),
        }
    }
}
