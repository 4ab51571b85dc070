//! The roles of a node.

use std::{fmt, str::FromStr};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeRole {
    /// Writes the books while it holds their lease; otherwise a standby.
    Books,
    /// Answers game servers and players over HTTP: relays their requests to the holder of the books.
    Api,
    /// Reads chains and reports deposits.
    Indexer,
    /// Sends payouts.
    Payouts,
    /// Delivers events to webhooks.
    Notify,
    /// Reserved, and does nothing yet: compares the books with the chains.
    Reconciler,
    /// Reserved, and does nothing yet: moves hot accounts into the books.
    Drainer,
}

impl NodeRole {
    pub const ALL: [Self; 7] =
        [Self::Books, Self::Api, Self::Indexer, Self::Payouts, Self::Notify, Self::Reconciler, Self::Drainer];

    /// As it is written in configurations and certificates.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Books => "books",
            Self::Api => "api",
            Self::Indexer => "indexer",
            Self::Payouts => "payouts",
            Self::Notify => "notify",
            Self::Reconciler => "reconciler",
            Self::Drainer => "drainer",
        }
    }
}

impl fmt::Display for NodeRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no role {given:?}: give \"all\", or some of {}", NodeRoles::ALL.listed())]
pub struct UnknownRole {
    given: String,
}

impl FromStr for NodeRole {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        let named = Self::ALL.into_iter().find(|role| role.as_str() == text);
        named.ok_or_else(|| UnknownRole { given: text.chars().take(80).collect() })
    }
}

/// A set of roles; never empty if parsed from text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeRoles(u8);

impl NodeRoles {
    pub const ALL: Self = Self(0x7f);

    #[must_use]
    pub fn of(roles: &[NodeRole]) -> Self {
        roles.iter().fold(Self(0), |set, role| set.with(*role))
    }

    pub(crate) const fn with(self, role: NodeRole) -> Self {
        Self(self.0 | 1 << (role as u8))
    }

    #[must_use]
    pub const fn has(self, role: NodeRole) -> bool {
        self.0 & (1 << (role as u8)) != 0
    }

    #[must_use]
    pub const fn is_within(self, others: Self) -> bool {
        self.0 & !others.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = NodeRole> {
        NodeRole::ALL.into_iter().filter(move |role| self.has(*role))
    }

    fn listed(self) -> String {
        self.iter().map(NodeRole::as_str).collect::<Vec<_>>().join(",")
    }
}

impl FromStr for NodeRoles {
    type Err = UnknownRole;

    /// `all`, or names separated by commas.
    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        if text.trim() == "all" {
            return Ok(Self::ALL);
        }
        text.split(',').try_fold(Self(0), |set, name| Ok(set.with(name.trim().parse()?)))
    }
}

impl fmt::Display for NodeRoles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&if *self == Self::ALL { "all".into() } else { self.listed() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_read_as_they_are_written() {
        for text in ["all", "books", "books,api", "indexer,payouts,drainer"] {
            assert_eq!(text.parse::<NodeRoles>().unwrap().to_string(), text);
        }
        assert_eq!(" api , books ".parse::<NodeRoles>().unwrap().to_string(), "books,api");
        assert_eq!(NodeRoles::of(&NodeRole::ALL), NodeRoles::ALL);
        let error = "books,boks".parse::<NodeRoles>().unwrap_err().to_string();
        assert!(error.contains("\"boks\"") && error.contains("books,api,indexer"), "{error}");
        assert!("".parse::<NodeRoles>().is_err());
    }
}
