//! The exit codes for errors of other crates.

use std::{error::Error, sync::Arc};

use bankroll_deposits::audit::DepositFinding;
use bankroll_heads::{HeadRefusal, HeadsError};
use bankroll_nodes::AuthorityError;
use bankroll_registry::RegistryError;
use bankroll_roles::{AuthKeyError, audit::HeadMissing, config::ConfigError, requests::FundsCallError};
use bankroll_signer::cli::SignerExitCode;
use bankroll_store::StoreError;
use bankroll_terminal::Exit;

/// The exit code of one cause; `None` if it has no code of its own.
pub fn exit_of(cause: &(dyn Error + 'static)) -> Option<Exit> {
    if cause.is::<ConfigError>() {
        Some(Exit::Usage)
    } else if let Some(AuthorityError::NoFolder { .. } | AuthorityError::NoNode { .. }) = cause.downcast_ref() {
        Some(Exit::NotFound)
    } else if let Some(error) = cause.downcast_ref::<AuthKeyError>() {
        match error {
            AuthKeyError::Missing { .. } => Some(Exit::NotFound),
            AuthKeyError::Malformed { .. } | AuthKeyError::Exposed { .. } => Some(Exit::Usage),
            AuthKeyError::Exists { .. } | AuthKeyError::Io { .. } => Some(Exit::Failed),
        }
    } else if let Some(FundsCallError::Refused(refusal)) = cause.downcast_ref() {
        Some(match refusal.status {
            404 => Exit::NotFound,
            400 | 413 | 415 => Exit::Usage,
            _ => Exit::Failed,
        })
    } else if let Some(error) = cause.downcast_ref::<RegistryError>() {
        error.is_unsound().then_some(Exit::Unsound)
    } else if let Some(finding) = cause.downcast_ref::<DepositFinding>() {
        // What cannot be read has a code of its own.
        (!matches!(finding, DepositFinding::Store(_))).then_some(Exit::Unsound)
    } else if cause.is::<HeadMissing>() || cause.is::<HeadRefusal>() || is_unsound_log(cause) {
        Some(Exit::Unsound)
    } else if let Some(ending) = SignerExitCode::of(cause) {
        Some(match ending {
            SignerExitCode::Failed => Exit::Failed,
            SignerExitCode::Usage => Exit::Usage,
            SignerExitCode::NotFound => Exit::NotFound,
            SignerExitCode::Unsound => Exit::Unsound,
        })
    } else {
        // Why a writer stopped is shared by its handles.
        let shared = cause.downcast_ref::<Arc<StoreError>>().map(Arc::as_ref);
        match shared.or_else(|| cause.downcast_ref::<StoreError>())? {
            StoreError::NoLedger { .. } | StoreError::NoBooksInFile { .. } | StoreError::NoBooks => {
                Some(Exit::NotFound)
            }
            StoreError::CursorMalformed => Some(Exit::Usage),
            error => error.is_unsound().then_some(Exit::Unsound),
        }
    }
}

/// Whether the public log of heads, or the tree over them, is not what the journal gives.
fn is_unsound_log(cause: &(dyn Error + 'static)) -> bool {
    use HeadsError::{ChainBroken, HeadGone, NodeMissing, Row, TreeDiffers};
    let found = cause.downcast_ref();
    matches!(found, Some(HeadGone { .. } | TreeDiffers { .. } | ChainBroken { .. } | NodeMissing { .. } | Row(_)))
}
