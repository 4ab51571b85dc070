//! What each negative outcome of the ledger and the store means to a caller.
//!
//! "Nothing happened" and "it may have happened" are never confused: only [`SubmitFailure::Unknown`] is the second.

use bankroll_heads::HeadsError;
use bankroll_ledger::{AccountNameError, AmountError, OpenRejection, Rejection};
use bankroll_operators::OperatorRefusal;
use bankroll_registry::ActRefusal;
use bankroll_spawns::SpawnError;
use bankroll_store::{StoreError, SubmitError, SubmitFailure, SubmitRefusal};
use bankroll_withdrawals::{InvalidWithdrawal, ViewError};

use super::{ApiError, ErrorCode};

impl From<Rejection> for ApiError {
    fn from(rejection: Rejection) -> Self {
        let code = code_of(rejection);
        // What is missing and what is another's must look the same.
        if code == ErrorCode::NotFound { code.into() } else { Self::with(code, rejection.to_string()) }
    }
}

/// The code of each rejection.
#[must_use]
pub fn code_of(rejection: Rejection) -> ErrorCode {
    match rejection {
        Rejection::KeyMalformed => ErrorCode::IdempotencyKeyInvalid,
        Rejection::LegsOutOfRange => ErrorCode::LegsOutOfRange,
        Rejection::AmountZero => ErrorCode::AmountZero,
        Rejection::AccountsMustDiffer => ErrorCode::AccountsMustDiffer,
        Rejection::FactMalformed => ErrorCode::RequestTooLarge,
        Rejection::KeyNotAllowed | Rejection::HoldNeedsIntent => ErrorCode::Forbidden,
        Rejection::NotConfirmed => ErrorCode::ConfirmationNeeded,
        Rejection::KeyReused => ErrorCode::IdempotencyMismatch,
        Rejection::ServerPaused => ErrorCode::ServerPaused,
        Rejection::AccountNotFound | Rejection::HoldNotFound | Rejection::TransferNotFound => ErrorCode::NotFound,
        Rejection::NotReversible => ErrorCode::NotReversible,
        Rejection::AlreadyReversed => ErrorCode::AlreadyReversed,
        Rejection::NotAllowed => ErrorCode::RouteNotAllowed,
        Rejection::AssetMismatch => ErrorCode::AssetMismatch,
        Rejection::HoldExpired => ErrorCode::HoldExpired,
        Rejection::GuardFailed | Rejection::FactRefused => ErrorCode::Conflict,
        Rejection::HoldSettled => ErrorCode::HoldSettled,
        Rejection::HoldExceeded => ErrorCode::HoldExceeded,
        Rejection::InsufficientFunds => ErrorCode::InsufficientFunds,
        Rejection::CustodyShort => ErrorCode::CustodyShort,
        Rejection::DebtAccountNotFound => ErrorCode::DebtAccountMissing,
        Rejection::BalanceOverflow => ErrorCode::BalanceOverflow,
    }
}

impl From<SubmitRefusal> for ApiError {
    fn from(refusal: SubmitRefusal) -> Self {
        match refusal {
            SubmitRefusal::Busy => Self::with(ErrorCode::Busy, refusal.to_string()).after(1),
            SubmitRefusal::CallSize { .. } => Self::with(ErrorCode::BodyTooLarge, refusal.to_string()),
            SubmitRefusal::Stopped => Self::new(ErrorCode::Unavailable).after(1),
        }
    }
}

impl From<SubmitFailure> for ApiError {
    fn from(failure: SubmitFailure) -> Self {
        let code = match failure {
            SubmitFailure::StorageFull => ErrorCode::StorageFull,
            SubmitFailure::Locked | SubmitFailure::Unreachable => ErrorCode::Unavailable,
            SubmitFailure::Unknown => ErrorCode::OutcomeUnknown,
        };
        Self::with(code, failure.to_string()).after(1)
    }
}

impl From<SubmitError> for ApiError {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Refused(refusal) => refusal.into(),
            SubmitError::Failed(failure) => failure.into(),
        }
    }
}

impl From<StoreError> for ApiError {
    /// For reads only. The text of the error stays in the log: it names files of this machine.
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::CursorMalformed => Self::with(ErrorCode::CursorInvalid, error.to_string()),
            _ if error.is_unsound() => ErrorCode::BooksDamaged.into(),
            _ => Self::new(ErrorCode::Unavailable).after(1),
        }
    }
}

impl From<OpenRejection> for ApiError {
    fn from(rejection: OpenRejection) -> Self {
        let code = match rejection {
            OpenRejection::Owner => ErrorCode::AccountNameInvalid,
            OpenRejection::NotAllowed | OpenRejection::PolicyTooWide => ErrorCode::Forbidden,
            OpenRejection::AssetNotFound => ErrorCode::NotFound,
        };
        Self::with(code, rejection.to_string())
    }
}

impl From<AmountError> for ApiError {
    fn from(error: AmountError) -> Self {
        let code = match error {
            AmountError::Malformed => ErrorCode::AmountMalformed,
            AmountError::TooLarge => ErrorCode::AmountTooLarge,
        };
        Self::with(code, error.to_string())
    }
}

impl From<AccountNameError> for ApiError {
    fn from(error: AccountNameError) -> Self {
        Self::with(ErrorCode::AccountNameInvalid, error.to_string())
    }
}

impl From<ActRefusal> for ApiError {
    fn from(refusal: ActRefusal) -> Self {
        let refusal = match refusal {
            ActRefusal::Registry(refusal) => return refusal.into(),
            ActRefusal::Operators(refusal) => refusal,
        };
        let code = match refusal {
            OperatorRefusal::SignatureInvalid => ErrorCode::SignatureInvalid,
            OperatorRefusal::SignatureExpired => ErrorCode::SignatureExpired,
            OperatorRefusal::SignatureNeeded => ErrorCode::SignatureNeeded,
            OperatorRefusal::OtherAudience { .. } => ErrorCode::AudienceWrong,
            OperatorRefusal::UnknownKey | OperatorRefusal::NoRight { .. } => ErrorCode::Forbidden,
            OperatorRefusal::CannotGrant { .. } => ErrorCode::CannotGrant,
            OperatorRefusal::NotFound { .. } => ErrorCode::NotFound,
            OperatorRefusal::Malformed { .. } | OperatorRefusal::Body { .. } => ErrorCode::BodyInvalid,
            OperatorRefusal::ProposalEnded => ErrorCode::ProposalEnded,
            OperatorRefusal::OtherContent => ErrorCode::ProposalOtherContent,
            OperatorRefusal::AlreadySigned { .. } => ErrorCode::AlreadySigned,
            OperatorRefusal::LastOwner => ErrorCode::LastOwner,
            OperatorRefusal::AlreadyExists { .. }
            | OperatorRefusal::NoChange { .. }
            | OperatorRefusal::FirstOwnerExists => ErrorCode::Conflict,
            OperatorRefusal::ActMismatch => ErrorCode::Internal,
        };
        if code == ErrorCode::NotFound { code.into() } else { Self::with(code, refusal.to_string()) }
    }
}

impl From<SpawnError> for ApiError {
    fn from(error: SpawnError) -> Self {
        let detail = error.to_string();
        match error {
            SpawnError::Paused => Self::with(ErrorCode::ServerPaused, detail),
            SpawnError::NotFound => ErrorCode::NotFound.into(),
            SpawnError::OtherSpawn => Self::with(ErrorCode::IdempotencyMismatch, detail),
            SpawnError::DepositTaken => Self::with(ErrorCode::Conflict, detail),
            SpawnError::TooLarge => Self::with(ErrorCode::BalanceOverflow, detail),
            SpawnError::InFlight => Self::with(ErrorCode::OutcomeUnknown, detail).after(1),
            SpawnError::Rejected(rejection) => rejection.into(),
            SpawnError::Call(error) => error.into(),
            SpawnError::Store(error) => error.into(),
            SpawnError::Row(_) => ErrorCode::BooksDamaged.into(),
        }
    }
}

impl From<InvalidWithdrawal> for ApiError {
    fn from(error: InvalidWithdrawal) -> Self {
        match error {
            InvalidWithdrawal::TooLarge => Self::with(ErrorCode::AmountTooLarge, error.to_string()),
            InvalidWithdrawal::OtherServer | InvalidWithdrawal::OtherWallet => ErrorCode::NotFound.into(),
            InvalidWithdrawal::NotPayable | InvalidWithdrawal::ForeignConsent | InvalidWithdrawal::ForeignExit => {
                Self::with(ErrorCode::Forbidden, error.to_string())
            }
        }
    }
}

impl From<HeadsError> for ApiError {
    /// For reads only. What the stored tree does not prove is not answered.
    fn from(error: HeadsError) -> Self {
        match error {
            HeadsError::Store(error) => error.into(),
            _ => ErrorCode::BooksDamaged.into(),
        }
    }
}

impl From<ViewError> for ApiError {
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::Store(error) => error.into(),
            _ => ErrorCode::BooksDamaged.into(),
        }
    }
}
