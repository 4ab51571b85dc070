//! Records: the entries of the journal. Replaying them in order rebuilds the books, with nothing else.

use serde::{Deserialize, Serialize};

use crate::{
    AccountId, AccountName, AccountPolicy, Amount, Asset, AssetId, Hold, Principal, Rejection, Request, Seq,
    merkle::Hash,
};

/// The version of the encoding, the first byte of every record.
const VERSION: u8 = 1;

/// One entry of the journal.
#[expect(clippy::large_enum_variant, reason = "nearly every record is the large one")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    AssetListed { id: AssetId, asset: Asset },
    AccountOpened { id: AccountId, name: AccountName, policy: AccountPolicy, by: Principal },
    Decided { request: Request, verdict: Verdict },
    HoldExpired(HoldChange),
    LossAccepted(AcceptedLoss),
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Applied(Effects),
    /// Never applied under this key.
    Rejected(Rejection),
}

/// The changes made by an applied request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effects {
    /// In order. A leg that repaid a debt, or could not return everything, is two postings.
    pub postings: Vec<Posting>,
    /// The holds it made or changed, each as it is afterwards.
    pub holds: Vec<HoldChange>,
    pub reverses: Option<Seq>,
}

/// One movement of money with both balances after it: one line in each of two statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posting {
    pub from: AccountId,
    pub to: AccountId,
    pub amount: Amount,
    pub from_after: Amount,
    pub to_after: Amount,
}

/// A hold after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldChange {
    pub hold: Hold,
    /// The sum held in its account after the change.
    pub held_after: Amount,
}

/// Acknowledged records that are gone from the journal, and the person who accepted that the books go on without them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedLoss {
    /// The newest batch that is known to have been there.
    pub batch: u64,
    /// A record of that batch.
    pub seq: Seq,
    /// The head of the chain after that batch.
    pub head: Hash,
    pub by: String,
    pub why: String,
}

/// Bytes that are not a record of a known version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a record cannot be read: {}", .version.map_or_else(|| "it is empty".to_owned(), |version| format!("its version is {version}")))]
pub struct RecordError {
    /// The version byte, if there was one.
    pub version: Option<u8>,
}

impl Record {
    /// The record as the journal stores it and the Merkle leaf hashes it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(160);
        bytes.push(VERSION);
        postcard::to_extend(self, bytes).expect("encoding into memory cannot fail")
    }

    /// Appends [`Record::Decided`] as [`Record::encode`] would encode it, from a request that was encoded before
    /// ([`Request::encode`]): the writer is the bottleneck, so callers encode their requests themselves.
    pub fn append_decided(bytes: &mut Vec<u8>, request: &[u8], verdict: &Verdict) {
        // The position of the variant in the enum, as postcard encodes it; a test keeps the two equal.
        bytes.extend([VERSION, 2]);
        bytes.extend(request);
        *bytes = postcard::to_extend(verdict, std::mem::take(bytes)).expect("encoding into memory cannot fail");
    }

    /// Reads [`Record::encode`] back.
    ///
    /// # Errors
    /// If the bytes are not exactly one record of a version this program knows.
    pub fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        let bad = || RecordError { version: bytes.first().copied() };
        let Some((&VERSION, body)) = bytes.split_first() else { return Err(bad()) };
        match postcard::take_from_bytes(body) {
            Ok((record, [])) => Ok(record),
            _ => Err(bad()),
        }
    }
}
