//! Nonces that were used, so that a signed message has one effect.

use std::{fmt, str::FromStr};

use bankroll_ledger::{Fact, Row, Time};
use bankroll_orders::Address;
use bankroll_store::columns::{BadRow, parsed, text, time};
use serde::{Deserialize, Serialize};

use crate::{
    entry::{column, new_row, shown, string_of, time_of},
    wallet::UnknownWord,
};

/// What a nonce was for. A nonce of one purpose says nothing about another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoncePurpose {
    Registration,
    OpenSession,
    SignIn,
}

/// A nonce that is used up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedNonce {
    pub purpose: NoncePurpose,
    pub nonce: NonceText,
    /// From this time on the message is refused because of its age, and memory can forget the nonce.
    pub expires_at: Time,
    pub used_at: Time,
}

/// A nonce as rows have it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NonceText(String);

impl NonceText {
    /// A nonce that a signer chose: it is that signer's own, and cannot occupy another's.
    #[must_use]
    pub fn chosen_by(signer: Address, nonce: &[u8; 32]) -> Self {
        Self(format!("{}:{}", signer.lower_hex(), hex::encode(nonce)))
    }

    /// A nonce that the books issued: used once by any wallet.
    #[must_use]
    pub fn issued(nonce: &str) -> Self {
        Self(nonce.to_owned())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl UsedNonce {
    pub(crate) const TABLE: &'static str = "used_nonces";

    pub(crate) fn fact(&self) -> Fact {
        let key = vec![column("purpose", shown(&self.purpose)), column("nonce", text(self.nonce.as_str()))];
        let set = vec![column("expires_at", time(self.expires_at)), column("used_at", time(self.used_at))];
        new_row(Self::TABLE, key, set)
    }

    pub(crate) fn from_row(row: &Row) -> Result<Self, BadRow> {
        Ok(Self {
            purpose: parsed(row, "purpose")?,
            nonce: NonceText(string_of(row, "nonce")?),
            expires_at: time_of(row, "expires_at")?,
            used_at: time_of(row, "used_at")?,
        })
    }
}

impl NoncePurpose {
    /// The word in rows.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Registration => "registration",
            Self::OpenSession => "open_session",
            Self::SignIn => "sign_in",
        }
    }
}

impl fmt::Display for NoncePurpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for NoncePurpose {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let all = [Self::Registration, Self::OpenSession, Self::SignIn];
        all.into_iter().find(|purpose| purpose.as_str() == text).ok_or(UnknownWord)
    }
}
