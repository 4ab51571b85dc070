//! The id of an alert: `alt_` and 32 hexadecimal digits.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::AlertKind;

/// An alert. Its kind, its subject and the number of its opening decide it: two processes that open the same alert at
/// the same time write the same row, and the books accept one of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AlertId(String);

impl AlertId {
    pub(crate) fn new(kind: AlertKind, subject: &str, opening: u64) -> Self {
        let place = format!("{kind}\0{subject}\0{opening}");
        let short: String = hex::encode(Sha256::digest(place)).chars().take(32).collect();
        Self(format!("alt_{short}"))
    }

    /// The id that a caller wrote; `None` if it cannot be one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("alt_")?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (digits.len() == 32 && digits.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AlertId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
