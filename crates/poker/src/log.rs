//! The log that any verifier can check.
//!
//! Players and shufflers sign their messages; the operator orders them, refuses those that break a rule, and signs a
//! receipt for each event, a link of a hash chain. A hand ends with a checkpoint, and the whole hand goes into one file
//! that any verifier can check offline, down to the last proof and chip.
//!
//! It guarantees, of a bundle that verifies:
//! - every message was signed with the key that the hand bound to its seat or shuffler, for this hand, in its author's
//!   own order, and was accepted in this order by the operator;
//! - the deck was shuffled by every shuffler, every card is what the proofs make it, and no card that was not shown can
//!   be learned from it;
//! - the rules were kept, and the final stacks and the rake are what they lead to.
//!
//! It deliberately does not know: whether the operator ignored messages (no log can), what time it really was, who the
//! people behind the keys are, money, transport and storage.
//!
//! | to learn | read |
//! | --- | --- |
//! | what a hand begins with | [`HandConfig`], [`Participant`] |
//! | the messages, and how they are signed | [`LogMessage`], [`ActionEnvelope`], [`EnvelopeHeader`] |
//! | what is refused, in which order | [`MessageRejection`], [`RejectionClass`] |
//! | the referee's state | [`Table`], [`Table::state_hash`] |
//! | the operator's side | [`HandLog`], [`SubmitVerdict`], [`Evidence`] |
//! | the player's and shuffler's side | [`Party`] |
//! | receipts and what they prove | [`EventReceipt`], [`equivocation`], [`missing`] |
//! | the end of a hand | [`Checkpoint`], [`merkle`] |
//! | one hand in one file | [`Bundle`], [`Bundle::verify`], [`BundleFault`] |

mod actor;
pub mod bundle;
mod checkpoint;
mod config;
mod envelope;
mod hand_log;
mod hex;
pub mod merkle;
mod message;
mod party;
mod receipt;
mod rejection;
mod signing;
mod table;

pub use actor::Actor;
pub use bundle::{Bundle, BundleDefect, BundleError, BundleFault, VerificationReport};
pub use checkpoint::{Checkpoint, CheckpointPage, Cosignature};
pub use config::{HandConfig, HandConfigError, Participant, VERSION};
pub use envelope::{ActionEnvelope, ENVELOPE_BYTES_MAX, EnvelopeError, EnvelopeHeader, event_id};
pub use hand_log::{EVIDENCE_MAX, EventDraft, Evidence, HandLog, SubmitVerdict};
pub use hex::{Bytes, Hex, LogHash};
pub use message::{
    GameBlindingDecryptionMessage, GameCommunityShareMessage, GamePartialUnblindingShareMessage, GamePlayerMessage,
    GameShowdownMessage, GameShuffleMessage, KeyRegistrationMessage, LogMessage, MessageKind,
};
pub use party::{Distrust, Party};
pub use receipt::{ChainLink, EventReceipt, Fraud, chain, equivocation, missing};
pub use rejection::{MessageRejection, RejectionClass};
pub use signing::{MessageSigner, Signature, SignerKey};
pub use table::{ActorProgress, Table, VerifiedMessage};
