//! Why a plan or a contribution was refused.

use crate::DeckCard;

/// Why a hand cannot be dealt by a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Not one destination for each card.
    #[error("the plan has {found} positions, the deck {expected}")]
    Length { expected: usize, found: usize },
    /// A card for a seat at which nobody registered a key.
    #[error("position {position} goes to seat {seat}, where nobody sits")]
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
    /// What this builds on is not there yet.
    #[error("the card at position {position} is not that far")]
    TooEarly { position: u8 },
    /// The same was already contributed.
    #[error("the card at position {position} already has this contribution")]
    Repeated { position: u8 },
    /// The blinding was used before, or is somebody's key.
    #[error("the blinding of position {position} was used before")]
    BlindingReused { position: u8 },
    /// All blindings together are none, or cancel the card's own encryption.
    #[error("the blindings of position {position} cancel out")]
    Degenerate { position: u8 },
    /// The proof does not prove it.
    #[error("the contribution to position {position} is not proven")]
    NotProven { position: u8 },
    /// What comes out is no card: the deck was not what its proofs said, or the secret is another's.
    #[error("what comes out at position {position} is no card")]
    NotACard { position: u8 },
    /// A card that already lies open elsewhere.
    #[error("card {card} at position {position} already lies open at {first}")]
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
