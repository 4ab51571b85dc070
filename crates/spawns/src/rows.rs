//! The rows of spawns: reading them whole.

use bankroll_ledger::{Amount, AssetId, Effects, HoldId, Name, Request, Row, Time};
use bankroll_store::{
    Migrations, Reader, StoreError,
    columns::{BadRow, amount_of, maybe, number_of, parsed, text, text_of},
};

use crate::{Mass, SpawnError, SpawnId, SpawnStatus, requests::spawn_row};

/// The tables of this flow.
pub const SPAWNS: Migrations = Migrations {
    owner: "spawns",
    steps: &[include_str!("../migrations/0001_spawns.sql")],
    postgres: &[include_str!("../migrations/0001_spawns_postgres.sql")],
};

pub(crate) const COLUMNS: &str = "SELECT id, server, request_key, wallet, asset, amount, mass, mass_decimals, deposit,
    config_version, status, reserved_at, expires_at, hold FROM spawns";

/// A spawn as its row states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpawnView {
    pub id: SpawnId,
    pub server: Name,
    /// The game server's own key of the reservation.
    pub request_key: String,
    /// The player.
    pub wallet: Name,
    pub asset: AssetId,
    /// What entered, or will enter, the world.
    pub amount: Amount,
    pub mass: Mass,
    /// The deposit that it consumes.
    pub deposit: Option<String>,
    /// The version of the server's configuration that set the price.
    pub version: u64,
    /// As stored; [`SpawnStatus::at`] says what it means at a time.
    pub status: SpawnStatus,
    pub reserved_at: Time,
    pub expires_at: Time,
    /// The hold of the price, where it is noted.
    pub hold: Option<HoldId>,
}

impl SpawnView {
    /// The spawn that an applied request reserved; `None` if it reserved none.
    #[must_use]
    pub fn of_request(request: &Request, effects: &Effects) -> Option<Self> {
        let fact = request.facts.iter().find(|fact| fact.row.table == crate::SPAWNS_TABLE)?;
        let mut row = fact.apply(None);
        row.insert("hold".into(), bankroll_ledger::ColumnValue::Null);
        let hold = effects.holds.first()?.hold.id;
        Some(Self { hold: Some(hold), ..view_of(&row).ok()? })
    }

    /// What its status means now.
    #[must_use]
    pub fn status_at(&self, now: Time) -> SpawnStatus {
        self.status.at(now, self.expires_at)
    }
}

/// The row of a spawn.
pub(crate) fn find(reader: &Reader, id: &SpawnId) -> Result<Option<SpawnView>, SpawnError> {
    let found = reader.rows(&format!("{COLUMNS} WHERE id = $1"), vec![text(id.as_str())])?;
    Ok(found.first().map(view_of).transpose()?)
}

pub(crate) fn view_of(row: &Row) -> Result<SpawnView, BadRow> {
    let small = |column| number_of(row, column).and_then(|number| u8::try_from(number).map_err(|_| BadRow { column }));
    let status = SpawnStatus::from_row(text_of(row, "status")?);
    Ok(SpawnView {
        id: SpawnId::parse(text_of(row, "id")?).ok_or(BadRow { column: "id" })?,
        server: parsed(row, "server")?,
        request_key: text_of(row, "request_key")?.to_owned(),
        wallet: parsed(row, "wallet")?,
        asset: AssetId(u32::try_from(number_of(row, "asset")?).map_err(|_| BadRow { column: "asset" })?),
        amount: amount_of(row, "amount")?,
        mass: Mass { units: amount_of(row, "mass")?.units(), decimals: small("mass_decimals")? },
        deposit: maybe(row, "deposit", text_of)?.map(str::to_owned),
        version: number_of(row, "config_version")?,
        status: status.ok_or(BadRow { column: "status" })?,
        reserved_at: Time(number_of(row, "reserved_at")?),
        expires_at: Time(number_of(row, "expires_at")?),
        hold: maybe(row, "hold", number_of)?.map(HoldId),
    })
}

/// The spawn that has a deposit, and what became of the deposit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Consumption {
    pub spawn: SpawnId,
    /// The stored word: `reserved`, `consumed` or `released`.
    pub status: String,
}

pub(crate) fn consumption(reader: &Reader, server: &Name, deposit: &str) -> Result<Option<Consumption>, SpawnError> {
    let sql = "SELECT spawn, status FROM deposit_consumptions WHERE server = $1 AND deposit = $2";
    let Some(row) = reader.rows(sql, vec![text(server.as_str()), text(deposit)])?.pop() else { return Ok(None) };
    let spawn = SpawnId::parse(text_of(&row, "spawn")?).ok_or(BadRow { column: "spawn" })?;
    Ok(Some(Consumption { spawn, status: text_of(&row, "status")?.to_owned() }))
}

/// Whether a request is the one that reserved this spawn.
pub(crate) fn has_reserved(request: &Request, id: &SpawnId) -> bool {
    request.facts.iter().any(|fact| fact.row == spawn_row(id) && fact.guard == bankroll_ledger::Guard::Absent)
}

/// Whether these books have the tables of spawns.
///
/// # Errors
/// If the books cannot be read.
pub(crate) fn has_tables(reader: &Reader) -> Result<bool, StoreError> {
    let sql = "SELECT owner FROM migrations WHERE owner = $1";
    Ok(!reader.rows(sql, vec![text(SPAWNS.owner)])?.is_empty())
}
