//! Where books are.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// Where books are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// SQLite in a folder.
    Folder(PathBuf),
    /// A database of a Postgres server.
    Postgres(DatabaseUrl),
}

/// `postgres://user:password@host,standby:5432/database`: never shown, since it may have a password in it.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Takes the text as it is; whether it can be used shows when it is.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text with all it has in it; not for showing.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseUrl")
    }
}

impl From<DatabaseUrl> for Location {
    fn from(url: DatabaseUrl) -> Self {
        Self::Postgres(url)
    }
}

impl From<PathBuf> for Location {
    fn from(folder: PathBuf) -> Self {
        Self::Folder(folder)
    }
}

impl From<&PathBuf> for Location {
    fn from(folder: &PathBuf) -> Self {
        Self::Folder(folder.clone())
    }
}

impl From<&Path> for Location {
    fn from(folder: &Path) -> Self {
        Self::Folder(folder.into())
    }
}

impl From<&Location> for Location {
    fn from(location: &Self) -> Self {
        location.clone()
    }
}
