//! Where books are.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use crate::engine::postgres::ConnectionConfig;

/// Where books are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// SQLite in a folder.
    Folder(PathBuf),
    /// A database of a Postgres server.
    Postgres(DatabaseUrl),
}

/// `postgres://user:password@host,standby:5432/database?sslrootcert=ca.pem`: never shown, since it may have a password in
/// it.
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

    /// How what goes to the server and comes from it is protected, by what the address says.
    ///
    /// # Errors
    /// If the address cannot be used. Nobody is asked, and no file is read.
    pub fn protection(&self) -> Result<Protection, DatabaseUrlError> {
        self.read().map(|address| address.protection)
    }

    pub(crate) fn read(&self) -> Result<ConnectionConfig, DatabaseUrlError> {
        self.0.parse()
    }
}

/// How the way to a server is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Nothing leaves this machine.
    Local,
    /// Not at all: whoever is on the way reads passwords and changes money.
    PlainText,
    /// By TLS if the server offers it, which whoever is on the way can prevent.
    IfOffered {
        /// Whether the server's certificate is verified if it does.
        verified: bool,
    },
    /// By TLS with whoever answers: keeps out who only listens.
    Unverified,
    /// By TLS with the server that the certificate names.
    Verified,
}

/// An address that cannot be used. What stands in it is not told: it may have a password in it.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseUrlError {
    /// It is not an address.
    #[error("the address of the database is not of the form postgres://user@host/database")]
    Form,
    /// A port, host or value that is none.
    #[error("the address of the database cannot be read")]
    Unreadable(#[from] tokio_postgres::Error),
    /// A parameter that is not known.
    #[error("the address of the database has a parameter `{name}` that is not known")]
    Parameter {
        /// Its name.
        name: String,
    },
    /// A way of using TLS that is not known.
    #[error("sslmode must be disable, prefer, require or verify-full")]
    Mode,
    /// The file of root certificates.
    #[error("there are no certificates that can be used in {path} (sslrootcert)")]
    Roots {
        /// Where.
        path: PathBuf,
    },
    /// The machine trusts nobody.
    #[error("this machine has no root certificates: name a file of them in sslrootcert")]
    NoRoots,
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
