//! Why a hand cannot be read or written.

use crate::{CardError, HandRefusal, SnapshotError};

/// Why a hand cannot be read from PHH, or written to it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PhhError {
    /// Not TOML, or a field is missing or of the wrong type.
    #[error("not a PHH file: {why}")]
    Malformed { why: String },
    /// Another game.
    #[error("variant {variant:?} is not no-limit hold'em (NT)")]
    Variant { variant: String },
    /// A negative number, a fraction, or one beyond 63 bits, which TOML cannot hold.
    #[error("{field} must be whole numbers from 0 to 2^63 - 1")]
    NotWholeChips { field: &'static str },
    /// Lists of players that differ in length.
    #[error("{field} has {given} entries for {players} players")]
    Length { field: &'static str, players: usize, given: usize },
    /// Antes that differ between seats.
    #[error("antes that differ are not played here")]
    UnequalAntes,
    /// Anything but a small and a big blind of the first two, or a least bet other than the big blind.
    #[error("only a small and a big blind are played here, and the least bet is the big blind")]
    Straddles,
    /// The seat numbers do not go round the table.
    #[error("the seats are not in the order of play")]
    SeatOrder,
    /// The stacks and seats are no hand.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A line of the actions is none that hold'em has.
    #[error("cannot read the action {line:?}")]
    Action { line: String },
    /// A card in a line is no card.
    #[error("in the action {line:?}: {cause}")]
    Card {
        line: String,
        /// What is wrong with it.
        #[source]
        cause: CardError,
    },
    /// The rules refuse an action.
    #[error("action {place} is against the rules: {refusal}")]
    Refused {
        /// Its place among the actions, from 1; one more than there are for the showdown that the file leaves out.
        place: usize,
        #[source]
        refusal: HandRefusal,
    },
    /// A seat should show cards that the file does not give.
    #[error("action {place} shows cards that are not known")]
    UnknownCards {
        /// Its place among the actions, from 1.
        place: usize,
    },
    /// The hand ended differently from what the file says.
    #[error("the file's finishing stacks are not what the actions lead to")]
    FinishingStacks,
    /// A void hand has no history.
    #[error("a void hand is not written")]
    Void,
}
