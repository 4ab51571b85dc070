//! Who may do what with this flow's tables on Postgres: `books` writes what is to be paid and what became of it,
//! `payouts` the work of paying.

use bankroll_store::{
    RoleGrant, TableGrants, TableRight,
    TableRight::{Insert, Read, Update},
};

/// The rights of the roles on the tables of [`crate::WITHDRAWALS`].
pub const WITHDRAWALS_GRANTS: &[TableGrants] = &[
    TableGrants {
        table: "withdrawal_requests",
        grants: &[
            books(&[Read, Insert, Update(&["status", "final_tx_hash", "fee", "reason", "hold"])]),
            payouts(&[Read]),
        ],
    },
    TableGrants { table: "exits", grants: &[books(&[Read, Insert])] },
    TableGrants { table: "request_keys", grants: &[books(&[Read, Insert])] },
    TableGrants {
        table: "withdrawal_queue",
        grants: &[
            // The mark that a payout is to be cancelled, and the job's next turn at once.
            books(&[Read, Update(&["cancel_asked", "scheduled_at", "updated_at", "version"])]),
            payouts(&[Read, Insert, Update(JOB)]),
        ],
    },
    TableGrants {
        table: "payout_attempts",
        grants: &[
            books(&[Read]),
            payouts(&[Read, Insert, Update(&["raw", "tx_hash", "refused", "signed_at", "last_sent_at"])]),
        ],
    },
    TableGrants { table: "payout_nonces", grants: &[books(&[Read]), payouts(&[Read, Insert, Update(&["job"])])] },
    TableGrants {
        table: "operation_wallet_addresses",
        grants: &[books(&[Read]), payouts(&[Read, Insert, Update(&["signer_head", "stopped"])])],
    },
];

/// What changes while a job is paid. Never whom it pays, and how much.
const JOB: &[&str] = &[
    "status",
    "priority",
    "nonce",
    "cancel_asked",
    "tx_hash",
    "block_number",
    "block_hash",
    "gas_used",
    "gas_price",
    "retry_count",
    "error_message",
    "scheduled_at",
    "processed_at",
    "updated_at",
    "version",
];

const fn books(rights: &'static [TableRight]) -> RoleGrant {
    RoleGrant { role: "books", rights }
}

const fn payouts(rights: &'static [TableRight]) -> RoleGrant {
    RoleGrant { role: "payouts", rights }
}
