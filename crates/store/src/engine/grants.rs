//! Which role of a deployment may do what with which table of Postgres, column by column.
//!
//! Each owner of tables declares this next to its migrations. [`crate::write_users`] makes a database user of each role
//! with these rights and no others, so that a node that is taken over can write what its role writes, and nothing else;
//! [`crate::compare_user`] says whether a user still has exactly these rights. A table without a declaration is out of
//! reach of every role.

/// The rights of all roles on one table.
#[derive(Clone, Copy, Debug)]
pub struct TableGrants {
    /// As in SQL: `books.journal`, `deposits`.
    pub table: &'static str,
    pub grants: &'static [RoleGrant],
}

/// The rights of one role on a table.
#[derive(Clone, Copy, Debug)]
pub struct RoleGrant {
    /// The role's name in configurations and certificates.
    pub role: &'static str,
    pub rights: &'static [TableRight],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableRight {
    Read,
    /// These columns of any row.
    ReadOnly(&'static [&'static str]),
    /// Rows with values in any column.
    Insert,
    /// Rows with values in these columns only; the others have their defaults.
    InsertOnly(&'static [&'static str]),
    /// These columns of any row.
    Update(&'static [&'static str]),
    /// Any column of any row.
    UpdateAny,
    Delete,
    Truncate,
}

impl TableRight {
    /// The right as the server knows it: its name, and each column it is limited to; no column for the whole table.
    pub(crate) fn privileges(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Read => ("SELECT", &[]),
            Self::ReadOnly(columns) => ("SELECT", columns),
            Self::Insert => ("INSERT", &[]),
            Self::InsertOnly(columns) => ("INSERT", columns),
            Self::Update(columns) => ("UPDATE", columns),
            Self::UpdateAny => ("UPDATE", &[]),
            Self::Delete => ("DELETE", &[]),
            Self::Truncate => ("TRUNCATE", &[]),
        }
    }
}

use TableRight::{Delete, Insert, InsertOnly, Read, ReadOnly, Truncate, Update};

const fn grants(table: &'static str, grants: &'static [RoleGrant]) -> TableGrants {
    TableGrants { table, grants }
}

const fn role(role: &'static str, rights: &'static [TableRight]) -> RoleGrant {
    RoleGrant { role, rights }
}

/// Roles that run no flow find the node that holds the ledger, and read nothing else of the books.
const FINDS_HOLDER: [RoleGrant; 3] = [role("api", &[Read]), role("notify", &[Read]), role("drainer", &[Read])];

/// Roles with a flow also keep a note of the newest head, and compare it with the journal.
const fn read_by_flows(books: RoleGrant) -> [RoleGrant; 4] {
    [books, role("indexer", &[Read]), role("payouts", &[Read]), role("reconciler", &[Read])]
}

/// Who delivers events reads the times of their batches, and of the journal where it ends: nothing of a record.
const fn read_by_flows_and(notify: RoleGrant, books: RoleGrant) -> [RoleGrant; 5] {
    let [books, indexer, payouts, reconciler] = read_by_flows(books);
    [books, indexer, payouts, reconciler, notify]
}

const fn read_by_all(books: RoleGrant) -> [RoleGrant; 7] {
    let ([books, indexer, payouts, reconciler], [api, notify, drainer]) = (read_by_flows(books), FINDS_HOLDER);
    [books, indexer, payouts, reconciler, api, notify, drainer]
}

/// The store's own tables: `books` alone writes them, and even `books` cannot change or delete what is in the journal.
pub const BOOKS_GRANTS: &[TableGrants] = &[
    grants("migrations", &read_by_all(role("books", &[Read]))),
    grants("books.ledger_head", &read_by_all(role("books", &[Read, Update(LEDGER_HEAD)]))),
    grants("books.journal", &read_by_flows_and(role("notify", &[ReadOnly(&["seq"])]), role("books", &[Read, Insert]))),
    grants("books.batches", &read_by_flows_and(role("notify", &[Read]), role("books", &[Read, Insert]))),
    grants("books.assets", &read_by_flows(role("books", &[Read, Insert, Delete]))),
    grants("books.accounts", &read_by_flows(role("books", &[Read, Insert, Update(&["debt", "checksum"]), Delete]))),
    grants(
        "books.balances",
        &read_by_flows(role("books", &[Read, Insert, Update(&["balance", "held", "checksum"]), Delete])),
    ),
    grants("books.holds", &read_by_flows(role("books", &[Read, Insert, Update(HOLDS), Delete]))),
    grants("books.reversals", &[role("books", &[Read, Insert, Delete])]),
    grants("books.outbox", &[role("books", &[Read, Insert]), role("notify", &[Read])]),
    grants("books.key_runs", &[role("books", &[Read, Insert, Delete])]),
    grants("books.key_chunks", &[role("books", &[Read, Insert, Delete])]),
    // The statement index is derived, and recreated when it is damaged.
    grants("books.term_runs", &[role("books", &[Read, Insert, Delete, Truncate]), role("payouts", &[Read])]),
    grants("books.term_chunks", &[role("books", &[Read, Insert, Delete, Truncate]), role("payouts", &[Read])]),
];

const LEDGER_HEAD: &[&str] = &[
    "epoch",
    "batch",
    "seq",
    "at",
    "hash",
    "holder",
    "address",
    "moves",
    "lease_until",
    "last_account",
    "last_asset",
    // Without these the writer of a login that has no other rights could not note why it stopped.
    "finding",
    "last_finding",
    "last_finding_epoch",
];
const HOLDS: &[&str] = &["remaining", "state", "checksum"];

/// The inboxes of `books`. Who hands a row over does not decide what became of it.
pub const INBOX_GRANTS: &[TableGrants] = &[
    // No role hands anything over here today.
    grants("indexer_events", &[role("books", &[Read, Update(DECIDED)])]),
    grants(
        "payout_events",
        &[
            role("books", &[Read, Update(DECIDED)]),
            // A row that is there already is found by setting its id to itself.
            role(
                "payouts",
                &[Read, InsertOnly(&["id", "type", "intent_id", "body", "node", "created_at"]), Update(&["id"])],
            ),
        ],
    ),
];

const DECIDED: &[&str] = &["state", "reason", "tries", "due_at"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BOOKS, INBOX};

    #[test]
    fn every_table_of_the_store_is_declared_once() {
        let sql = [BOOKS, INBOX].map(|set| set.postgres.concat()).concat();
        let made = sql.lines().filter_map(|line| line.strip_prefix("CREATE TABLE ")?.split(' ').next());
        let mut made: Vec<&str> = made.chain(["migrations"]).collect();
        let mut declared: Vec<&str> = BOOKS_GRANTS.iter().chain(INBOX_GRANTS).map(|table| table.table).collect();
        made.sort_unstable();
        declared.sort_unstable();
        assert_eq!(declared, made);
    }
}
