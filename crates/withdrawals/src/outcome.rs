//! The proven outcome of a payout, and the row by which the payouts role reports it to the books.
//!
//! The words of outcomes and the JSON of the report are stored: both are defined here and nowhere else.

use bankroll_ledger::{Amount, BlockRef};
use serde::{Deserialize, Serialize};

/// The kind of the rows of `payout_events` that report an outcome.
pub(crate) const PAYOUT_ENDED: &str = "payout.ended";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum PayoutOutcome {
    /// The payout is final.
    Paid,
    /// The payout is final, and the transaction failed: it moved nothing but gas.
    Reverted,
    /// The transaction that cancels it is final on its nonce.
    Cancelled,
    /// The signer promised never to sign it.
    NeverSigned,
}

/// The body of a row of `payout_events`. Its keys are stored in alphabetical order, at every depth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayoutReport {
    pub block: Option<BlockRef>,
    /// The account of the wallet that paid. The books decide whether it is one: this is text of another role.
    pub custody: String,
    /// The price of the gas that the wallet used.
    pub fee: Amount,
    pub outcome: PayoutOutcome,
    pub tx_hash: Option<String>,
}

/// A word that is no outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an outcome of a payout")]
pub struct UnknownOutcome(String);

impl PayoutOutcome {
    pub const ALL: [Self; 4] = [Self::Paid, Self::Reverted, Self::Cancelled, Self::NeverSigned];

    /// The stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Reverted => "reverted",
            Self::Cancelled => "cancelled",
            Self::NeverSigned => "never_signed",
        }
    }

    #[must_use]
    pub const fn is_paid(self) -> bool {
        matches!(self, Self::Paid)
    }

    /// Whether a player who pays for gas pays for the gas of this outcome. A cancellation is the house's expense.
    #[must_use]
    pub const fn is_players_gas(self) -> bool {
        matches!(self, Self::Paid | Self::Reverted)
    }

    /// The reason that the row of the intent states; none for a payout that is paid.
    #[must_use]
    pub fn reason(self) -> Option<&'static str> {
        (!self.is_paid()).then(|| self.as_str())
    }
}

impl From<PayoutOutcome> for &'static str {
    fn from(outcome: PayoutOutcome) -> Self {
        outcome.as_str()
    }
}

impl TryFrom<String> for PayoutOutcome {
    type Error = UnknownOutcome;

    fn try_from(word: String) -> Result<Self, UnknownOutcome> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == word).ok_or(UnknownOutcome(word))
    }
}

impl PayoutReport {
    pub(crate) fn to_json(&self) -> String {
        // Through a value, whose keys are sorted: the stored bytes do not depend on the order of fields.
        serde_json::to_value(self).expect("plain fields are JSON").to_string()
    }
}
