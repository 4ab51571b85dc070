//! Who may do what with this flow's tables on Postgres: `books` adds rows, and no role changes one.

use bankroll_store::{
    RoleGrant, TableGrants,
    TableRight::{Insert, Read},
};

/// The rights of the roles on the tables of [`crate::HEADS`].
pub const HEADS_GRANTS: &[TableGrants] =
    &[TableGrants { table: "published_heads", grants: BOOKS }, TableGrants { table: "head_nodes", grants: BOOKS }];

const BOOKS: &[RoleGrant] = &[RoleGrant { role: "books", rights: &[Read, Insert] }];
