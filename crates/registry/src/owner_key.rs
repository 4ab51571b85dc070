//! The operator's own keys.

use bankroll_ledger::{Column, Name, Row, Time};
use bankroll_orders::Address;
use bankroll_store::columns::{BadRow, maybe, number_of, parsed, time};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, column, maybe_time, shown, time_of};

/// A key that acts for the operator. `bankroll init` makes the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerKey {
    pub address: Address,
    /// The person, as in the ledger's `admin(person)`.
    pub owner: Name,
    pub revoked_at: Option<Time>,
    pub created_at: Time,
    pub revision: u64,
}

impl Entry for OwnerKey {
    const TABLE: &'static str = "owner_keys";

    fn key(&self) -> Vec<Column> {
        vec![column("address", shown(&self.address.lower_hex()))]
    }

    fn columns(&self) -> Vec<Column> {
        vec![
            column("owner", shown(&self.owner)),
            column("revoked_at", maybe_time(self.revoked_at)),
            column("created_at", time(self.created_at)),
        ]
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn from_row(row: &Row) -> Result<Self, BadRow> {
        Ok(Self {
            address: parsed(row, "address")?,
            owner: parsed(row, "owner")?,
            revoked_at: maybe(row, "revoked_at", time_of)?,
            created_at: time_of(row, "created_at")?,
            revision: number_of(row, "revision")?,
        })
    }
}
