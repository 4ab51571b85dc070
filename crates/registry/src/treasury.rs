//! Addresses that the operator's own capital comes from.

use bankroll_ledger::{Column, Name, Row, Time};
use bankroll_orders::Address;
use bankroll_store::columns::{BadRow, maybe, number_of, parsed, text, time};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, column, maybe_time, shown, string_of, time_of};

/// A payment from this address is the operator's capital.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreasuryAddress {
    pub chain: Name,
    pub address: Address,
    pub label: String,
    /// From this time on payments from it are a stranger's again.
    pub removed_at: Option<Time>,
    pub created_at: Time,
    pub revision: u64,
}

impl Entry for TreasuryAddress {
    const TABLE: &'static str = "treasury_addresses";

    fn key(&self) -> Vec<Column> {
        vec![column("chain", shown(&self.chain)), column("address", shown(&self.address.lower_hex()))]
    }

    fn columns(&self) -> Vec<Column> {
        vec![
            column("label", text(&self.label)),
            column("removed_at", maybe_time(self.removed_at)),
            column("created_at", time(self.created_at)),
        ]
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn from_row(row: &Row) -> Result<Self, BadRow> {
        Ok(Self {
            chain: parsed(row, "chain")?,
            address: parsed(row, "address")?,
            label: string_of(row, "label")?,
            removed_at: maybe(row, "removed_at", time_of)?,
            created_at: time_of(row, "created_at")?,
            revision: number_of(row, "revision")?,
        })
    }
}
