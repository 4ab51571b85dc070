//! Rejections: the normal negative outcomes. Values, not errors.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Why a request was not applied.
///
/// The variants are in the order in which the rules are checked, so the first broken rule is reported: first the form,
/// then the request as a whole, then its legs one by one. The codes never change. The journal stores codes and not
/// positions, so that a new rule can be added where it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum Rejection {
    // Form: checked without the books. Not remembered.
    #[error("the idempotency key must have 1 to 255 bytes and no control characters")]
    KeyMalformed,
    /// A request without legs is legal only if it has facts: an act that moves no money.
    #[error("a request has 1 to 16 legs, or facts alone")]
    LegsOutOfRange,
    #[error("an amount of zero moves nothing")]
    AmountZero,
    /// For a post this is known only once its hold is found.
    #[error("the two accounts of a leg must differ")]
    AccountsMustDiffer,
    /// A fact names an illegal identifier, a reference or event is not plain text, or they are too large.
    #[error("a reference, fact or event of the request is malformed or too large")]
    FactMalformed,

    // The request as a whole. The first five are not remembered.
    /// The key is in a namespace or scope of another principal.
    #[error("the principal may not use keys of this namespace and scope")]
    KeyNotAllowed,
    #[error("an override needs the confirmation of a second operator")]
    NotConfirmed,
    /// Money that only the system frees would stay held for ever without a payout that ends.
    #[error("a hold that only the system frees must name its payout intent, and make the row of it")]
    HoldNeedsIntent,
    #[error("the idempotency key was used for another request")]
    KeyReused,
    #[error("the server is paused")]
    ServerPaused,
    #[error("there is no such account")]
    AccountNotFound,
    #[error("there is no such hold")]
    HoldNotFound,
    #[error("there is no such transfer")]
    TransferNotFound,
    /// The record moved no money, or is itself a reversal.
    #[error("this transfer cannot be reversed")]
    NotReversible,
    #[error("this transfer was already reversed")]
    AlreadyReversed,
    #[error("the principal may not do this to these accounts")]
    NotAllowed,
    #[error("both accounts of a leg must be of one asset")]
    AssetMismatch,
    #[error("the hold has expired")]
    HoldExpired,
    /// A row that the request depends on has changed.
    #[error("a condition of the request no longer holds")]
    GuardFailed,
    #[error("a fact of the request breaks a constraint of its table")]
    FactRefused,

    // The legs, one by one.
    #[error("the hold is already settled")]
    HoldSettled,
    #[error("the hold has less left than this")]
    HoldExceeded,
    /// The account has less available than this; held amounts are not available.
    #[error("insufficient funds")]
    InsufficientFunds,
    /// A wallet would pay out more than its balance in the books, or a debt be repaid twice. Not remembered:
    /// settlement retries once the books have caught up with the chain.
    #[error("the wallet holds less than this, or less than this is owed")]
    CustodyShort,
    /// The money to return was spent, and there is no account for the debt. Not remembered: open it and retry.
    #[error("there is no debt account for the owner of what was spent")]
    DebtAccountNotFound,
    #[error("the balance would exceed 2^128 - 1")]
    BalanceOverflow,
}

impl Rejection {
    /// Every rejection, in the order of the enum.
    pub const ALL: [Self; 26] = [
        Self::KeyMalformed,
        Self::LegsOutOfRange,
        Self::AmountZero,
        Self::AccountsMustDiffer,
        Self::FactMalformed,
        Self::KeyNotAllowed,
        Self::NotConfirmed,
        Self::HoldNeedsIntent,
        Self::KeyReused,
        Self::ServerPaused,
        Self::AccountNotFound,
        Self::HoldNotFound,
        Self::TransferNotFound,
        Self::NotReversible,
        Self::AlreadyReversed,
        Self::NotAllowed,
        Self::AssetMismatch,
        Self::HoldExpired,
        Self::GuardFailed,
        Self::FactRefused,
        Self::HoldSettled,
        Self::HoldExceeded,
        Self::InsufficientFunds,
        Self::CustodyShort,
        Self::DebtAccountNotFound,
        Self::BalanceOverflow,
    ];

    /// Whether the key keeps this answer for ever. A verdict about money is final, so that a retry cannot succeed by
    /// surprise; a form error, a pause, another's key, or books that settlement must wait for leave no trace.
    #[must_use]
    pub fn is_remembered(self) -> bool {
        self >= Self::AccountNotFound && !matches!(self, Self::CustodyShort | Self::DebtAccountNotFound)
    }

    /// The stable code that callers see.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::KeyMalformed => "key_malformed",
            Self::LegsOutOfRange => "legs_out_of_range",
            Self::AmountZero => "amount_zero",
            Self::AccountsMustDiffer => "accounts_must_differ",
            Self::FactMalformed => "fact_malformed",
            Self::KeyNotAllowed => "key_not_allowed",
            Self::NotConfirmed => "not_confirmed",
            Self::HoldNeedsIntent => "hold_needs_intent",
            Self::KeyReused => "key_reused",
            Self::ServerPaused => "server_paused",
            Self::AccountNotFound => "account_not_found",
            Self::HoldNotFound => "hold_not_found",
            Self::TransferNotFound => "transfer_not_found",
            Self::NotReversible => "not_reversible",
            Self::AlreadyReversed => "already_reversed",
            Self::NotAllowed => "not_allowed",
            Self::AssetMismatch => "asset_mismatch",
            Self::HoldExpired => "hold_expired",
            Self::GuardFailed => "guard_failed",
            Self::FactRefused => "fact_refused",
            Self::HoldSettled => "hold_settled",
            Self::HoldExceeded => "hold_exceeded",
            Self::InsufficientFunds => "insufficient_funds",
            Self::CustodyShort => "custody_short",
            Self::DebtAccountNotFound => "debt_account_not_found",
            Self::BalanceOverflow => "balance_overflow",
        }
    }
}

impl Serialize for Rejection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Rejection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = String::deserialize(deserializer)?;
        let known = Self::ALL.into_iter().find(|rejection| rejection.code() == code);
        known.ok_or_else(|| de::Error::custom("a rejection that this program does not know"))
    }
}
