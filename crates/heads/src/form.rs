//! A published head as JSON: in the public log, in receipts, and in the files that readers keep.

use bankroll_ledger::merkle::Hash;
use bankroll_orders::ChainId;
use serde::{Deserialize, Serialize};

use crate::SignedHead;

const FORMAT: &str = "bankroll head 1";

/// The fields as they are written. Hashes, address and signature are `0x` and hexadecimal digits, as wallets' libraries
/// take them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadForm {
    pub format: String,
    pub audience: String,
    pub chain_id: u64,
    pub batch: u64,
    pub head: String,
    pub root: String,
    /// When it was signed, since 1970: `time` of the signed message.
    pub seconds: u64,
    pub address: String,
    pub signature: String,
}

/// Why a text is not a published head.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadFormError {
    #[error("the format is {found:?}, and this program supports {FORMAT:?}")]
    Format { found: String },
    #[error("{field} of the head is malformed")]
    Field { field: &'static str },
}

impl From<&SignedHead> for HeadForm {
    fn from(head: &SignedHead) -> Self {
        let hash = |hash: &Hash| format!("0x{}", hex::encode(hash));
        Self {
            format: FORMAT.into(),
            audience: head.audience.clone(),
            chain_id: head.chain.0,
            batch: head.batch,
            head: hash(&head.head),
            root: hash(&head.root),
            seconds: head.seconds,
            address: head.address.to_string(),
            signature: head.signature.to_string(),
        }
    }
}

impl TryFrom<&HeadForm> for SignedHead {
    type Error = HeadFormError;

    fn try_from(form: &HeadForm) -> Result<Self, HeadFormError> {
        if form.format != FORMAT {
            return Err(HeadFormError::Format { found: form.format.clone() });
        }
        let malformed = |field| HeadFormError::Field { field };
        Ok(Self {
            audience: form.audience.clone(),
            chain: ChainId(form.chain_id),
            batch: Some(form.batch).filter(|batch| *batch > 0).ok_or_else(|| malformed("batch"))?,
            head: hash_from_text(&form.head).ok_or_else(|| malformed("head"))?,
            root: hash_from_text(&form.root).ok_or_else(|| malformed("root"))?,
            seconds: form.seconds,
            address: form.address.parse().map_err(|_| malformed("address"))?,
            signature: form.signature.parse().map_err(|_| malformed("signature"))?,
        })
    }
}

/// A hash in 64 hexadecimal digits, with or without `0x`.
#[must_use]
pub fn hash_from_text(text: &str) -> Option<Hash> {
    let mut hash = Hash::default();
    hex::decode_to_slice(text.strip_prefix("0x").unwrap_or(text), &mut hash).ok()?;
    Some(hash)
}
