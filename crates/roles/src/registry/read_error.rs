//! An error of the registry, as a flow that reads a few of its rows sees it.

use bankroll_registry::RegistryError;
use bankroll_store::{StoreError, columns::BadRow};

/// Either the store failed, or a row is not as this program writes it.
pub(crate) fn read_error(error: RegistryError) -> Result<StoreError, BadRow> {
    match error {
        RegistryError::Store(error) => Ok(error),
        RegistryError::Row { bad, .. } => Err(bad),
        // No flow reads the audit log.
        RegistryError::Log(_)
        | RegistryError::LogCutShort { .. }
        | RegistryError::LogNotInJournal { .. }
        | RegistryError::OverrideUnsigned { .. } => Err(BadRow { column: "entry" }),
        RegistryError::FreezeMismatch { .. } => Err(BadRow { column: "frozen" }),
    }
}
