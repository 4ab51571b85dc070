//! Who may do what with this flow's table on Postgres: only `books` writes it.

use bankroll_store::{
    RoleGrant, TableGrants,
    TableRight::{Insert, Read, Update},
};

/// The rights of the roles on the table of [`crate::ALERTS`].
pub const ALERTS_GRANTS: &[TableGrants] = &[TableGrants {
    table: "alerts",
    grants: &[
        RoleGrant { role: "books", rights: &[Read, Insert, Update(CHANGED)] },
        // Nothing new is paid on a chain while an alert says that a wallet of it holds too little.
        RoleGrant { role: "payouts", rights: &[Read] },
    ],
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
