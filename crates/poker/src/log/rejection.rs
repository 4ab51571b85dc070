//! Why a message was refused: the first broken rule, in the order in which they are checked.
//!
//! Up to the signature a rejection accuses no actor: the sender of those bytes is unknown. From the nonce on, the
//! author signed what was refused, and the bytes are evidence.

use bankroll_deck::{self as deck, KeyError, ShuffleError};

use super::{Actor, EnvelopeError, HandConfigError, MessageKind};
use crate::{HandRefusal, HandTime, MissingParty, PhaseName, Street};

/// Why a message was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageRejection {
    /// Not the bytes of an envelope.
    #[error("not an envelope: {0}")]
    Malformed(#[from] EnvelopeError),
    /// For another hand, game or deployment.
    #[error("the envelope is for another hand")]
    WrongHand,
    /// The author has no part in this hand.
    #[error("{actor} has no part in this hand")]
    NotAMember { actor: Actor },
    /// Not signed with the key that is bound to its author.
    #[error("not signed with the key of {actor}")]
    BadSignature { actor: Actor },

    // From here on the author is known.
    /// Not the next of its author's messages: a used number with other bytes, or a number too far ahead.
    #[error("the next message of {actor} is number {expected}, not {found}")]
    NonceConflict { actor: Actor, expected: u64, found: u64 },
    /// It names a wrong previous message of its author.
    #[error("{actor} names a wrong previous message")]
    WrongPrevious { actor: Actor },
    /// Another actor sends such messages.
    #[error("{actor} may not send {kind:?}")]
    NotAllowed { actor: Actor, kind: MessageKind },
    /// The log is closed.
    #[error("the hand is settled")]
    Closed,
    /// The message does not belong to this phase.
    #[error("{kind:?} cannot be sent while the hand is in {phase:?}")]
    WrongPhase { kind: MessageKind, phase: PhaseName },
    /// It is another's turn to shuffle.
    #[error("it is not the turn of {actor} to shuffle")]
    NotYourTurn { actor: Actor },
    /// The actor has registered a key.
    #[error("{actor} has already registered a key")]
    AlreadyRegistered { actor: Actor },
    /// A betting decision for another street.
    #[error("a decision for {named:?}, but it is {street:?}")]
    WrongStreet { named: Street, street: Street },
    /// A betting decision whose author had not seen the last betting event.
    #[error("decided before the last betting event was seen")]
    StaleDecision,
    /// A card that is not of the street that is being opened, or never opened at all.
    #[error("the card at position {position} is not opened now")]
    NotOpenedNow { position: u8 },
    /// Cards that the plan did not give this seat, or in another order.
    #[error("these are not the cards of {actor}")]
    NotYourCards { actor: Actor },
    /// A part of the message does not decode.
    #[error("a part of the message: {0}")]
    Part(#[from] deck::DeckDecodeError),
    #[error("{0}")]
    Key(#[from] KeyError),
    #[error("{0}")]
    Shuffle(#[from] ShuffleError),
    /// The contribution to a card is refused.
    #[error("{0}")]
    Card(#[from] deck::DealRefusal),
    /// The rules of the game refuse it.
    #[error("{0}")]
    Rules(#[from] HandRefusal),
    /// The hand cannot begin with this configuration.
    #[error("{0}")]
    Config(#[from] HandConfigError),
    /// A time-out for a wrong deadline.
    #[error("wrong deadline: {}", deadline.map_or_else(|| "there is none now".into(), |at| format!("it is {at}")))]
    WrongDeadline {
        /// The real one, if there is one.
        deadline: Option<HandTime>,
    },
    /// The participants blamed for a void hand are not the awaited ones.
    #[error("wrong blame: the hand waits for {}", MissingParty::list(awaited))]
    WrongBlame { awaited: Vec<MissingParty> },
    /// The final stacks or the rake differ from the state of the hand.
    #[error("the settlement differs from the state of the hand")]
    WrongSettlement,
    /// Earlier than the last event.
    #[error("at {at}, which is before the last event at {last}")]
    TimeWentBack { at: HandTime, last: HandTime },
}

/// How a caller should treat a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectionClass {
    /// The bytes are wrong (400).
    Malformed,
    /// No member of the hand signed them (401, 403).
    Identity,
    /// The nonce, or the last event that the author has seen, is behind or ahead (409).
    Conflict,
    /// Not now, or not this actor (422).
    OutOfTurn,
    /// A proof, a rule or a sum is false (422).
    Unsound,
}

impl MessageRejection {
    /// How a caller should treat it.
    #[must_use]
    pub const fn class(&self) -> RejectionClass {
        match self {
            Self::Malformed(_) => RejectionClass::Malformed,
            Self::WrongHand | Self::NotAMember { .. } | Self::BadSignature { .. } => RejectionClass::Identity,
            Self::NonceConflict { .. } | Self::WrongPrevious { .. } | Self::StaleDecision => RejectionClass::Conflict,
            Self::NotAllowed { .. }
            | Self::Closed
            | Self::WrongPhase { .. }
            | Self::NotYourTurn { .. }
            | Self::AlreadyRegistered { .. }
            | Self::WrongStreet { .. }
            | Self::NotOpenedNow { .. }
            | Self::TimeWentBack { .. }
            | Self::Rules(
                HandRefusal::NotYourTurn { .. } | HandRefusal::WrongPhase { .. } | HandRefusal::HandIsOver { .. },
            )
            | Self::Card(deck::DealRefusal::TooEarly { .. } | deck::DealRefusal::Repeated { .. }) => {
                RejectionClass::OutOfTurn
            }
            _ => RejectionClass::Unsound,
        }
    }

    /// Whether the author signed what was refused, so that the bytes are evidence.
    #[must_use]
    pub const fn is_evidence(&self) -> bool {
        !matches!(self.class(), RejectionClass::Malformed | RejectionClass::Identity)
    }
}
