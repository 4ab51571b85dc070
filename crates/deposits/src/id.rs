//! The identity of a deposit: (chain, transaction, kind, position inside the transaction).
//!
//! The block is not part of it: a transaction that is included again is the same deposit in its next epoch.

use std::fmt;

use bankroll_chains_evm::B256;
use bankroll_ledger::Name;

/// How money arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DepositKind {
    /// The chain's own coin, as the value of the transaction itself; at position 0.
    Native,
    /// The chain's own coin, moved by a contract; at its place among the transfers of the transaction.
    Internal,
    /// A token; at the place of its log among the logs of the transaction.
    Token,
    /// A balance that moved without transfers that explain it. Its transaction is the block's hash: no transaction can
    /// be named.
    Balance,
}

impl DepositKind {
    const ALL: [Self; 4] = [Self::Native, Self::Internal, Self::Token, Self::Balance];

    /// The word in rows.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Internal => "internal",
            Self::Token => "token",
            Self::Balance => "balance",
        }
    }

    /// The word in `chain_events`.
    #[must_use]
    pub const fn event_type(self) -> &'static str {
        match self {
            Self::Native => "native-transfer",
            Self::Internal => "internal-transfer",
            Self::Token => "erc20-transfer",
            Self::Balance => "balance-change",
        }
    }

    pub(crate) fn from_row(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == text)
    }
}

/// A deposit: `eip155:1:0xab…:native:0`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DepositId(String);

impl DepositId {
    #[must_use]
    pub fn new(chain: &Name, transaction: B256, kind: DepositKind, position: u32) -> Self {
        Self(format!("{chain}:{transaction:#x}:{}:{position}", kind.as_str()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The hash of its transaction, as explorers of the chain show it.
    #[must_use]
    pub fn transaction(&self) -> &str {
        self.0.rsplit(':').nth(2).unwrap_or(&self.0)
    }

    /// The chain's name.
    #[must_use]
    pub fn chain(&self) -> &str {
        self.0.rsplitn(4, ':').nth(3).unwrap_or(&self.0)
    }

    pub(crate) fn from_row(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for DepositId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
