//! The watch list: which addresses are ours, and whose deposit a payment to them is.
//!
//! A sender proves nothing by sending: exchanges and contract wallets send for many. So an address belongs to one
//! player, or it credits only those senders whose players have proved that the wallet is theirs; what any other
//! sender pays is kept in suspense. Money between our own addresses is not a deposit.

use std::collections::{BTreeMap, BTreeSet};

use bankroll_chains_evm::Address;
use bankroll_ledger::{AccountName, AssetId, Name};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedAddress {
    /// The server whose players pay here, in every asset that `by_asset` does not name.
    pub server: Name,
    /// The account of the address for the chain's coin: what it must hold on chain.
    pub custody: AccountName,
    pub payer: Payer,
    /// Assets in which it belongs to another server, or in which another rule finds the player.
    pub by_asset: BTreeMap<AssetId, (Name, Payer)>,
    /// The first block in which it counts.
    pub since: u64,
}

impl WatchedAddress {
    /// The account of the address for one asset.
    #[must_use]
    pub fn custody_of(&self, asset: AssetId) -> AccountName {
        AccountName { asset, ..self.custody.clone() }
    }

    fn owner_of(&self, asset: AssetId) -> (&Name, &Payer) {
        self.by_asset.get(&asset).map_or((&self.server, &self.payer), |(server, payer)| (server, payer))
    }
}

/// How the player of a payment is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payer {
    /// This player, whatever the sender: the address was made for them.
    Player(Name),
    /// The player who has proved that the sending wallet is theirs; see [`WatchList::proven`].
    Sender,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchList {
    /// Our addresses. An address that is no longer handed out stays here for ever: players may still pay to it.
    pub addresses: BTreeMap<Address, WatchedAddress>,
    /// The token contracts that count, each with its asset. A token is its contract: its name proves nothing.
    pub tokens: BTreeMap<Address, AssetId>,
    /// Addresses that the operator's own capital comes from.
    pub treasury: BTreeSet<Address>,
    /// Wallets that their players have proved to be theirs, by signing in with them. The name is the player's.
    pub proven: BTreeMap<Address, Name>,
    /// Wallets we pay from that are not watched themselves.
    pub own: BTreeSet<Address>,
    /// Wallets of ours that send transactions, watched or not: few, since a node is asked for their number of
    /// transactions in each step.
    pub paying: BTreeSet<Address>,
}

/// What a payment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A player's deposit.
    Player,
    /// The operator's own capital.
    Treasury,
    /// From an unknown sender.
    Unknown,
    /// Between two addresses of ours: not a deposit.
    Internal,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribution {
    pub purpose: Purpose,
    pub server: Name,
    /// The player, if known.
    pub wallet: Option<Name>,
    pub custody: AccountName,
}

impl WatchList {
    /// Whether payments to this address count in this block.
    #[must_use]
    pub fn watches(&self, block: u64, to: Address) -> bool {
        self.addresses.get(&to).is_some_and(|watched| watched.since <= block)
    }

    /// Whether the key of this address is ours.
    #[must_use]
    pub fn is_ours(&self, address: Address) -> bool {
        self.addresses.contains_key(&address) || self.own.contains(&address) || self.paying.contains(&address)
    }

    /// Whose deposit a payment of this asset in this block is; `None` if it is not to us.
    #[must_use]
    pub fn attribute(&self, block: u64, from: Address, to: Address, asset: AssetId) -> Option<Attribution> {
        let watched = self.addresses.get(&to).filter(|watched| watched.since <= block)?;
        let (server, payer) = watched.owner_of(asset);
        let (purpose, wallet) = if self.is_ours(from) {
            (Purpose::Internal, None)
        } else if self.treasury.contains(&from) {
            (Purpose::Treasury, None)
        } else {
            let player = match payer {
                Payer::Player(player) => Some(player),
                Payer::Sender => self.proven.get(&from),
            };
            player.map_or((Purpose::Unknown, None), |player| (Purpose::Player, Some(player.clone())))
        };
        Some(Attribution { purpose, server: server.clone(), wallet, custody: watched.custody_of(asset) })
    }
}

impl Purpose {
    /// The word in rows.
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
