//! How one node of a deployment asks another.
//!
//! Only one node at a time may write the books. The others forward: a call is one batch of ledger requests, each with its
//! principal and key, and comes back with one answer each. This crate is the way there and back.
//!
//! It guarantees:
//! - both ends prove who they are (mutual TLS 1.3, one authority per deployment), and a certificate names the node and the
//!   roles it may act for; a node that has no `books` role cannot pose as the books, and no node can claim a principal that
//!   its roles do not speak for ([`Rights`]);
//! - a call that may have happened is never told as one that did not: it is made again under the same keys, to whoever holds
//!   the books then, until there is an answer or the deadline is over; then it is told as unknown;
//! - memory is bounded by frames, calls in flight and connections, on both sides; a frame that makes no sense ends its own
//!   connection and nothing else.
//!
//! It does not know: where the books are kept, who holds them (it is told, and told again when that was wrong), what a
//! request means.
//!
//! | to learn | read |
//! | --- | --- |
//! | which roles there are, and what each may ask | [`NodeRole`], [`Rights`] |
//! | how certificates are made and read | [`Authority`], [`NodeIdentity`] |
//! | what goes over the wire | [`wire`] |
//! | the books' side | [`NodeServer`], [`CallHandler`] |
//! | the other side | [`Forwarder`], [`CallError`] |

mod authority;
mod forwarder;
mod identity;
mod name;
mod rights;
mod role;
mod server;
pub mod wire;

pub use authority::{Authority, AuthorityError, CA_CERTIFICATE, CA_KEY};
pub use bankroll_ledger::Answer;
pub use forwarder::{BooksLocation, CallError, Forwarder, PendingCall, UnavailableReason};
pub use identity::{NodeIdentity, NodeIdentityError, certificate_file, key_file};
pub use name::{NodeName, NodeNameError};
pub use rights::{PrincipalClaim, Rights};
pub use role::{NodeRole, NodeRoles, UnknownRole};
pub use server::{CallHandler, NodeServer, NodeServerError};
pub use wire::CallRefusal;
// TEMPORARY aliases of old names.
#[rustfmt::skip]
pub use self::{BooksLocation as BooksAt, PrincipalClaim as Claim, CallHandler as Desk, NodeIdentity as Identity, NodeIdentityError as IdentityError, PendingCall as Pending, CallRefusal as Refusal, NodeServer as Server, NodeServerError as ServerError, UnavailableReason as Trouble};
