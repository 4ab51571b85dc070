//! The name of a node: a label that fits into certificates, file names and log lines.

use std::{fmt, str::FromStr};

/// The longest name, in bytes.
const LENGTH_MAX: usize = 40;

/// `books-1`: lower-case letters, digits and hyphens, beginning with a letter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeName(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not a node name: use up to {LENGTH_MAX} lower-case letters, digits and hyphens, as in books-1")]
pub struct NodeNameError {
    given: String,
}

impl NodeName {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for NodeName {
    type Err = NodeNameError;

    fn from_str(text: &str) -> Result<Self, NodeNameError> {
        let legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let is_name = (1..=LENGTH_MAX).contains(&text.len())
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && !text.ends_with('-')
            && text.bytes().all(legal);
        if is_name { Ok(Self(text.to_owned())) } else { Err(NodeNameError { given: text.chars().take(80).collect() }) }
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_everywhere_they_are_written() {
        for good in ["a", "books-1", "api-eu-west-2"] {
            assert_eq!(good.parse::<NodeName>().unwrap().as_str(), good);
        }
        for bad in ["", "Books", "1st", "-a", "a-", "a.b", "a/b", "ä", &"a".repeat(41)] {
            assert!(bad.parse::<NodeName>().is_err(), "{bad}");
        }
    }
}
