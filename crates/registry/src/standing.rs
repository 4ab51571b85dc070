//! Conditions on the registry that a flow puts into its own request: the books check them in its commit, so that no
//! money moves by a configuration that was changed while the request was on its way.

use bankroll_ledger::{Fact, Guard, GuardFailure, Name, RowKey, Time};
use bankroll_store::{
    Reader,
    columns::{int, number_of},
};

use crate::{
    PlayerFreeze, RegisteredPlayer, RegisteredServer, RegistryError,
    entry::{Entry, column, shown, string_of},
};

/// The condition that a server still has this version of its configuration. If not, the request is not remembered: it
/// is built again from the newer version.
#[must_use]
pub fn server_is_unchanged(server: &Name, version: u64) -> Fact {
    unchanged(RegisteredServer::TABLE, "name", server, RegisteredServer::REVISION, version)
}

/// Whether a player has excluded themselves, and the condition that nothing about it has changed since. `None` for a
/// player who never signed in.
///
/// # Errors
/// If the books cannot be read.
pub fn player_exclusion(reader: &Reader, player: &Name, now: Time) -> Result<Option<(bool, Fact)>, RegistryError> {
    let table = RegisteredPlayer::TABLE;
    let found = reader.rows("SELECT * FROM players WHERE player = $1", vec![shown(player)])?;
    let Some(row) = found.first() else { return Ok(None) };
    let bad_row = |bad| RegistryError::Row { table, bad };
    let entry = RegisteredPlayer::from_row(row).map_err(bad_row)?;
    let revision = number_of(row, RegisteredPlayer::REVISION).map_err(bad_row)?;
    let fact = unchanged(table, "player", player, RegisteredPlayer::REVISION, revision);
    Ok(Some((entry.is_excluded(now), fact)))
}

/// Why the owner of an account is frozen, if they are, as the rows say it: under their own name, or any wallet that they
/// have proved. It is [`Registry::frozen`](crate::Registry::frozen) for a process without the registry in memory.
///
/// # Errors
/// If the books cannot be read.
pub fn frozen_owner(reader: &Reader, owner: &Name) -> Result<Option<String>, RegistryError> {
    let sql = "SELECT reason FROM player_freezes WHERE frozen = 1 AND (player = $1
      OR player IN (SELECT player FROM player_wallets WHERE wallet = $1)
      OR player IN (SELECT wallet FROM player_wallets
        WHERE player = $1 OR player IN (SELECT player FROM player_wallets WHERE wallet = $1)))
      ORDER BY player LIMIT 1";
    let found = reader.rows(sql, vec![shown(owner)])?;
    let reason = found.first().map(|row| string_of(row, "reason")).transpose();
    reason.map_err(|bad| RegistryError::Row { table: PlayerFreeze::TABLE, bad })
}

fn unchanged(table: &str, key: &str, name: &Name, revision_column: &str, revision: u64) -> Fact {
    Fact {
        row: RowKey { table: table.to_owned(), columns: vec![column(key, shown(name))] },
        guard: Guard::Is(vec![column(revision_column, int(revision))]),
        otherwise: GuardFailure::Paused,
        set: Vec::new(),
    }
}
