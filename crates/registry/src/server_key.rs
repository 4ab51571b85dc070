//! The allow-list: which address may register and act for which server, and within which bounds.

use bankroll_ledger::{Amount, AssetId, Column, ColumnValue, Name, Row, Time};
use bankroll_orders::Address;
use bankroll_store::columns::{BadRow, amount_of, int, maybe, number_of, parsed, time};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, column, maybe_time, shown, small_of, time_of};

/// The terms that a key may register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyBounds {
    pub buy_in_min: Amount,
    pub buy_in_max: Amount,
    pub developer_bps_max: u32,
    pub world_bps_max: u32,
}

/// An address that may act for one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerKey {
    pub address: Address,
    pub server: Name,
    pub chain: Name,
    pub asset: AssetId,
    pub custody_key: Name,
    pub bounds: KeyBounds,
    /// What calls with this key may take out of players' reach in a minute; `None` for no limit.
    pub spend_limit: Option<Amount>,
    /// The key is good until this time: the overlap of a rotation.
    pub valid_until: Option<Time>,
    /// Set once, for ever. Its sessions are dead from then on.
    pub revoked_at: Option<Time>,
    pub created_at: Time,
    pub revision: u64,
}

/// Whether a key may act now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStanding {
    Valid,
    /// Its `valid_until` has passed.
    Expired,
    Revoked,
}

impl ServerKey {
    #[must_use]
    pub fn standing(&self, now: Time) -> KeyStanding {
        if self.revoked_at.is_some() {
            KeyStanding::Revoked
        } else if self.valid_until.is_some_and(|until| until <= now) {
            KeyStanding::Expired
        } else {
            KeyStanding::Valid
        }
    }
}

impl Entry for ServerKey {
    const TABLE: &'static str = "server_keys";

    fn key(&self) -> Vec<Column> {
        vec![column("address", shown(&self.address.lower_hex()))]
    }

    fn columns(&self) -> Vec<Column> {
        vec![
            column("server", shown(&self.server)),
            column("chain", shown(&self.chain)),
            column("asset", int(self.asset.0.into())),
            column("custody_key", shown(&self.custody_key)),
            column("buy_in_min", ColumnValue::Amount(self.bounds.buy_in_min)),
            column("buy_in_max", ColumnValue::Amount(self.bounds.buy_in_max)),
            column("developer_bps_max", int(self.bounds.developer_bps_max.into())),
            column("world_bps_max", int(self.bounds.world_bps_max.into())),
            column("spend_limit", self.spend_limit.map_or(ColumnValue::Null, ColumnValue::Amount)),
            column("valid_until", maybe_time(self.valid_until)),
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
            server: parsed(row, "server")?,
            chain: parsed(row, "chain")?,
            asset: AssetId(small_of(row, "asset")?),
            custody_key: parsed(row, "custody_key")?,
            bounds: KeyBounds {
                buy_in_min: amount_of(row, "buy_in_min")?,
                buy_in_max: amount_of(row, "buy_in_max")?,
                developer_bps_max: small_of(row, "developer_bps_max")?,
                world_bps_max: small_of(row, "world_bps_max")?,
            },
            spend_limit: maybe(row, "spend_limit", amount_of)?,
            valid_until: maybe(row, "valid_until", time_of)?,
            revoked_at: maybe(row, "revoked_at", time_of)?,
            created_at: time_of(row, "created_at")?,
            revision: number_of(row, "revision")?,
        })
    }
}
