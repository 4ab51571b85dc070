//! Where books are.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::engine::postgres::ConnectionConfig;

/// What a URL may contain without an escape.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Where books are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// SQLite in a folder.
    Folder(PathBuf),
    /// A database of a Postgres server.
    Postgres(DatabaseUrl),
}

/// `postgres://user:password@host,standby:5432/database?sslrootcert=ca.pem`. `Debug` does not print it, since it may
/// contain a password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Stores the text unparsed; errors appear when it is used.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, password included; never print it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The URL with stars instead of its password, before the host or among the parameters.
    #[must_use]
    pub fn shown(&self) -> String {
        let url = self.0.as_str();
        let (address, parameters) = url.split_once('?').map_or((url, None), |(address, rest)| (address, Some(rest)));
        let shown = match address.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?))) {
            Some((scheme, (login, host))) => {
                let user = login.split_once(':').map_or_else(|| login.to_owned(), |(user, _)| format!("{user}:***"));
                format!("{scheme}://{user}@{host}")
            }
            None => address.to_owned(),
        };
        let Some(parameters) = parameters else { return shown };
        let hide = |pair: &str| if pair.starts_with("password=") { "password=***".into() } else { pair.to_owned() };
        format!("{shown}?{}", parameters.split('&').map(hide).collect::<Vec<String>>().join("&"))
    }

    /// How the URL says that traffic to the server is protected.
    ///
    /// # Errors
    /// If the URL cannot be used. Opens no connection and reads no file.
    pub fn protection(&self) -> Result<Protection, DatabaseUrlError> {
        self.read().map(|address| address.protection)
    }

    /// The database's name.
    ///
    /// # Errors
    /// If the URL cannot be used.
    pub fn database(&self) -> Result<String, DatabaseUrlError> {
        let config = self.read()?.config;
        // As the server does it: without a name, the database is the one of the user's name.
        let name = config.get_dbname().or_else(|| config.get_user());
        name.map(str::to_owned).ok_or(DatabaseUrlError::Form)
    }

    /// The password, if the URL has one; never print it.
    ///
    /// # Errors
    /// If the URL cannot be used.
    pub fn password(&self) -> Result<Option<String>, DatabaseUrlError> {
        let config = self.read()?.config;
        Ok(config.get_password().map(|password| String::from_utf8_lossy(password).into_owned()))
    }

    /// The same database with the login of another user.
    ///
    /// # Errors
    /// If the URL cannot be used.
    pub fn for_user(&self, user: &str, password: &str) -> Result<Self, DatabaseUrlError> {
        let encoded = |text: &str| utf8_percent_encode(text, UNRESERVED).to_string();
        let database = self.database()?;
        let (scheme, rest) = self.0.split_once("://").ok_or(DatabaseUrlError::Form)?;
        let after_login = rest.rfind('@').map_or(rest, |at| &rest[at + 1..]);
        let (address, parameters) = after_login.split_once('?').unwrap_or((after_login, ""));
        let hosts = address.split_once('/').map_or(address, |(hosts, _)| hosts);
        let login = ["user=", "password=", "dbname="];
        let kept = parameters.split('&').filter(|pair| !login.iter().any(|name| pair.starts_with(name)));
        let kept = kept.filter(|pair| !pair.is_empty()).collect::<Vec<_>>().join("&");
        let question = if kept.is_empty() { "" } else { "?" };
        let (user, password, database) = (encoded(user), encoded(password), encoded(&database));
        Ok(Self(format!("{scheme}://{user}:{password}@{hosts}/{database}{question}{kept}")))
    }

    pub(crate) fn read(&self) -> Result<ConnectionConfig, DatabaseUrlError> {
        self.0.parse()
    }
}

/// Where the books of a folder went, by the mark that the move has left in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedBooks {
    /// The URL of the database, without its password.
    pub to: String,
    /// When, in UTC.
    pub at: String,
}

/// How the connection to a server is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Nothing leaves this machine.
    Local,
    /// Not at all: an attacker on the network can read passwords and change amounts.
    PlainText,
    /// By TLS if the server offers it, which an attacker on the network can prevent.
    IfOffered {
        /// Whether the server's certificate is verified if it does.
        verified: bool,
    },
    /// By TLS without a verified certificate: stops eavesdroppers only.
    Unverified,
    /// By TLS with a verified certificate of the server.
    Verified,
}

/// A database URL that cannot be used. The messages never quote it, since it may contain a password.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseUrlError {
    /// Not of the form `postgres://user@host/database`.
    #[error("the address of the database is not of the form postgres://user@host/database")]
    Form,
    /// An invalid port, host or value.
    #[error("the address of the database cannot be read")]
    Unreadable(#[from] tokio_postgres::Error),
    /// An unknown parameter.
    #[error("the address of the database has a parameter `{name}` that is not known")]
    Parameter { name: String },
    /// An unknown `sslmode`.
    #[error("sslmode must be disable, prefer, require or verify-full")]
    Mode,
    /// The file of root certificates has none that can be used.
    #[error("there are no certificates that can be used in {path} (sslrootcert)")]
    Roots { path: PathBuf },
    /// The machine has no root certificates.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_database_with_another_login() {
        let check = |url: &str, expected: &str| {
            assert_eq!(DatabaseUrl::new(url).for_user("books_indexer", "s3cret").unwrap().reveal(), expected);
        };
        check("postgres://owner@db/books", "postgres://books_indexer:s3cret@db/books");
        check("postgres://owner:p@ss@db,standby:5433/books", "postgres://books_indexer:s3cret@db,standby:5433/books");
        check("postgres://books@db", "postgres://books_indexer:s3cret@db/books");
        check(
            "postgres://db/x?user=owner&password=a&sslmode=require&dbname=books",
            "postgres://books_indexer:s3cret@db/books?sslmode=require",
        );
        check("postgres://owner@%2Frun%2Fpg/books", "postgres://books_indexer:s3cret@%2Frun%2Fpg/books");
    }
}
