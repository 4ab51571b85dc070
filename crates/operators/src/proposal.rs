//! Proposals: acts that need several people.

use std::{collections::BTreeMap, fmt, str::FromStr};

use bankroll_ledger::{Name, Time};
use bankroll_orders::Address;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{ProposalContent, role::UnknownOperatorWord};

/// How long a proposal waits for signatures unless its author says less: three days, in microseconds.
pub const PROPOSAL_LIFETIME: u64 = 3 * 24 * 3600 * 1_000_000;

/// A proposal's own name: `prp_` and 32 hexadecimal digits, which follow from its author and the key of their request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProposalId(pub [u8; 16]);

/// What is proposed, by whom, and who agreed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proposal {
    pub id: ProposalId,
    pub content: ProposalContent,
    pub author: Name,
    pub proposed_at: Time,
    pub expires_at: Time,
    /// Everyone who signed it, the author included, with the key of each.
    pub signed_by: BTreeMap<Name, Address>,
    /// Of the last signature, in the order of the log: the journal names it.
    pub confirmed_by: Option<Name>,
    pub status: ProposalStatus,
    /// When it stopped being open.
    pub ended_at: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalStatus {
    Open,
    /// Enough people have signed: it takes effect once.
    Confirmed,
    Rejected,
    /// Too late for another signature.
    Expired,
}

impl Proposal {
    /// Its status at a time: an open one expires by itself.
    #[must_use]
    pub fn status_at(&self, now: Time) -> ProposalStatus {
        match self.status {
            ProposalStatus::Open if self.expires_at <= now => ProposalStatus::Expired,
            status => status,
        }
    }
}

impl ProposalId {
    /// The proposal that this request of this person makes: the same request again makes the same.
    #[must_use]
    pub fn of(author: &Name, request_key: &str) -> Self {
        let hash = Sha256::new().chain_update(b"bankroll proposal 1\0").chain_update(author.as_str());
        let hash: [u8; 32] = hash.chain_update([0]).chain_update(request_key).finalize().into();
        let mut id = [0; 16];
        id.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
        Self(id)
    }
}

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "prp_{}", hex::encode(self.0))
    }
}

impl FromStr for ProposalId {
    type Err = UnknownOperatorWord;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix("prp_").ok_or(UnknownOperatorWord)?;
        let mut bytes = [0; 16];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| UnknownOperatorWord)?;
        // One spelling only.
        if digits.bytes().any(|digit| digit.is_ascii_uppercase()) { Err(UnknownOperatorWord) } else { Ok(Self(bytes)) }
    }
}

impl TryFrom<String> for ProposalId {
    type Error = UnknownOperatorWord;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ProposalId> for String {
    fn from(id: ProposalId) -> Self {
        id.to_string()
    }
}
