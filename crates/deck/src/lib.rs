//! A deck whose order no party knows and every party can check.
//!
//! Shufflers encrypt a deck of cards under their common key and put it, one after the other, into an order that none of
//! them knows unless all collude. Cards are then dealt to one player, or opened to all, by contributions of the
//! shufflers, each with a proof. This crate is all of that without a network: both sides of every step, the prover and
//! the verifier. It is pure: no IO, no clock, and randomness is an argument.
//!
//! It guarantees, for everything it accepts:
//! - the deck is the one deck, permuted and nothing else, even if every shuffler is dishonest;
//! - a contribution is what its author's key makes of that card, and of no other card, hand, seat or message;
//! - a value has one encoding, and nothing else is read;
//! - if something is false, it is refused before it has an effect, and its author is named.
//!
//! It deliberately does not know: the rules of any game, signatures and logs, transport and storage, and what time it
//! is. Its arithmetic does not take constant time.
//!
//! | to learn | read |
//! | --- | --- |
//! | which groups, and what they have in common | [`Curve`], [`Parameters`] |
//! | what a proof is bound to | [`HandId`], [`Context`], [`ProofKind`] |
//! | who takes part | [`MasterSecret`], [`SecretKey`], [`Member`], [`HandKeys`] |
//! | how a quorum can open cards instead of all | [`Dealing`], [`PolynomialCommitments`], [`SealedShare`], [`HandKeys::threshold`] |
//! | how a deck is shuffled | [`Shuffling`], [`ShuffleMessage`], [`verify_shuffles`] |
//! | how cards are dealt and opened | [`Deal`], [`Contribution`], [`Destination`], [`DealRefusal`] |
//! | how multiples are proven equal | [`Equality`], [`EqualityClaim`], [`verify_claims`] |
//! | what bytes look like | [`DeckDecodeError`], and `encode` and `decode` of each type |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic, clippy::indexing_slicing)]
#![warn(clippy::pedantic)]
#![allow(clippy::missing_panics_doc, reason = "what panics here is a bug of this crate, never input")]

mod codec;
mod combination;
mod context;
mod curve;
mod deal;
mod deck;
mod equality;
mod hash_to_group;
mod keys;
mod parameters;
mod shuffle;
mod threshold;
mod transcript;

pub use codec::{DeckDecodeError, point_bytes, scalar_bytes};
pub use context::{Context, ContextDigest, HandId, ProofKind, VERSION};
pub use curve::{Bn254, Curve, Grumpkin, Point, Scalar, Secp256k1};
pub use deal::{
    BlindedCard, Blinding, Contribution, ContributionRefusal, Deal, DealRefusal, Destination, PlanError,
    ProvenContribution, SealedCard, SeenBlindings, Share,
};
pub use deck::{Ciphertext, Deck};
pub use equality::{Equality, EqualityClaim, EqualityProof, FalseClaim, verify_claims};
pub use keys::{HandKeys, KeyError, MasterSecret, Member, MemberRole, Possession, PublicKey, SecretKey};
pub use parameters::{DECK_SIZE, DeckCard, Parameters, SizeError};
pub use shuffle::{
    ProvenShuffle, ShuffleError, ShuffleMessage, ShuffleProof, ShuffleStep, Shuffling, UnprovenShuffle, verify_shuffles,
};
pub use threshold::{Dealing, DealingError, DealtShare, PolynomialCommitments, SealedShare};

#[cfg(test)]
mod tests;
