//! The rows of published heads and of the tree.

use bankroll_ledger::{
    ColumnValue, Row,
    merkle::{Hash, Subtree},
};
use bankroll_orders::{Address, ChainId, typed_data::WalletSignature};
use bankroll_store::{
    Migrations, Statement,
    columns::{BadRow, int, number_of, one, text, text_of},
};

use crate::SignedHead;

/// The tables of this flow.
pub const HEADS: Migrations = Migrations {
    owner: "heads",
    steps: &[include_str!("../migrations/0001_heads.sql")],
    postgres: &[include_str!("../migrations/0001_heads_postgres.sql")],
};

pub(crate) const COLUMNS: &str =
    "SELECT batch, head, root, seconds, audience, chain_id, address, signature FROM published_heads";

pub(crate) fn insert_head(head: &SignedHead) -> Statement {
    let sql = "INSERT INTO published_heads (batch, head, root, seconds, audience, chain_id, address, signature) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let values = vec![
        int(head.batch),
        bytes(&head.head),
        bytes(&head.root),
        int(head.seconds),
        text(&head.audience),
        int(head.chain.0),
        bytes(&head.address.0),
        bytes(&head.signature.0),
    ];
    one(sql, values)
}

pub(crate) fn insert_node(subtree: Subtree, hash: &Hash) -> Statement {
    let sql = "INSERT INTO head_nodes (level, place, hash) VALUES ($1, $2, $3)";
    one(sql, vec![int(subtree.level.into()), int(subtree.index), bytes(hash)])
}

pub(crate) fn head_of(row: &Row) -> Result<SignedHead, BadRow> {
    Ok(SignedHead {
        audience: text_of(row, "audience")?.to_owned(),
        chain: ChainId(number_of(row, "chain_id")?),
        batch: number_of(row, "batch")?,
        head: bytes_of(row, "head")?,
        root: bytes_of(row, "root")?,
        seconds: number_of(row, "seconds")?,
        address: Address(bytes_of(row, "address")?),
        signature: WalletSignature(bytes_of(row, "signature")?),
    })
}

pub(crate) fn bytes_of<const LENGTH: usize>(row: &Row, column: &'static str) -> Result<[u8; LENGTH], BadRow> {
    match row.get(column) {
        Some(ColumnValue::Bytes(bytes)) => bytes.as_slice().try_into().map_err(|_| BadRow { column }),
        _ => Err(BadRow { column }),
    }
}

fn bytes(bytes: &[u8]) -> ColumnValue {
    ColumnValue::Bytes(bytes.to_vec())
}
