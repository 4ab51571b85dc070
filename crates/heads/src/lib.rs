//! Published heads: signed statements of a deployment about its journal, and proofs that lead to them.
//!
//! A head of the hash chain commits to every record before it. A published head adds the root of a Merkle tree over the
//! heads of all batches, the time, and a signature of the deployment (EIP-712). A reader who keeps one can check later,
//! with proofs of a few hundred bytes, that the journal still begins with it, and that a record is part of it.
//!
//! It guarantees:
//! - a head is signed only if the journal still has the head that was published before it, the stored tree has the root
//!   that was published, and every batch in between continues the hash chain; otherwise nothing is signed;
//! - a head and the nodes of the tree that it completes are written together or not at all, and never changed;
//! - publishing writes rows and no records, so it never publishes because it has published;
//! - a proof reads at most 256 batches for each end, and one row for each level above them.
//!
//! It has no clock, thread or key of its own. It deliberately does not know: which address a reader trusts, HTTP, files.
//!
//! | to learn | read |
//! | --- | --- |
//! | what is signed, and how it is written down | [`SignedHead`], [`HeadForm`] |
//! | publishing | [`publish`], [`HeadSigner`] |
//! | the log, and consistency between two of its heads | [`views`] |
//! | receipts with the names of accounts | [`receipts`] |
//! | comparing the log and the tree with the journal | [`audit`] |
//! | the tables | [`HEADS`], `migrations/` |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic)]

pub mod audit;
mod error;
mod form;
mod grants;
pub mod publish;
pub mod receipts;
mod rows;
mod signed_head;
mod tree;
pub mod views;

pub use error::HeadsError;
pub use form::{HeadForm, HeadFormError, hash_from_text};
pub use grants::HEADS_GRANTS;
pub use publish::{HeadSigner, PublishedRound};
pub use receipts::{HeadReceipt, RECEIPT_FORMAT};
pub use rows::HEADS;
pub use signed_head::{HeadRefusal, SignedHead};
