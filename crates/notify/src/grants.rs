//! The tables of this flow, and who may do what with them on Postgres: `books` writes what people decide, `notify` what
//! it has done about it.

use bankroll_store::{
    Migrations, RoleGrant, TableGrants, TableRight,
    TableRight::{Delete, Insert, Read, Update, UpdateAny},
};

/// The tables of this flow.
pub const NOTIFY: Migrations = Migrations {
    owner: "notify",
    steps: &[include_str!("../migrations/0001_notify.sql")],
    postgres: &[include_str!("../migrations/0001_notify_postgres.sql")],
};

/// The rights of the roles on the tables of [`NOTIFY`].
pub const NOTIFY_GRANTS: &[TableGrants] = &[
    // A worker that could change a URL could send events elsewhere, and make itself an endpoint.
    TableGrants { table: "webhook_endpoints", grants: &[books(&[Read, Insert, UpdateAny]), notify(&[Read])] },
    // No other role: a receiver believes what is signed with one of these.
    TableGrants { table: "webhook_secrets", grants: &[books(&[Read, Insert]), notify(&[Read])] },
    TableGrants { table: "webhook_requests", grants: &[books(&[Read, Insert]), notify(&[Read])] },
    TableGrants { table: "webhook_progress", grants: &[books(&[Read]), notify(&[Read, Insert, UpdateAny])] },
    TableGrants { table: "webhook_deliveries", grants: &[books(&[Read]), notify(&[Read, Insert, UpdateAny, Delete])] },
    TableGrants { table: "webhook_worker", grants: &[notify(&[Read, Insert, Update(&["holder", "until"])])] },
];

const fn books(rights: &'static [TableRight]) -> RoleGrant {
    RoleGrant { role: "books", rights }
}

const fn notify(rights: &'static [TableRight]) -> RoleGrant {
    RoleGrant { role: "notify", rights }
}
