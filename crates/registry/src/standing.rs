//! Conditions on the registry that a flow puts into its own request: the books check them in its commit, so that no
//! money moves by a configuration that was changed while the request was on its way.

use bankroll_ledger::{Fact, Guard, GuardFailure, Name, RowKey, Time};
use bankroll_store::{
    Reader,
    columns::{int, number_of},
};

use crate::{
    RegisteredPlayer, RegisteredServer, RegistryError,
    entry::{Entry, column, shown},
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

fn unchanged(table: &str, key: &str, name: &Name, revision_column: &str, revision: u64) -> Fact {
    Fact {
        row: RowKey { table: table.to_owned(), columns: vec![column(key, shown(name))] },
        guard: Guard::Is(vec![column(revision_column, int(revision))]),
        otherwise: GuardFailure::Paused,
        set: Vec::new(),
    }
}
