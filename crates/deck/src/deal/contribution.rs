//! Contributions: parts together with where they belong.

use crate::{Blinding, Curve, EqualityClaim, ProofKind, Share};

/// What a shuffler or player contributes to the card at a position. The caller has checked who sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contribution<C: Curve> {
    /// A shuffler blinds a hole card.
    Blinding {
        /// The shuffler's index in the hand's keys.
        shuffler: u8,
        position: u8,
        blinding: Blinding<C>,
    },
    /// A shuffler removes its layer from a blinded hole card.
    Unblinding { shuffler: u8, position: u8, share: Share<C> },
    /// A shuffler removes its layer from a community card.
    Community { shuffler: u8, position: u8, share: Share<C> },
    /// A player opens their hole card to all.
    Showdown { seat: u8, position: u8, share: Share<C> },
}

/// A contribution whose proof was checked for one claim; see [`Deal::check`](crate::Deal::check).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenContribution<C: Curve> {
    pub(super) contribution: Contribution<C>,
    pub(super) claim: EqualityClaim<C>,
}

impl<C: Curve> Contribution<C> {
    #[must_use]
    pub const fn position(&self) -> u8 {
        match self {
            Self::Blinding { position, .. }
            | Self::Unblinding { position, .. }
            | Self::Community { position, .. }
            | Self::Showdown { position, .. } => *position,
        }
    }

    #[must_use]
    pub const fn kind(&self) -> ProofKind {
        match self {
            Self::Blinding { .. } => ProofKind::Blinding,
            Self::Unblinding { .. } => ProofKind::Unblinding,
            Self::Community { .. } => ProofKind::Community,
            Self::Showdown { .. } => ProofKind::Showdown,
        }
    }
}
