//! Chains, and the assets on them.

use bankroll_ledger::{AssetId, Column, ColumnValue, Name, Row, Time, Unit};
use bankroll_orders::{Address, ChainId};
use bankroll_store::columns::{BadRow, int, number_of, parsed, text, time};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, column, maybe_parsed, shown, small_of, string_of, time_of};

/// A chain that servers, wallets and players may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredChain {
    /// As in CAIP-2: `eip155:1`.
    pub name: Name,
    pub id: ChainId,
    /// For people: `Ethereum`.
    pub label: String,
    pub created_at: Time,
    pub revision: u64,
}

/// An asset of the ledger, as the chain knows it: table `asset_on_chain`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredAsset {
    pub asset: AssetId,
    pub chain: Name,
    pub unit: Unit,
    pub decimals: u8,
    pub symbol: String,
    pub created_at: Time,
    pub revision: u64,
}

impl RegisteredAsset {
    /// The token's contract; `None` for the native coin.
    #[must_use]
    pub fn token(&self) -> Option<Address> {
        match &self.unit {
            Unit::Native => None,
            Unit::Token(contract) => contract.as_str().parse().ok(),
        }
    }
}

impl Entry for RegisteredChain {
    const TABLE: &'static str = "chains";

    fn key(&self) -> Vec<Column> {
        vec![column("name", shown(&self.name))]
    }

    fn columns(&self) -> Vec<Column> {
        vec![
            column("chain_id", int(self.id.0)),
            column("label", text(&self.label)),
            column("created_at", time(self.created_at)),
        ]
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn from_row(row: &Row) -> Result<Self, BadRow> {
        Ok(Self {
            name: parsed(row, "name")?,
            id: ChainId(number_of(row, "chain_id")?),
            label: string_of(row, "label")?,
            created_at: time_of(row, "created_at")?,
            revision: number_of(row, "revision")?,
        })
    }
}

impl Entry for RegisteredAsset {
    const TABLE: &'static str = "asset_on_chain";

    fn key(&self) -> Vec<Column> {
        vec![column("asset", int(u64::from(self.asset.0)))]
    }

    fn columns(&self) -> Vec<Column> {
        let (unit, token) = match &self.unit {
            Unit::Native => ("native", ColumnValue::Null),
            Unit::Token(contract) => ("token", shown(contract)),
        };
        vec![
            column("chain", shown(&self.chain)),
            column("unit", text(unit)),
            column("token_address", token),
            column("decimals", int(u64::from(self.decimals))),
            column("symbol", text(&self.symbol)),
            column("created_at", time(self.created_at)),
        ]
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn from_row(row: &Row) -> Result<Self, BadRow> {
        let token = maybe_parsed(row, "token_address")?;
        let unit = match (string_of(row, "unit")?.as_str(), token) {
            ("native", None) => Unit::Native,
            ("token", Some(contract)) => Unit::Token(contract),
            _ => return Err(BadRow { column: "unit" }),
        };
        Ok(Self {
            asset: AssetId(small_of(row, "asset")?),
            chain: parsed(row, "chain")?,
            unit,
            decimals: small_of(row, "decimals")?,
            symbol: string_of(row, "symbol")?,
            created_at: time_of(row, "created_at")?,
            revision: number_of(row, "revision")?,
        })
    }
}
