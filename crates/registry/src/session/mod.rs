//! Sessions: who a token speaks for.
//!
//! A token is its claims with a MAC over them, under a secret that only the books have. The node that relays a token
//! cannot make one, nor change one. Verification reads no database: the MAC, the expiry, the key that opened the
//! session, and the list of revoked sessions are all in memory.
//!
//! The secret is a row of `session_keys` and deliberately not a fact: the journal is read by more people than the
//! books' own tables.

mod claims;
mod keys;
mod token;

pub use claims::{Caller, RevokedSession, SessionClaims, SessionId};
pub use keys::{SESSION_LIFETIME, SessionKeys, SessionSecret, as_developer};
pub use token::{SessionRefusal, SessionToken};

#[cfg(test)]
mod tests;
