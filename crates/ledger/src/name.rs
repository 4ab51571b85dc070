//! The ledger's own identifiers, each of its own type: whose books, which account, which record, which hold.

use std::{fmt, str::FromStr};

use bankroll_money::{Name, NameError};
use serde::{Deserialize, Serialize};

/// The books that an account or a key belongs to: the operator's own, or those of one game server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scope {
    House,
    Server(Name),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Not a legal `Name`, so that no server can call itself the house.
            Self::House => f.write_str("@house"),
            Self::Server(server) => server.fmt(f),
        }
    }
}

impl FromStr for Scope {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        if text == "@house" { Ok(Self::House) } else { text.parse().map(Self::Server) }
    }
}

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

number! {
    /// An account's number in this ledger, assigned when it is opened and never reused.
    AccountId(u64)
}
number! {
    /// The position of a record in the journal, from 1, without gaps.
    Seq(u64)
}
number! {
    /// A hold's number: the journal position of the request that made it and the leg's index in that request.
    HoldId(u64)
}

impl Seq {
    /// # Panics
    /// After 2^64 records, which at a million a second is half a million years away.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.checked_add(1).expect("fewer than 2^64 records"))
    }
}

impl HoldId {
    /// The hold made by leg `leg` (0 to 15) of the request at `seq`.
    ///
    /// # Panics
    /// After 2^60 records.
    #[must_use]
    pub fn of(seq: Seq, leg: u8) -> Self {
        let base = seq.0.checked_mul(16).expect("fewer than 2^60 records");
        Self(base | u64::from(leg & 0x0f))
    }

    /// The journal position of the request that made the hold.
    #[must_use]
    pub fn made_by(self) -> Seq {
        Seq(self.0 >> 4)
    }
}
