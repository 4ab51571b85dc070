//! Assets: a chain's native coin, or one token contract on it. Data, not code.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Name;

/// The number of an asset in one ledger, assigned when the asset is listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AssetId(pub u32);

impl fmt::Display for AssetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A coin on one chain.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asset {
    /// The chain, as in CAIP-2: `eip155:1`.
    pub chain: Name,
    pub unit: Unit,
    /// How many digits to display after the point. Never used in arithmetic.
    pub decimals: u8,
    /// For display. Never used to distinguish assets: anyone can deploy a second "USDT".
    pub symbol: String,
}

/// The native coin of a chain, or a token on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    Native,
    /// A token contract, by its address in lower case.
    Token(Name),
}

impl Asset {
    /// Whether both are the same coin on the same chain. Decimals and symbol only describe it.
    #[must_use]
    pub fn is_same_coin(&self, other: &Self) -> bool {
        self.chain == other.chain && self.unit == other.unit
    }
}
