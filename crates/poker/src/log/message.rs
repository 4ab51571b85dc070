//! The messages of a log.
//!
//! Cryptographic parts are carried as the deck's own bytes: they have one encoding there, and are read only once all
//! that is cheaper to check has been checked. Nothing that each party can derive is in a message.

use serde::{Deserialize, Serialize};

use super::{HandConfig, hex::Bytes};
use crate::{Chips, HandTime, PlayerAction, Seat, Street, VoidCause};

/// A betting decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GamePlayerMessage {
    /// On which street, so that a decision that comes late is not taken for another.
    pub street: Street,
    pub action: PlayerAction,
}

/// A shuffle: the hash of the deck it starts from, the new deck, the proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameShuffleMessage {
    /// The bytes of a [`bankroll_deck::ShuffleMessage`].
    pub shuffle: Bytes,
}

/// A shuffler blinds a hole card for its player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameBlindingDecryptionMessage {
    pub card_in_deck_position: u8,
    /// The bytes of a [`bankroll_deck::Blinding`].
    pub share: Bytes,
}

/// A shuffler removes its layer from a blinded hole card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GamePartialUnblindingShareMessage {
    pub card_in_deck_position: u8,
    /// The bytes of a [`bankroll_deck::Share`], with its proof.
    pub share: Bytes,
}

/// A shuffler removes its layer from a community card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameCommunityShareMessage {
    pub card_in_deck_position: u8,
    /// The bytes of a [`bankroll_deck::Share`], with its proof.
    pub share: Bytes,
}

/// A player opens their two cards to all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameShowdownMessage {
    /// The positions that the plan gave the seat, in its order.
    pub card_in_deck_position: [u8; 2],
    /// The bytes of a [`bankroll_deck::Share`] for each, with its proof.
    pub shares: [Bytes; 2],
}

/// A player or shuffler registers the key that seals their cards, or their layer of the deck, in this hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRegistrationMessage {
    /// The bytes of a [`bankroll_deck::PublicKey`].
    pub key: Bytes,
    /// The bytes of a [`bankroll_deck::Possession`].
    pub possession: Bytes,
}

/// The content of an envelope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogMessage {
    /// The operator starts the hand.
    HandStart(Box<HandConfig>),
    /// A player or shuffler registers a key for this hand.
    KeyRegistration(KeyRegistrationMessage),
    /// A shuffler shuffled.
    Shuffle(GameShuffleMessage),
    /// A shuffler blinds a hole card.
    Blinding(GameBlindingDecryptionMessage),
    /// A shuffler removes its layer from a hole card.
    Unblinding(GamePartialUnblindingShareMessage),
    /// A shuffler removes its layer from a community card.
    Community(GameCommunityShareMessage),
    /// A player bets, calls, checks or folds.
    Player(GamePlayerMessage),
    /// A player shows their cards.
    Showdown(GameShowdownMessage),
    /// A player gives up at the showdown.
    Muck,
    /// The operator calls time on a seat.
    TimeOut { seat: Seat, deadline: HandTime },
    /// The operator was away, and the awaited seat or shufflers get their full time again.
    ClockRestart,
    /// The operator calls the hand off.
    Cancellation {
        /// Why, and who is to blame.
        cause: VoidCause,
    },
    /// The operator closes the log with the final stacks.
    Settlement {
        /// By seat, smallest number first.
        stacks: Vec<(Seat, Chips)>,
        /// What the house took.
        rake: Chips,
    },
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    HandStart,
    KeyRegistration,
    Shuffle,
    Blinding,
    Unblinding,
    Community,
    Player,
    Showdown,
    Muck,
    TimeOut,
    ClockRestart,
    Cancellation,
    Settlement,
}

impl LogMessage {
    #[must_use]
    pub const fn kind(&self) -> MessageKind {
        match self {
            Self::HandStart(_) => MessageKind::HandStart,
            Self::KeyRegistration(_) => MessageKind::KeyRegistration,
            Self::Shuffle(_) => MessageKind::Shuffle,
            Self::Blinding(_) => MessageKind::Blinding,
            Self::Unblinding(_) => MessageKind::Unblinding,
            Self::Community(_) => MessageKind::Community,
            Self::Player(_) => MessageKind::Player,
            Self::Showdown(_) => MessageKind::Showdown,
            Self::Muck => MessageKind::Muck,
            Self::TimeOut { .. } => MessageKind::TimeOut,
            Self::ClockRestart => MessageKind::ClockRestart,
            Self::Cancellation { .. } => MessageKind::Cancellation,
            Self::Settlement { .. } => MessageKind::Settlement,
        }
    }
}
