//! Sign-In with Ethereum (EIP-4361): a wallet proves itself by signing a message with a nonce of ours.
//!
//! The steps, each pure: [`issue_nonce`]; [`SignInMessage::parse`] checks the text; [`SignInMessage::prove`] checks
//! the signature, or says that a contract must be asked (ERC-1271); [`decide_sign_in`] and [`decide_link`] give the
//! changes.
//! Only the middle steps make a [`ProvenWallet`], so no other code can claim that a wallet has signed.
//!
//! It does not know contracts that are not deployed yet (ERC-6492).

mod compose;
mod contract;
mod decide;
mod message;
mod nonce;
mod refusal;

pub use compose::{SignInOrder, sign_in_text};
pub use contract::{ContractCheck, SIGNATURE_BYTES_MAX};
pub use decide::{SignInDecision, decide_link, decide_sign_in, link_request_id};
pub use message::{
    MESSAGE_BYTES_MAX, ProvenWallet, SignInConfig, SignInMessage, SignInOrigin, SignatureCheck, personal_digest,
};
pub use nonce::{NONCE_LIFETIME, issue_nonce};
pub use refusal::SignInRefusal;
