//! The accounts between which a spawn's money moves.

use bankroll_ledger::{Account, AccountId, AccountKind, AccountName, AssetId, Name, Scope};
use bankroll_store::{Reader, StoreError};

/// The accounts of a player and of the server that they play at.
#[derive(Clone, Debug)]
pub struct SpawnAccounts {
    /// The player's money that may be staked.
    pub funds: Account,
    pub world: AccountId,
    /// The player's money that is not a stake yet, with the accounts of the fees on top; `None` if one is not open.
    pub unallocated: Option<UnallocatedAccounts>,
}

#[derive(Clone, Debug)]
pub struct UnallocatedAccounts {
    pub unallocated: Account,
    pub developer: AccountId,
    pub ecosystem: AccountId,
}

impl SpawnAccounts {
    /// The accounts as they are now; `None` if the player has no funds, or the server no world.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn find(reader: &Reader, server: &Name, asset: AssetId, wallet: &Name) -> Result<Option<Self>, StoreError> {
        let find = |kind: AccountKind, owner: Option<&Name>| {
            let scope = Scope::Server(server.clone());
            reader.account_named(&AccountName { scope, kind, asset, owner: owner.cloned() })
        };
        let (Some(funds), Some(world)) = (find(AccountKind::Funds, Some(wallet))?, find(AccountKind::World, None)?)
        else {
            return Ok(None);
        };
        let (unallocated, developer, ecosystem) = (
            find(AccountKind::Unallocated, Some(wallet))?,
            find(AccountKind::Developer, None)?,
            find(AccountKind::Ecosystem, None)?,
        );
        let unallocated = match (unallocated, developer, ecosystem) {
            (Some(unallocated), Some(developer), Some(ecosystem)) => {
                Some(UnallocatedAccounts { unallocated, developer: developer.id, ecosystem: ecosystem.id })
            }
            _ => None,
        };
        Ok(Some(Self { funds, world: world.id, unallocated }))
    }
}
