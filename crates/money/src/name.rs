//! Names: short, in one spelling only.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A short lower-case name: of a server, a wallet, an operator, a seat.
///
/// `[a-z0-9_.:-]`, 1 to 128 bytes. No upper case (two spellings of one wallet must not be two accounts), no slash
/// (it separates the parts of an account's name), no white space, no wildcard of any store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(Box<str>);

/// A text that is not a [`Name`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a name is 1 to 128 characters of a-z, 0-9, '_', '.', ':' and '-'; got {given:?}")]
pub struct NameError {
    /// The refused text, truncated to 64 characters.
    pub given: String,
}

impl Name {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b':' | b'-');
        if (1..=128).contains(&text.len()) && text.bytes().all(legal) {
            Ok(Self(text.into()))
        } else {
            Err(NameError { given: text.chars().take(64).collect() })
        }
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0.into()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
