//! Records: what the journal keeps. Replaying them in order, and nothing else, gives the books.

use serde::{Deserialize, Serialize};

use crate::{AccountId, AccountName, AccountPolicy, Amount, Asset, AssetId, Hold, Principal, Rejection, Request, Seq};

/// The version of the encoding, the first byte of every record.
const VERSION: u8 = 1;

/// One entry of the journal.
#[expect(clippy::large_enum_variant, reason = "nearly every record is the large one")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// An asset was listed.
    AssetListed {
        /// Its number.
        id: AssetId,
        /// What it is.
        asset: Asset,
    },
    /// An account was opened.
    AccountOpened {
        /// Its number.
        id: AccountId,
        /// Its name.
        name: AccountName,
        /// Who may do what with it.
        policy: AccountPolicy,
        /// Who opened it.
        by: Principal,
    },
    /// A request was decided.
    Decided {
        /// The request, whole.
        request: Request,
        /// What became of it.
        verdict: Verdict,
    },
    /// A hold's time was over.
    HoldExpired(HoldChange),
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It was applied, with these effects.
    Applied(Effects),
    /// It was not, and never will be under this key.
    Rejected(Rejection),
}

/// What an applied request did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effects {
    /// The money it moved, in order. A leg that repaid a debt, or could not take everything back, is two postings.
    pub postings: Vec<Posting>,
    /// The holds it made or changed, each as it stands afterwards.
    pub holds: Vec<HoldChange>,
    /// The transfer that it took back.
    pub reverses: Option<Seq>,
}

/// Money that moved, with both balances after it: one line of two statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posting {
    /// Out of this account.
    pub from: AccountId,
    /// Into this one.
    pub to: AccountId,
    /// So much.
    pub amount: Amount,
    /// The balance of `from` after it.
    pub from_after: Amount,
    /// The balance of `to` after it.
    pub to_after: Amount,
}

/// A hold after a change, with what its account holds in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldChange {
    /// The hold.
    pub hold: Hold,
    /// All that is held in its account after the change.
    pub held_after: Amount,
}

/// Bytes that are not a record of a known version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the journal has a record that cannot be read (version {version:?})")]
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
    /// ([`Request::encode`]): the writer's time is the scarcest there is, and callers have encoded theirs already.
    pub fn append_decided(bytes: &mut Vec<u8>, request: &[u8], verdict: &Verdict) {
        // The variant's place in the enum, as its encoding has it; a test keeps the two equal.
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
