//! Who may do what with this flow's table on Postgres: `books`, and no other role.

use bankroll_store::{
    RoleGrant, TableGrants,
    TableRight::{Insert, Read, Update},
};

/// The rights of the roles on the table of [`crate::ALERTS`].
pub const ALERTS_GRANTS: &[TableGrants] = &[TableGrants {
    table: "alerts",
    grants: &[RoleGrant { role: "books", rights: &[Read, Insert, Update(CHANGED)] }],
}];

/// Never what an alert is about, nor when it opened.
const CHANGED: &[&str] = &[
    "state",
    "summary",
    "details",
    "items",
    "changed_at",
    "acknowledged_at",
    "acknowledged_by",
    "closed_at",
    "closed_by",
    "revision",
];
