//! The watch list: which addresses are ours, and whose money it is that arrives there.
//!
//! A sender proves nothing by sending: exchanges and contract wallets send for many. So an address belongs to one player,
//! or it credits only those senders whose players have proved that the wallet is theirs; what anybody else sends is kept
//! in suspense. Money between our own addresses is nobody's deposit.

use std::collections::{BTreeMap, BTreeSet};

use bankroll_chains_evm::Address;
use bankroll_ledger::{AccountName, Name};

/// An address that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The server whose players pay here.
    pub server: Name,
    /// The account of the wallet behind it: what it must hold on chain.
    pub custody: AccountName,
    /// Whom a payment is for.
    pub payer: Payer,
    /// The first block in which it counts.
    pub since: u64,
}

/// Whom a payment is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payer {
    /// This player, whoever sends it: the address was made for him.
    Player(Name),
    /// The player who has proved that the sending wallet is his.
    Sender(BTreeMap<Address, Name>),
}

/// What is watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchList {
    /// Our addresses. One that is no longer given out stays in here for ever.
    pub addresses: BTreeMap<Address, Watched>,
    /// Where the operator's own capital comes from.
    pub treasury: BTreeSet<Address>,
    /// Wallets we pay from, where they are not watched themselves.
    pub own: BTreeSet<Address>,
}

/// What a payment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A player's deposit.
    Player,
    /// The operator's own capital.
    Treasury,
    /// From somebody nobody knows.
    Unknown,
    /// Between two addresses of ours: not a deposit.
    Internal,
}

/// Whose a payment is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribution {
    /// What it is.
    pub purpose: Purpose,
    /// The server.
    pub server: Name,
    /// The player, if one is known.
    pub wallet: Option<Name>,
    /// The account of the wallet that has it.
    pub custody: AccountName,
}

impl WatchList {
    /// Whether payments to this address count in this block.
    #[must_use]
    pub fn watches(&self, block: u64, to: Address) -> bool {
        self.addresses.get(&to).is_some_and(|watched| watched.since <= block)
    }

    /// Whose a payment in this block is; `None` if it is not to us.
    #[must_use]
    pub fn attribute(&self, block: u64, from: Address, to: Address) -> Option<Attribution> {
        let watched = self.addresses.get(&to).filter(|watched| watched.since <= block)?;
        let (purpose, wallet) = if self.own.contains(&from) || self.addresses.contains_key(&from) {
            (Purpose::Internal, None)
        } else if self.treasury.contains(&from) {
            (Purpose::Treasury, None)
        } else {
            let player = match &watched.payer {
                Payer::Player(player) => Some(player),
                Payer::Sender(proven) => proven.get(&from),
            };
            player.map_or((Purpose::Unknown, None), |player| (Purpose::Player, Some(player.clone())))
        };
        Some(Attribution { purpose, server: watched.server.clone(), wallet, custody: watched.custody.clone() })
    }
}

impl Purpose {
    /// The word that rows have for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Treasury => "treasury",
            Self::Unknown => "unknown",
            Self::Internal => "internal",
        }
    }

    pub(crate) fn from_row(text: &str) -> Option<Self> {
        [Self::Player, Self::Treasury, Self::Unknown, Self::Internal].into_iter().find(|known| known.as_str() == text)
    }
}
