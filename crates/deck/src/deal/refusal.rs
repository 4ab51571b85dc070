//! Why a plan or a contribution was refused.

use crate::DeckCard;

/// Why a hand cannot be dealt by a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Not one destination for each card.
    #[error("the plan has {found} positions, the deck {expected}")]
    Length { expected: usize, found: usize },
    /// A card for a seat without a registered key.
    #[error("position {position} goes to seat {seat}, which has no player")]
    EmptySeat { position: u8, seat: u8 },
}

/// The first rule that a contribution breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DealRefusal {
    /// The deck has no such position.
    #[error("there is no position {position}")]
    NoSuchPosition { position: u8 },
    /// The hand has no such shuffler.
    #[error("there is no shuffler {shuffler}")]
    NoSuchShuffler { shuffler: u8 },
    /// The shuffler is not among those who blind in this hand.
    #[error("shuffler {shuffler} does not blind in this hand")]
    NotABlinder { shuffler: u8 },
    /// The card goes elsewhere: a hole card is not opened as a community card, nor the other way round.
    #[error("the card at position {position} is not dealt that way")]
    WrongDestination { position: u8 },
    /// The card belongs to another seat.
    #[error("the card at position {position} does not belong to seat {seat}")]
    WrongSeat { position: u8, seat: u8 },
    /// The secret is not that of the registered key.
    #[error("the secret does not belong to the registered key")]
    WrongKey,
    /// An earlier contribution is missing.
    #[error("the card at position {position} is not ready for this contribution")]
    TooEarly { position: u8 },
    /// This contribution was already made.
    #[error("the card at position {position} already has this contribution")]
    Repeated { position: u8 },
    /// The blinding was used before, or is a registered key.
    #[error("the blinding of position {position} was used before")]
    BlindingReused { position: u8 },
    /// The blindings cancel each other, or cancel the card's own encryption.
    #[error("the blindings of position {position} cancel out")]
    Degenerate { position: u8 },
    /// The proof does not prove it.
    #[error("the contribution to position {position} is not proven")]
    NotProven { position: u8 },
    /// The opened point is not a card: the deck differs from what its proofs said, or the secret belongs to another
    /// key.
    #[error("the point opened at position {position} is not a card")]
    NotACard { position: u8 },
    /// A card that is already open at another position.
    #[error("card {card} at position {position} is already open at {first}")]
    DuplicateCard {
        card: DeckCard,
        position: u8,
        /// Where it was seen first.
        first: u8,
    },
}

/// Which of several contributions was refused, and why. None of them was taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("contribution {index}: {refusal}")]
pub struct ContributionRefusal {
    /// Which of them; the first, if there are several.
    pub index: usize,
    pub refusal: DealRefusal,
}
