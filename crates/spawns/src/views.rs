//! Read-only views of the tables of spawns. No other crate queries these tables itself.

use bankroll_ledger::{Amount, AssetId, Name, Time};
use bankroll_store::{Reader, columns::text};

use crate::{SpawnAccounts, SpawnError, SpawnId, SpawnTerms, SpawnView, rows};

/// A spawn of a server; `None` also if it belongs to another server. Its status is what it means at this time.
///
/// # Errors
/// If the books cannot be read, or the row is not as this program writes it.
pub fn spawn_of(reader: &Reader, server: &Name, id: &SpawnId, now: Time) -> Result<Option<SpawnView>, SpawnError> {
    let found = rows::find(reader, id)?.filter(|spawn| spawn.server == *server);
    Ok(found.map(|spawn| SpawnView { status: spawn.status_at(now), ..spawn }))
}

/// The spawns of a server that are committed and not ended, ordered by id, from the one after `after`.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn live_spawns(
    reader: &Reader,
    server: &Name,
    after: Option<&SpawnId>,
    most: usize,
) -> Result<Vec<SpawnView>, SpawnError> {
    let sql =
        format!("{} WHERE server = $1 AND status = 'committed' AND id > $2 ORDER BY id LIMIT {most}", rows::COLUMNS);
    let after = after.map_or("", SpawnId::as_str);
    let found = reader.rows(&sql, vec![text(server.as_str()), text(after)])?;
    found.iter().map(|row| Ok(rows::view_of(row)?)).collect()
}

/// A live spawn at a server of a player, whose accounts have one of these owners.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn live_spawn_of(reader: &Reader, server: &Name, owners: &[Name]) -> Result<Option<SpawnView>, SpawnError> {
    let sql = format!(
        "{} WHERE server = $1 AND wallet = $2 AND status = 'committed' ORDER BY reserved_at, id LIMIT 1",
        rows::COLUMNS
    );
    for owner in owners {
        if let Some(row) = reader.rows(&sql, vec![text(server.as_str()), text(owner.as_str())])?.first() {
            return Ok(Some(rows::view_of(row)?));
        }
    }
    Ok(None)
}

/// What became of a deposit as the payment of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepositConsumption {
    /// The spawn that has or had it.
    pub spawn: SpawnId,
    /// `reserved`, `consumed` or `released`.
    pub status: String,
}

/// Whether a deposit of a server was consumed, and by which spawn; `None` if no spawn ever had it.
///
/// # Errors
/// If the books cannot be read, or the row is not as this program writes it.
pub fn consumption_of(reader: &Reader, server: &Name, deposit: &str) -> Result<Option<DepositConsumption>, SpawnError> {
    let found = rows::consumption(reader, server, deposit)?;
    Ok(found.map(|found| DepositConsumption { spawn: found.spawn, status: found.status }))
}

/// Whether these books have the tables of spawns: books that never were a node's have none.
///
/// # Errors
/// If the books cannot be read.
pub fn has_tables(reader: &Reader) -> Result<bool, SpawnError> {
    Ok(rows::has_tables(reader)?)
}

/// Whether a player could spawn now, and what that was decided from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eligibility {
    /// What the player may stake.
    pub funds: Amount,
    /// What may become a buy-in.
    pub unallocated: Amount,
    pub price: Amount,
    /// The price with the fees on top.
    pub required: Option<Amount>,
    pub refusal: Option<SpawnRefusal>,
}

/// Why a player cannot spawn now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnRefusal {
    /// The server takes no spawns now.
    Paused,
    InsufficientFunds,
}

/// Whether a player could spawn now. Nothing is reserved: another request may take the money first.
///
/// # Errors
/// If the books cannot be read.
pub fn eligibility(
    reader: &Reader,
    server: &Name,
    asset: AssetId,
    wallet: &Name,
    terms: &SpawnTerms,
) -> Result<Eligibility, SpawnError> {
    let accounts = SpawnAccounts::find(reader, server, asset, wallet)?;
    let funds = accounts.as_ref().map_or(Amount::ZERO, |accounts| accounts.funds.available());
    let unallocated = accounts.as_ref().and_then(|accounts| accounts.unallocated.as_ref());
    let unallocated = unallocated.map_or(Amount::ZERO, |accounts| accounts.unallocated.available());
    let required = terms.required();
    let is_allocatable = terms.allocates && required.is_some_and(|required| unallocated >= required);
    let refusal = match (terms.accepts, accounts.is_some() && (funds >= terms.price || is_allocatable)) {
        (false, _) => Some(SpawnRefusal::Paused),
        (true, false) => Some(SpawnRefusal::InsufficientFunds),
        (true, true) => None,
    };
    Ok(Eligibility { funds, unallocated, price: terms.price, required, refusal })
}
