//! What is wrong with a bundle, where, and who is responsible.

use bankroll_deck::ShuffleError;

use crate::{
    Seat,
    log::{Actor, EnvelopeError, MessageRejection, RejectionClass},
};

/// The first defect, where it is, and who is responsible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{defect} ({}{responsible} is responsible)", place(*.seq), sender(*.author, *.responsible))]
pub struct BundleFault {
    /// The event, if it is one.
    pub seq: Option<u64>,
    /// The author: the signer of a message; the operator for receipts, the checkpoint and unsigned bytes.
    pub author: Actor,
    /// Who is responsible: the author, if the message is false at any time; the operator, if it was only out of place,
    /// because the operator placed it there.
    pub responsible: Actor,
    pub defect: BundleDefect,
}

/// What is wrong with a bundle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleDefect {
    /// There is no event at all.
    #[error("there is no event")]
    Empty,
    /// An event's bytes are no envelope.
    #[error("not an envelope: {0}")]
    Envelope(#[from] EnvelopeError),
    /// The receipt is of another hand, place, event or chain.
    #[error("the receipt does not belong here")]
    Chain,
    /// The receipt is not signed by the operator.
    #[error("the receipt is not signed by the operator")]
    Receipt,
    /// The checkpoint is not of this hand, these events and this chain, or not signed by the operator.
    #[error("the operator did not sign this checkpoint for these events")]
    Checkpoint,
    /// Not the operator that was expected.
    #[error("the hand was run by another operator")]
    Operator,
    /// An unknown curve.
    #[error("cards are sealed on {curve:?}, which is not known here")]
    Curve {
        /// What the hand says.
        curve: String,
    },
    /// The event should have been refused.
    #[error("{0}")]
    Rejected(#[from] MessageRejection),
    /// There are more events after the settlement, or there is none.
    #[error("the log does not end with its settlement")]
    Unsettled,
    /// The events lead to another state than the checkpoint says.
    #[error("the events lead to another state, or other stacks, than the checkpoint says")]
    State,
    /// A signature of the final stacks is not the player's.
    #[error("the final stacks are not signed by {seat}")]
    Cosignature { seat: Seat },
}

fn place(seq: Option<u64>) -> String {
    seq.map_or_else(String::new, |seq| format!("event {seq}: "))
}

fn sender(author: Actor, responsible: Actor) -> String {
    if author == responsible { String::new() } else { format!("{author} sent it, but ") }
}

impl BundleFault {
    pub(super) fn operator(seq: Option<u64>, defect: impl Into<BundleDefect>) -> Self {
        Self { seq, author: Actor::Operator, responsible: Actor::Operator, defect: defect.into() }
    }

    /// An event that should not have been taken, by the author that its header names.
    pub(super) fn rejected(seq: u64, author: Actor, rejection: MessageRejection) -> Self {
        if !rejection.is_evidence() {
            return Self::operator(Some(seq), rejection);
        }
        let out_of_place = matches!(rejection.class(), RejectionClass::Conflict | RejectionClass::OutOfTurn)
            || matches!(
                rejection,
                MessageRejection::Shuffle(ShuffleError::WrongInput { .. } | ShuffleError::NoSuchStep { .. })
            );
        let responsible = if out_of_place { Actor::Operator } else { author };
        Self { seq: Some(seq), author, responsible, defect: rejection.into() }
    }
}
