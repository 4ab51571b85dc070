//! What a node may request of the books, by its roles: which principals it may act for, with which keys, and which
//! rows it may write with the money. Pure.
//!
//! The certificate names the roles; this table defines them. The ledger's own rules apply in addition.
//!
//! | role | acts for | with keys of |
//! | --- | --- | --- |
//! | `api` | game servers, players, developers, operators: it has proof of who called it | their own |
//! | `indexer` | the deposits flow | deposits |
//! | `payouts` | Bankroll itself | payouts |
//! | `drainer` | Bankroll itself | hot accounts |
//! | `books` | no principal: the holder calls its own ledger, and a standby must not act in its name | - |
//! | `notify`, `reconciler` | no principal: they read | - |
//!
//! Facts and events belong to the books, because only `books` writes rows that gate money. A flow whose requests come
//! from another node lists the tables and kinds it needs.

use bankroll_ledger::{Namespace, Principal, Request, Role};

use crate::{NodeRole, NodeRoles};

/// What a node claimed without the right to it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
pub enum PrincipalClaim {
    #[error("none of its roles may act for this principal with this key (request {request})")]
    Principal {
        /// Which request of the call, from 0.
        request: u32,
    },
    #[error("none of its roles may write to the table {table}")]
    Fact { table: String },
    #[error("none of its roles may emit the event {kind}")]
    Event { kind: String },
    #[error("none of its roles may relay requests of the Funds API")]
    Relay,
}

/// Rights beyond the principals of a role.
#[derive(Clone, Debug, Default)]
pub struct Rights {
    tables: Vec<(NodeRole, String)>,
    events: Vec<(NodeRole, String)>,
}

impl Rights {
    /// Lets nodes with this role write rows of the table with the money they move.
    #[must_use]
    pub fn with_facts(mut self, role: NodeRole, table: &str) -> Self {
        self.tables.push((role, table.to_owned()));
        self
    }

    /// Lets nodes with this role emit events of the kind.
    #[must_use]
    pub fn with_events(mut self, role: NodeRole, kind: &str) -> Self {
        self.events.push((role, kind.to_owned()));
        self
    }

    /// Whether a node with these roles may make this call.
    ///
    /// # Errors
    /// The first claim without a right.
    pub fn check(&self, roles: NodeRoles, requests: &[Request]) -> Result<(), PrincipalClaim> {
        for (request, number) in requests.iter().zip(0..) {
            if !roles.iter().any(|role| speaks_for(role, &request.principal, request.key.namespace)) {
                return Err(PrincipalClaim::Principal { request: number });
            }
            let listed = |list: &[(NodeRole, String)], name: &str| {
                list.iter().any(|(role, listed)| roles.has(*role) && listed == name)
            };
            if let Some(fact) = request.facts.iter().find(|fact| !listed(&self.tables, &fact.row.table)) {
                return Err(PrincipalClaim::Fact { table: fact.row.table.chars().take(63).collect() });
            }
            if let Some(event) = request.events.iter().find(|event| !listed(&self.events, event.kind.as_str())) {
                return Err(PrincipalClaim::Event { kind: event.kind.to_string() });
            }
        }
        Ok(())
    }

    /// Whether a node with these roles may open accounts in this name.
    ///
    /// # Errors
    /// If it may not.
    pub fn check_open(&self, roles: NodeRoles, by: &Principal) -> Result<(), PrincipalClaim> {
        let may = match by.role() {
            Role::Indexer => roles.has(NodeRole::Indexer),
            Role::GameServer => roles.has(NodeRole::Api),
            Role::Admin | Role::Developer | Role::User | Role::Tables | Role::System => false,
        };
        if may { Ok(()) } else { Err(PrincipalClaim::Principal { request: 0 }) }
    }

    /// Whether a node with these roles may relay requests of the Funds API. The right claims no principal: the proofs
    /// are in the request.
    ///
    /// # Errors
    /// If it may not.
    pub fn check_relay(&self, roles: NodeRoles) -> Result<(), PrincipalClaim> {
        if roles.has(NodeRole::Api) { Ok(()) } else { Err(PrincipalClaim::Relay) }
    }
}

fn speaks_for(node: NodeRole, principal: &Principal, keys: Namespace) -> bool {
    match principal.role() {
        Role::GameServer | Role::User | Role::Developer | Role::Admin => node == NodeRole::Api,
        Role::Indexer => node == NodeRole::Indexer,
        Role::System => match keys {
            Namespace::Payouts => node == NodeRole::Payouts,
            Namespace::Hot => node == NodeRole::Drainer,
            _ => false,
        },
        Role::Tables => false,
    }
}
