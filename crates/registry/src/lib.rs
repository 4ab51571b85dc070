//! The registry: chains, assets, wallets, game servers, keys, players, and who a call comes from.
//!
//! All of it is data, changed by calls, not configuration. Each change is an ordinary request of the ledger that moves
//! no money: its rows are facts, so the journal's hash chain covers them and an audit reports an edit.
//!
//! It guarantees:
//! - decisions are pure: from [`Registry`] in memory to [`RegistryChange`]s or a refusal with a stable code;
//! - memory is what rows say: it changes only by what the ledger has committed;
//! - a signed message has one effect: its nonce is a row that can be written once;
//! - only a wallet's own signature makes it a player's;
//! - a revoked key is dead with its sessions from the commit of its revocation on.
//!
//! It deliberately does not know: HTTP, balances, how chains are read, private keys (the signer has them).
//!
//! | to learn | read |
//! | --- | --- |
//! | what is registered | [`RegisteredServer`], [`ServerKey`], [`ServerAccount`], [`CustodyKey`], [`PlayerWallet`] |
//! | looking it up | [`Registry`] |
//! | changing it | [`RegistryChange`], [`change_request`], [`ChainDraft`] and the other drafts |
//! | registration, sessions by signature | [`decide_registration`], [`decide_session`] |
//! | session tokens | [`SessionKeys`], [`Caller`] |
//! | people who run the deployment | [`Registry::operators`], [`Registry::decide_act`], [`LoggedAct`] |
//! | players | [`SignInMessage`], [`decide_sign_in`], [`decide_link`] |
//! | conditions for other flows' requests | [`server_is_unchanged`], [`player_exclusion`], [`frozen_owner`] |
//! | the tables | [`REGISTRY`], `migrations/` |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic)]

mod audit_log;
mod chain;
mod change;
mod configuration;
mod custody;
mod decisions;
mod entry;
mod grants;
mod history;
mod nonce;
mod overrides;
mod player;
mod player_freeze;
mod player_request;
mod random;
mod refusal;
mod registration;
mod registry;
mod server;
mod server_account;
mod server_key;
mod session;
mod sign_in;
mod spend;
mod standing;
mod treasury;
mod wallet;

pub use audit_log::{LoggedAct, RecordedAct, audit_operators, load_operators, log_page, recorded_act};
pub use chain::{RegisteredAsset, RegisteredChain};
pub use change::{ChangeOrigin, RegistryChange, TooManyChanges, change_request};
pub use configuration::{ProvenWallets, count_changes};
pub use custody::CustodyKey;
pub use decisions::{
    ActDecision, ActRefusal, AssetDraft, ChainDraft, ConfirmedProposal, CustodyKeyDraft, RegistryDecision,
    ServerKeyDraft, ServerKeyUpdate, TreasuryDraft, WalletDraft, proposal_executed, proposal_failed,
};
pub use entry::RegistryError;
pub use grants::REGISTRY_GRANTS;
pub use history::{RecordedChange, recorded_change, recorded_changes, server_versions};
pub use nonce::{NoncePurpose, NonceText, UsedNonce};
pub use overrides::{FlowOverride, check_overrides};
pub use player::{PlayerWallet, RegisteredPlayer, SignInProof, WalletEvidence};
pub use player_freeze::PlayerFreeze;
pub use player_request::{player_request_fact, player_request_hash};
pub use random::{NoEntropy, random_bytes};
pub use refusal::RegistryRefusal;
pub use registration::{
    AHEAD_MAX_SECONDS, EXIT_HOLD_MS_MAX, RegistrationContext, RegistrationDecision, RegistrationRefusal,
    RegistrationTerms, SKEW_SECONDS, SessionOpening, SessionTerms, decide_registration, decide_session,
    server_accounts,
};
pub use registry::{REGISTRY, Registry};
pub use server::{Pauses, RegisteredServer, ServerStatus, ServerTerms};
pub use server_account::{ServerAccount, ServerAccountStatus};
pub use server_key::{KeyBounds, KeyStanding, ServerKey};
pub use session::{
    Caller, RevokedSession, SESSION_LIFETIME, SessionClaims, SessionId, SessionKeys, SessionRefusal, SessionSecret,
    SessionToken, as_developer,
};
pub use sign_in::{
    ContractCheck, MESSAGE_BYTES_MAX, NONCE_LIFETIME, ProvenWallet, SIGNATURE_BYTES_MAX, SignInConfig, SignInDecision,
    SignInMessage, SignInOrder, SignInOrigin, SignInRefusal, SignatureCheck, decide_link, decide_sign_in, issue_nonce,
    link_request_id, personal_digest, sign_in_text,
};
pub use spend::{SpendLimitReached, SpendLimits, SpendSide, WindowKey};
pub use standing::{frozen_owner, player_exclusion, server_is_unchanged};
pub use treasury::TreasuryAddress;
pub use wallet::{RegisteredWallet, UnknownWord, WalletRole};
