//! Who may do what with this flow's tables on Postgres: `books`, and no other role.

use bankroll_store::{
    RoleGrant, TableGrants, TableRight,
    TableRight::{Insert, Read, Update},
};

/// The rights of the roles on the tables of [`crate::SPAWNS`].
pub const SPAWNS_GRANTS: &[TableGrants] = &[
    TableGrants { table: "spawns", grants: &[books(&[Read, Insert, Update(&["status", "hold"])])] },
    TableGrants {
        table: "deposit_consumptions",
        grants: &[books(&[Read, Insert, Update(&["wallet", "spawn", "status"])])],
    },
];

const fn books(rights: &'static [TableRight]) -> RoleGrant {
    RoleGrant { role: "books", rights }
}
