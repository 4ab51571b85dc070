//! Decisions on what the owner and players ask for: pure, from the registry in memory to changes or a refusal.
//!
//! The drafts are what callers send. A decision checks a draft against everything that is registered; the ledger's
//! guards check the same again when the changes are written.

mod act_events;
mod acts;
mod assets;
mod custody;
mod players;
mod server_keys;
mod servers;
mod treasury;

pub use act_events::{proposal_executed, proposal_failed};
pub use acts::{ActDecision, ActRefusal, ConfirmedProposal};
pub use assets::{AssetDraft, ChainDraft};
pub use custody::{CustodyKeyDraft, WalletDraft};
pub use server_keys::{ServerKeyDraft, ServerKeyUpdate};
pub use treasury::TreasuryDraft;

use crate::RegistryRefusal;

/// The result of a decision.
pub type RegistryDecision = Result<Vec<crate::RegistryChange>, RegistryRefusal>;

pub(crate) const LABEL_BYTES_MAX: usize = 200;

/// A text for people: short, without control characters.
pub(crate) fn check_label(field: &'static str, label: &str) -> Result<(), RegistryRefusal> {
    if label.len() <= LABEL_BYTES_MAX && !label.chars().any(char::is_control) {
        Ok(())
    } else {
        Err(RegistryRefusal::Malformed { field, why: "at most 200 bytes without control characters" })
    }
}
