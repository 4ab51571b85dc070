//! The status of an intent, and every transition of it. Pure.
//!
//! | from | event | to | carried out by |
//! | --- | --- | --- | --- |
//! | (new) | the amount is within the policy | `approved` | [`Intents::create`](crate::Intents::create) |
//! | (new) | the amount is above the policy | `awaiting_approval` | [`Intents::create`](crate::Intents::create) |
//! | `awaiting_approval` | approve | `approved` | nothing yet |
//! | `awaiting_approval` | reject | `failed` | nothing yet |
//! | `approved` | the payout is paid | `completed` | [`settlement`](crate::settlement) |
//! | `approved` | the payout is proven unpaid | `failed` | [`settlement`](crate::settlement) |
//!
//! `completed` and `failed` are final. Approval and rejection have no command yet: an intent above the policy keeps its
//! hold, and stays in `awaiting_approval`. A cancellation is no transition: it stops the payout's job, whose outcome
//! settles the intent.

use bankroll_ledger::{Amount, Row};
use bankroll_store::columns::{BadRow, text_of};

use crate::outcome::PayoutOutcome;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IntentStatus {
    /// The money is held; the payout needs an approval.
    AwaitingApproval,
    /// The money is held; the payout may be made.
    Approved,
    /// The payout is final on the chain, and the hold is posted.
    Completed,
    /// It is proven that nothing is paid, and the hold is released.
    Failed,
}

/// Something that changes the status of an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentEvent {
    Approve,
    Reject,
    /// The payout ended.
    Settle(PayoutOutcome),
}

/// The amounts that need no approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApprovalPolicy {
    /// The largest amount that is paid at once; more needs an approval.
    pub at_once: Amount,
}

impl ApprovalPolicy {
    /// The status of a new intent.
    #[must_use]
    pub fn first_status(self, amount: Amount) -> IntentStatus {
        if amount <= self.at_once { IntentStatus::Approved } else { IntentStatus::AwaitingApproval }
    }
}

impl IntentStatus {
    pub const ALL: [Self; 4] = [Self::AwaitingApproval, Self::Approved, Self::Completed, Self::Failed];

    /// The status after an event; `None` if the event cannot happen to an intent of this status.
    #[must_use]
    pub const fn after(self, event: IntentEvent) -> Option<Self> {
        match (self, event) {
            (Self::AwaitingApproval, IntentEvent::Approve) => Some(Self::Approved),
            (Self::AwaitingApproval, IntentEvent::Reject) => Some(Self::Failed),
            (Self::Approved, IntentEvent::Settle(PayoutOutcome::Paid)) => Some(Self::Completed),
            (
                Self::Approved,
                IntentEvent::Settle(PayoutOutcome::Reverted | PayoutOutcome::Cancelled | PayoutOutcome::NeverSigned),
            ) => Some(Self::Failed),
            (Self::AwaitingApproval, IntentEvent::Settle(_))
            | (Self::Approved, IntentEvent::Approve | IntentEvent::Reject)
            | (Self::Completed | Self::Failed, _) => None,
        }
    }

    /// Whether the money is posted or released: nothing happens to the intent any more.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }

    /// The stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AwaitingApproval => "awaiting_approval",
            Self::Approved => "approved",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// The status in the column `status` of a row. An unknown word is an error: its meaning is not guessed.
    pub(crate) fn of_row(row: &Row) -> Result<Self, BadRow> {
        let word = text_of(row, "status")?;
        Self::ALL.into_iter().find(|status| status.as_str() == word).ok_or(BadRow { column: "status" })
    }
}
