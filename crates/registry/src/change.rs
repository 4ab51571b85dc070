//! Changes: what a decision asks the ledger to write, and what memory becomes after the commit.

use bankroll_ledger::{
    Action, Column, ColumnValue, Event, FACTS_MAX, Fact, IdempotencyKey, Name, Principal, References, Request, Time,
};
use bankroll_store::columns::{text, time};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    CustodyKey, LoggedAct, PlayerFreeze, PlayerWallet, RegisteredAsset, RegisteredChain, RegisteredPlayer,
    RegisteredServer, RegisteredWallet, RevokedSession, ServerAccount, ServerKey, SignInProof, TreasuryAddress,
    UsedNonce,
    entry::{column, fact, new_row, shown},
};

/// One entry as it is after the change. Its revision says which one it replaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegistryChange {
    Chain(RegisteredChain),
    Asset(RegisteredAsset),
    Wallet(RegisteredWallet),
    CustodyKey(CustodyKey),
    Server(RegisteredServer),
    ServerAccount(ServerAccount),
    ServerKey(ServerKey),
    Treasury(TreasuryAddress),
    /// An act of a person: an entry of the audit log.
    Act(Box<LoggedAct>),
    PlayerFreeze(PlayerFreeze),
    Player(RegisteredPlayer),
    PlayerWallet {
        wallet: PlayerWallet,
        /// Only in the row: memory does not keep it, nor does the list of changes.
        #[serde(skip)]
        proof: SignInProof,
    },
    Nonce(UsedNonce),
    RevokedSession(RevokedSession),
}

/// Who asks for changes, under which key, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeOrigin {
    /// `System` where the proof is in the row (registration, sign-in), `Admin` for the owner's changes.
    pub principal: Principal,
    /// In [`Namespace::Registry`](bankroll_ledger::Namespace).
    pub key: IdempotencyKey,
    /// Who it was, for the list of changes: `owner:alice`, `key:0x...`.
    pub by: Name,
    /// The hash of what the caller sent. The same key with another hash is a mismatch.
    pub request_hash: [u8; 32],
    pub now: Time,
}

/// Changes that do not fit into one request of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a change of the registry writes at most {FACTS_MAX} rows")]
pub struct TooManyChanges;

/// The request that writes changes: no money, only facts and events. A decision without changes is recorded, too: its key
/// must count, or the same message could have an effect later. An act of a person has the key of its entry in the audit
/// log, so that each number is written once, and its author is in that entry.
///
/// # Errors
/// If they are too many for one request.
pub fn change_request(origin: &ChangeOrigin, changes: &[RegistryChange]) -> Result<Request, TooManyChanges> {
    let mut facts: Vec<Fact> = changes.iter().flat_map(RegistryChange::facts).collect();
    facts.extend(listed(origin, changes));
    if facts.len() > FACTS_MAX {
        return Err(TooManyChanges);
    }
    let (key, principal) = match changes.first() {
        Some(RegistryChange::Act(act)) => (act.key(), Principal::System),
        _ => (origin.key.clone(), origin.principal.clone()),
    };
    Ok(Request {
        key,
        principal,
        confirmation: None,
        action: Action::Legs(Vec::new()),
        references: References::default(),
        facts,
        events: changes.iter().filter_map(RegistryChange::event).collect(),
    })
}

/// The row in the list of changes; `None` for what players do by themselves, whose own rows say it all. No changes at all
/// are a row with an empty list.
fn listed(origin: &ChangeOrigin, changes: &[RegistryChange]) -> Option<Fact> {
    let configured: Vec<&RegistryChange> = changes.iter().filter(|change| change.is_configuration()).collect();
    if configured.is_empty() && !changes.is_empty() {
        return None;
    }
    let values: Vec<Column> = vec![
        column("changed_by", shown(&origin.by)),
        column("changed_at", time(origin.now)),
        column("request_hash", ColumnValue::Bytes(origin.request_hash.to_vec())),
        column("changes", ColumnValue::Text(json!(configured).to_string())),
    ];
    let key = vec![column("scope", shown(&origin.key.scope)), column("key", text(&origin.key.text))];
    Some(new_row("registry_changes", key, values))
}

impl RegistryChange {
    /// Whether it belongs into the list of changes: everything but people, players, nonces and sessions.
    #[must_use]
    pub const fn is_configuration(&self) -> bool {
        !matches!(
            self,
            Self::Act(_)
                | Self::PlayerFreeze(_)
                | Self::Player(_)
                | Self::PlayerWallet { .. }
                | Self::Nonce(_)
                | Self::RevokedSession(_)
        )
    }

    fn facts(&self) -> Vec<Fact> {
        match self {
            Self::Chain(entry) => vec![fact(entry)],
            Self::Asset(entry) => vec![fact(entry)],
            Self::Wallet(entry) => vec![fact(entry)],
            Self::CustodyKey(entry) => vec![fact(entry)],
            Self::Server(entry) => entry.facts().into(),
            Self::ServerAccount(entry) => vec![fact(entry)],
            Self::ServerKey(entry) => vec![fact(entry)],
            Self::Treasury(entry) => vec![fact(entry)],
            Self::Act(act) => vec![act.fact()],
            Self::PlayerFreeze(entry) => vec![fact(entry)],
            Self::Player(entry) => vec![fact(entry)],
            Self::PlayerWallet { wallet, proof } => vec![wallet.fact(proof)],
            Self::Nonce(nonce) => vec![nonce.fact()],
            Self::RevokedSession(session) => vec![session.fact()],
        }
    }

    fn event(&self) -> Option<Event> {
        let Self::Server(server) = self else { return None };
        let kind = if server.version == 1 { "server.registered" } else { "server.changed" };
        let body = json!({ "server": server.name, "version": server.version, "by": server.changed_by });
        let (kind, body) = (kind.parse().expect("a legal name"), body.to_string());
        Some(Event { kind, resource: server.name.to_string(), body })
    }
}
