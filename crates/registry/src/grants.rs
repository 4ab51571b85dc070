//! Who may do what with the registry's tables on Postgres: `books` writes all of them, roles with a flow read what
//! their flow needs, and the secrets of sessions are the books' alone.

use bankroll_store::{
    RoleGrant, TableGrants, TableRight,
    TableRight::{Insert, Read, Update, UpdateAny},
};

/// The rights of the roles on the tables of [`crate::REGISTRY`].
pub const REGISTRY_GRANTS: &[TableGrants] = &[
    read_by_flows("chains"),
    read_by_flows("asset_on_chain"),
    read_by_flows("registered_wallets"),
    read_by_flows("servers"),
    read_by_flows("server_accounts"),
    read_by_flows("treasury_addresses"),
    of_books("custody_keys", ENTRY),
    of_books("server_keys", ENTRY),
    of_books("audit_log", ONCE),
    // A frozen player is not paid.
    TableGrants {
        table: "player_freezes",
        grants: &[role("books", &[Read, Insert, UpdateAny]), role("payouts", &[Read])],
    },
    of_books("players", ENTRY),
    of_books("server_versions", ONCE),
    of_books("used_nonces", ONCE),
    of_books("player_requests", ONCE),
    of_books("revoked_sessions", ONCE),
    // A token of any caller could be made with a secret of this table.
    of_books("session_keys", &[role("books", &[Read, Insert, Update(&["retired_at"])])]),
    // The indexer takes a payment from a proven wallet for the player's; a freeze is about all wallets of a player.
    TableGrants {
        table: "player_wallets",
        grants: &[role("books", &[Read, Insert]), role("indexer", &[Read]), role("payouts", &[Read])],
    },
    // Its length says whether a flow's copy of the registry is the newest.
    TableGrants {
        table: "registry_changes",
        grants: &[role("books", &[Read, Insert]), role("indexer", &[Read]), role("payouts", &[Read])],
    },
];

/// An entry: each revision is written over the one before it.
const ENTRY: &[RoleGrant] = &[role("books", &[Read, Insert, UpdateAny])];
/// Rows that are written once.
const ONCE: &[RoleGrant] = &[role("books", &[Read, Insert])];

const fn of_books(table: &'static str, grants: &'static [RoleGrant]) -> TableGrants {
    TableGrants { table, grants }
}

const fn read_by_flows(table: &'static str) -> TableGrants {
    const GRANTS: &[RoleGrant] =
        &[role("books", &[Read, Insert, UpdateAny]), role("indexer", &[Read]), role("payouts", &[Read])];
    TableGrants { table, grants: GRANTS }
}

const fn role(role: &'static str, rights: &'static [TableRight]) -> RoleGrant {
    RoleGrant { role, rights }
}
