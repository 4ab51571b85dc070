//! The Funds API: HTTP for game servers, players and the owner.
//!
//! The [`router`] runs in the process that holds the books and decides everything itself, from the raw request: who the
//! caller is, what they may do, and what the ledger says. The [`front`] is the part that faces the network; it may run
//! in another process, and then it can claim nothing.
//!
//! It guarantees:
//! - a change takes effect once for each key of its caller, and a retry gets the same answer;
//! - an answer that says "nothing happened" is true; what may have happened is `outcome_unknown`;
//! - what is missing and what is another's answer alike;
//! - a pause or a revocation is effective for every call that is enqueued after its answer;
//! - a body has one meaning: unknown, duplicate and mistyped fields are refused.
//!
//! It does not know: what a transfer is good for, how chains are read, private keys.
//!
//! | to learn | read |
//! | --- | --- |
//! | every operation | `routes/`, one file per resource, and `/docs` of a running service |
//! | every error | [`ErrorCode`], `docs/errors/` |
//! | what a request must look like | [`input`] |
//! | who may do what | `state/gate.rs`, and the table in `tests/it/matrix.rs` |
//! | limits | [`front::FrontConfig`], [`input`] |

pub mod errors;
mod events_page;
pub mod front;
pub mod input;
mod money;
mod routes;
mod state;

pub use errors::{ApiError, ErrorCode};
pub use routes::{openapi, router};
pub use state::{AcquireError, ContractAnswer, Funds, FundsSettings, UrlCheck};
