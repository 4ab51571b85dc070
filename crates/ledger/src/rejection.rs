//! Rejections: the normal way to be told no. Values, not errors.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Why a request was not applied.
///
/// The variants stand in the order in which the rules are checked, so the first broken rule is the one reported:
/// first the form, then the request as a whole, then its legs one by one. The codes never change; the journal stores
/// them and not their places, so that a new rule can stand where it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum Rejection {
    // Form: needs no books to see. Not remembered.
    /// The key is empty, longer than 255 bytes or has control characters.
    #[error("the idempotency key must have 1 to 255 bytes and no control characters")]
    KeyMalformed,
    /// No leg, or more than sixteen.
    #[error("a request has 1 to 16 legs")]
    LegsOutOfRange,
    /// A leg of nothing.
    #[error("an amount of zero moves nothing")]
    AmountZero,
    /// Both ends of a leg are one account; for a post this is seen once its hold is known.
    #[error("the two accounts of a leg must differ")]
    AccountsMustDiffer,
    /// A fact names something that is no identifier, a reference or event is no plain text, or they are too large.
    #[error("a reference, fact or event of the request is malformed or too large")]
    FactMalformed,

    // The request as a whole. The first four are not remembered.
    /// The key lies in a namespace or scope of somebody else.
    #[error("the principal may not use keys of this namespace and scope")]
    KeyNotAllowed,
    /// An override without the yes of a second person.
    #[error("an override needs the confirmation of a second person")]
    NotConfirmed,
    /// The key was used for a request with another body.
    #[error("the idempotency key was used for another request")]
    KeyReused,
    /// The server is paused for this.
    #[error("the server is paused")]
    ServerPaused,
    /// No such account.
    #[error("there is no such account")]
    AccountNotFound,
    /// No such hold.
    #[error("there is no such hold")]
    HoldNotFound,
    /// No such transfer.
    #[error("there is no such transfer")]
    TransferNotFound,
    /// The record moved no money, or is itself a reversal.
    #[error("this transfer cannot be reversed")]
    NotReversible,
    /// It was reversed before.
    #[error("this transfer was already reversed")]
    AlreadyReversed,
    /// The principal may not do this to these accounts.
    #[error("the principal may not do this to these accounts")]
    NotAllowed,
    /// The two accounts of a leg are of different assets.
    #[error("both accounts of a leg must be of one asset")]
    AssetMismatch,
    /// The hold's time is over.
    #[error("the hold has expired")]
    HoldExpired,
    /// A row that the request depends on has changed.
    #[error("a condition of the request no longer holds")]
    GuardFailed,
    /// A fact breaks a constraint of its table.
    #[error("a fact of the request breaks a constraint of its table")]
    FactRefused,

    // The legs, one by one.
    /// The hold was posted or released in full.
    #[error("the hold is already settled")]
    HoldSettled,
    /// More is posted than the hold has left.
    #[error("the hold has less left than this")]
    HoldExceeded,
    /// The account has less available than this, held amounts not counted.
    #[error("insufficient funds")]
    InsufficientFunds,
    /// A wallet would pay out more than the books say it holds, or a debt be repaid twice. Not remembered: settlement
    /// asks again once the books have caught up with the chain.
    #[error("the wallet holds less than this, or less than this is owed")]
    CustodyShort,
    /// What is taken back was spent, and there is no account to book the debt in. Not remembered: open it and ask again.
    #[error("there is no debt account for the owner of what was spent")]
    DebtAccountNotFound,
    /// The sum would leave 128 bits.
    #[error("the balance would exceed 2^128 - 1")]
    BalanceOverflow,
}

impl Rejection {
    /// Every rejection, in the order of the enum.
    pub const ALL: [Self; 25] = [
        Self::KeyMalformed,
        Self::LegsOutOfRange,
        Self::AmountZero,
        Self::AccountsMustDiffer,
        Self::FactMalformed,
        Self::KeyNotAllowed,
        Self::NotConfirmed,
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
