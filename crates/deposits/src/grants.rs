//! Who may do what with this flow's tables on Postgres: `indexer` writes what the chain says, `books` what the ledger
//! made of it.

use bankroll_store::{
    RoleGrant, TableGrants, TableRight,
    TableRight::{Delete, Insert, InsertOnly, Read, Update},
};

/// The rights of the roles on the tables of [`crate::DEPOSITS`].
pub const DEPOSITS_GRANTS: &[TableGrants] = &[
    TableGrants {
        table: "chain_cursor",
        grants: &[
            books(&[Read]),
            indexer(&[Read, Insert, Update(CURSOR)]),
            // Nothing new is paid on a chain whose indexer has stopped.
            RoleGrant { role: "payouts", rights: &[Read] },
        ],
    },
    TableGrants { table: "block_headers", grants: &[books(&[Read]), indexer(&[Read, Insert, Delete])] },
    // The indexer never writes the ledger's columns: if it could say that a deposit is booked, it could hide one, or
    // have the books reverse one.
    TableGrants {
        table: "deposits",
        grants: &[books(&[Read, Update(BOOKED)]), indexer(&[Read, InsertOnly(SEEN), Update(MOVED)])],
    },
    TableGrants {
        table: "withdrawals_chain",
        grants: &[books(&[Read, Update(&["made_by"])]), indexer(&[Read, InsertOnly(SENT), Update(SENT_AGAIN)])],
    },
    TableGrants { table: "chain_events", grants: &[books(&[Read]), indexer(&[Read, Insert])] },
];

/// Where the scanner is.
const CURSOR: &[&str] = &["block_number", "block_hash", "updated_at", "events", "events_hash", "stopped"];

/// What the books decide.
const BOOKED: &[&str] = &[
    "ledger_state",
    "ledger_epoch",
    "is_valid_for_server_config",
    "invalid_reason",
    "config_version",
    "credited_server",
    "credited_wallet",
    "review_state",
    "review_by",
    "review_epoch",
    "assigned_by",
    "ledger_error",
    "ledger_error_epoch",
];

/// What the first block with a transfer says.
const SEEN: &[&str] = &[
    "id",
    "chain",
    "tx_hash",
    "kind",
    "position",
    "asset",
    "amount",
    "amount_raw",
    "from_address",
    "to_address",
    "purpose",
    "server",
    "wallet",
    "doubt",
    "custody",
    "epoch",
    "required_confirmations",
    "needs_agreement",
    "chain_state",
    "review_state",
    "first_seen_at",
    "updated_at",
    "block_number",
    "block_hash",
    "block_time",
    "tx_index",
];

/// What a block says about a transaction of ours.
const SENT: &[&str] = &[
    "chain",
    "tx_hash",
    "wallet",
    "nonce",
    "to_address",
    "value_raw",
    "fee_raw",
    "succeeded",
    "block_number",
    "block_hash",
    "epoch",
    "is_canonical",
    "first_seen_at",
    "updated_at",
];

/// What another block may say differently.
const SENT_AGAIN: &[&str] =
    &["fee_raw", "succeeded", "block_number", "block_hash", "epoch", "is_canonical", "updated_at"];

/// What later blocks change.
const MOVED: &[&str] = &[
    "asset",
    "amount",
    "amount_raw",
    "from_address",
    "to_address",
    "purpose",
    "server",
    "wallet",
    "custody",
    "doubt",
    "epoch",
    "chain_state",
    "required_confirmations",
    "needs_agreement",
    "updated_at",
    "reorged_at",
    "block_number",
    "block_hash",
    "block_time",
    "tx_index",
];

const fn books(rights: &'static [TableRight]) -> RoleGrant {
    RoleGrant { role: "books", rights }
}

const fn indexer(rights: &'static [TableRight]) -> RoleGrant {
    RoleGrant { role: "indexer", rights }
}
