//! Shuffles with a zero-knowledge proof.
//!
//! A shuffle puts a deck into an order that only the shuffler knows and encrypts every card anew. The proof is a
//! one-row Bayer-Groth argument: a commitment to the permutation, an argument that it is one (a product that only
//! permutations have), and an argument that the same permutation leads from the old deck to the new. It contains
//! neither the order nor the randomness.
//!
//! | to learn | read |
//! | --- | --- |
//! | who shuffles what, and when | [`Shuffling`], [`ShuffleMessage`] |
//! | how the order is drawn | `permutation` |
//! | how the deck is encrypted anew | `reencrypt` |
//! | how that is proven | `prove` |
//! | how proofs are checked, one or many at once | [`verify_shuffles`] |

pub(crate) mod chain;
mod permutation;
mod proof;
mod prove;
mod reencrypt;
pub(crate) mod verify;

pub use chain::{ProvenShuffle, ShuffleMessage, Shuffling, UnprovenShuffle};
pub use proof::ShuffleProof;
pub use verify::{ShuffleError, ShuffleStep, verify_shuffles};

pub(crate) use permutation::Permutation;
pub(crate) use prove::prove;
pub(crate) use reencrypt::{Witness, shuffle};
