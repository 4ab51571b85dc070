//! The people who run a deployment: their roles and keys, acts that need several of them, and the log of what they did.
//!
//! The audit log is the truth. [`Operators`] is what its entries make, from the first owner on; [`Operators::enter`] is
//! the one place that decides whether an entry may follow, for a live request and for a replay alike. It is pure: no IO,
//! no clock, no randomness.
//!
//! It guarantees:
//! - an entry that changes anything carries the signature of a person over the exact request, and is refused without;
//! - an act that needs several people takes effect with the signature of the last of them, once, with the content that
//!   each of them signed; a person counts once, whatever keys and roles they have;
//! - no person and no program gets a right that the person who proposed or made it does not have;
//! - entries are hashed one after the other: an entry cannot be changed, removed or put in between.
//!
//! It deliberately does not know: HTTP, rows, session tokens, what a money request does (the ledger decides that).
//!
//! | to learn | read |
//! | --- | --- |
//! | what a role may do | [`OperatorRole`], [`Right`] |
//! | what people do | [`Act`], [`ProposalContent`] |
//! | an entry of the log, and its proof | [`LogEntry`], [`Proof`], [`SignedRequest`] |
//! | the rules | [`Operators::enter`], [`OperatorRefusal`] |
//! | what the books do after an entry | [`Effect`] |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic, clippy::indexing_slicing)]

mod act;
mod log;
mod operators;
mod person;
mod proposal;
mod refusal;
mod request_act;
mod role;
mod signed_request;
mod texts;

pub use act::{Act, ProposalContent};
pub use log::{ActHash, AuthorName, LogEntry, Proof};
pub use operators::{Effect, LogError, Operators, QUORUM_OF_ONE};
pub use person::{OperatorSession, Person, PersonKey, ProgramKey};
pub use proposal::{PROPOSAL_LIFETIME, Proposal, ProposalId, ProposalStatus};
pub use refusal::OperatorRefusal;
pub use request_act::NewProgramKey;
pub use role::{OperatorRole, Right, Rights, UnknownOperatorWord};
pub use signed_request::{SIGNED_AHEAD_MAX, SIGNED_SKEW, SignedRequest};

#[cfg(test)]
mod tests;
