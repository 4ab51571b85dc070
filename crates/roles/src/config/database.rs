//! The URL of a database: used whole, shown without its password.

use std::fmt;

use bankroll_store::{DatabaseUrl, DatabaseUrlError};
use serde::{Deserialize, Serialize, Serializer};

/// Empty for books in a folder.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct DatabaseConfig(String);

impl DatabaseConfig {
    pub fn url(&self) -> Option<DatabaseUrl> {
        (!self.0.is_empty()).then(|| DatabaseUrl::new(self.0.clone()))
    }

    /// Without its password.
    pub fn shown(&self) -> String {
        without_password(&self.0)
    }

    pub(super) fn problem(&self) -> Option<String> {
        match self.url()?.protection().err()? {
            DatabaseUrlError::Form => Some("write it postgres://user@host:5432/database".into()),
            error => Some(format!("{:#}", anyhow::Error::from(error))),
        }
    }
}

impl Serialize for DatabaseConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.shown())
    }
}

impl fmt::Debug for DatabaseConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

/// See [`DatabaseUrl::shown`].
pub fn without_password(url: &str) -> String {
    DatabaseUrl::new(url).shown()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        let check = |url: &str, shown: &str| assert_eq!(without_password(url), shown);
        check("", "");
        check("postgres://bank@db:5432/books", "postgres://bank@db:5432/books");
        check("postgres://bank:s3cret@db,standby/books", "postgres://bank:***@db,standby/books");
        check("postgres://bank:p@ss:word@db/books", "postgres://bank:***@db/books");
        check("postgres://bank@db/books?password=s3cret&x=1", "postgres://bank@db/books?password=***&x=1");
        assert_eq!(format!("{:?}", DatabaseConfig("postgres://a:b@c/d".into())), "postgres://a:***@c/d");
    }
}
