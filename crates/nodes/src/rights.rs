//! What a node may request of the books, by its roles. Pure.
//!
//! The certificate names the roles; this table defines them. The ledger's own rules apply in addition.
//!
//! | role | may |
//! | --- | --- |
//! | `api` | relay requests of the Funds API: their proofs are in them, and the books verify each |
//! | `api` | send ledger requests of game servers and players: `names_server_or_player`, which commands and the demo's games use |
//! | `books` | nothing: the holder calls its own ledger, and a standby must not act in its name |
//! | `indexer`, `payouts`, `drainer` | nothing: what they write to the database is applied by the node that holds the books |
//! | `notify`, `reconciler` | nothing: they read |
//!
//! No node names an operator, a developer, Bankroll itself or a second person who confirms: the books believe only a
//! proof that they verified.
//!
//! Facts and events belong to the books, because only `books` writes rows that gate money. A flow whose requests come
//! from another node lists the tables and kinds it needs.

use bankroll_ledger::{Principal, Request, Role};

use crate::{NodeRole, NodeRoles};

/// What a node claimed without the right to it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
pub enum PrincipalClaim {
    #[error("none of its roles may act for this principal (request {request})")]
    Principal {
        /// Which request of the call, from 0.
        request: u32,
    },
    #[error("no role may say that a second person confirmed (request {request})")]
    Confirmation { request: u32 },
    #[error("none of its roles may write to the table {table}")]
    Fact { table: String },
    #[error("none of its roles may emit the event {kind}")]
    Event { kind: String },
    #[error("none of its roles may relay requests of the Funds API")]
    Relay,
}

/// The rights of every role, and the rows that some may write.
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
            if !names_server_or_player(roles, &request.principal) {
                return Err(PrincipalClaim::Principal { request: number });
            }
            if request.confirmation.is_some() {
                return Err(PrincipalClaim::Confirmation { request: number });
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
        let may = by.role() == Role::GameServer && names_server_or_player(roles, by);
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

/// Whether a node with these roles may send ledger requests (`Apply`, `Open`) in this name, without a proof that the
/// books can verify. Only `api`, and only for game servers and players.
fn names_server_or_player(roles: NodeRoles, principal: &Principal) -> bool {
    roles.has(NodeRole::Api) && matches!(principal.role(), Role::GameServer | Role::User)
}
