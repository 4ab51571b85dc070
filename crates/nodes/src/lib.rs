//! Calls between the nodes of a deployment.
//!
//! Only one node at a time may write the books. The others forward: a call is one request of the Funds API, as its
//! caller sent it.
//!
//! It guarantees:
//! - both ends prove who they are (mutual TLS 1.3, one authority per deployment), and a certificate names the node and
//!   the roles it may act for; a node that has no `books` role cannot pose as the books, and no node can name a
//!   caller: only a node of role `api` relays, and the proof of the caller is in what it relays;
//! - a call that may have happened is never reported as one that did not: it is retried with the same keys, at the
//!   present holder of the books, until there is an answer or the deadline passes; then it is reported as unknown;
//! - a certificate that expires or is revoked ends the open connections of its node, and a renewed one is used without
//!   a restart;
//! - memory is bounded by frames, calls in flight, handshakes and connections, on both sides; a malformed frame ends
//!   only its own connection, and peers without a certificate cannot keep nodes out.
//!
//! It does not know: where the books are stored, which node holds them (the caller provides a lookup), what a request
//! means.
//!
//! | to learn | read |
//! | --- | --- |
//! | roles and their rights | [`NodeRole`], `rights.rs` |
//! | certificates | [`Authority`], [`NodeIdentity`] |
//! | the protocol | [`wire`] |
//! | requests of the Funds API | [`RelayedRequest`], [`RelayHandler`] |
//! | the books' side | [`NodeServer`], [`CallHandler`]; [`LocalServer`] for commands on the same machine |
//! | the caller's side | [`Forwarder`], [`CallError`] |

mod authority;
mod credentials;
mod forwarder;
mod identity;
mod name;
mod relay;
mod rights;
mod role;
mod server;
pub mod wire;

pub use authority::{Authority, AuthorityError, CA_CERTIFICATE, CA_KEY, REVOCATION_LIST};
pub use forwarder::{BooksLocation, CallError, Forwarder, PendingCall, UnavailableReason};
pub use identity::{NodeClock, NodeIdentity, NodeIdentityError, certificate_file, key_file};
pub use name::{NodeName, NodeNameError};
pub use relay::{RELAYED_HEADERS_MAX, RelayHandler, RelayedRequest, RelayedResponse};
pub use role::{NodeRole, NodeRoles, UnknownRole};
pub use server::{CallHandler, LocalServer, NodeServer, NodeServerError};
pub use wire::CallRefusal;
