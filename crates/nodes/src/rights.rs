//! What a node may send to the books, by its roles. Pure.
//!
//! The certificate names the roles; this table defines them. Every node may ask whether the holder answers.
//!
//! | role | may |
//! | --- | --- |
//! | `api` | relay requests of the Funds API: their proofs are in them, and the books verify each |
//! | `books` | nothing: the holder has its own ledger, and a standby must not act in its name |
//! | `indexer`, `payouts`, `drainer` | nothing: they write rows, and the node that holds the books moves the money |
//! | `notify`, `reconciler` | nothing: they read |
//!
//! No node names a caller. The protocol has no word for a game server, a player, an operator or a second person who
//! confirms: the books believe only a proof that they verified.

use crate::{NodeRole, NodeRoles};

/// Whether a node with these roles may relay requests of the Funds API.
pub(crate) fn may_relay(roles: NodeRoles) -> bool {
    roles.has(NodeRole::Api)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_role_api_relays() {
        for role in NodeRole::ALL {
            assert_eq!(may_relay(NodeRoles::of(&[role])), role == NodeRole::Api, "{role}");
        }
        assert!(may_relay(NodeRoles::ALL) && !may_relay(NodeRoles::of(&[NodeRole::Books, NodeRole::Payouts])));
    }
}
