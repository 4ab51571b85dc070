//! Treasury addresses, and the keys of owners.

use bankroll_ledger::{Name, Time};
use bankroll_orders::Address;
use serde::{Deserialize, Serialize};

use super::{RegistryDecision, check_label};
use crate::{
    OwnerKey, Registry, RegistryChange, RegistryRefusal, TreasuryAddress,
    refusal::{exists, missing},
};

/// An address of the operator's capital.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreasuryDraft {
    pub chain: Name,
    pub address: Address,
    #[serde(default)]
    pub label: String,
}

impl Registry {
    /// # Errors
    /// If it is registered, or is a wallet of ours or of a player.
    pub fn add_treasury(&self, draft: &TreasuryDraft, now: Time) -> RegistryDecision {
        check_label("label", &draft.label)?;
        self.chain(&draft.chain).ok_or_else(|| missing("chain", &draft.chain))?;
        let malformed = |why| Err(RegistryRefusal::Malformed { field: "address", why });
        if self.wallet_at(&draft.chain, draft.address).is_some() {
            return malformed("it is one of our own wallets");
        }
        // A player's deposits would become the operator's capital.
        self.check_no_players(draft.address)?;
        let known = self.treasury_address(&draft.chain, draft.address);
        if known.is_some_and(|known| known.removed_at.is_none()) {
            return Err(exists("treasury address", &draft.address));
        }
        Ok(vec![RegistryChange::Treasury(TreasuryAddress {
            chain: draft.chain.clone(),
            address: draft.address,
            label: draft.label.clone(),
            removed_at: None,
            created_at: now,
            revision: known.map_or(1, |known| known.revision.saturating_add(1)),
        })])
    }

    /// # Errors
    /// If it is not registered, or removed.
    pub fn remove_treasury(&self, chain: &Name, address: Address, now: Time) -> RegistryDecision {
        let known = self.treasury_address(chain, address).filter(|known| known.removed_at.is_none());
        let known = known.ok_or_else(|| missing("treasury address", &address))?;
        let revision = known.revision.saturating_add(1);
        Ok(vec![RegistryChange::Treasury(TreasuryAddress { removed_at: Some(now), revision, ..known.clone() })])
    }

    /// One more key of an owner, or of another one.
    ///
    /// # Errors
    /// If the key is known, revoked keys included, or has another part already.
    pub fn add_owner_key(&self, owner: Name, address: Address, now: Time) -> RegistryDecision {
        let malformed = |why| Err(RegistryRefusal::Malformed { field: "address", why });
        if address == Address::ZERO {
            return malformed("no key exists for the zero address");
        }
        if self.owner_keys().any(|key| key.address == address) {
            return Err(exists("owner key", &address));
        }
        if self.server_key(address).is_some() {
            return malformed("it is the key of a game server");
        }
        self.check_no_players(address)?;
        Ok(vec![RegistryChange::OwnerKey(OwnerKey { address, owner, revoked_at: None, created_at: now, revision: 1 })])
    }

    /// Revokes a key for ever: a stolen key is dead with its sessions from the commit on.
    ///
    /// # Errors
    /// If there is no such key, it is revoked, or it is the last one: a deployment without an owner is lost.
    pub fn revoke_owner_key(&self, address: Address, now: Time) -> RegistryDecision {
        let key = self.owner_keys().find(|key| key.address == address);
        let key = key.ok_or_else(|| missing("owner key", &address))?;
        if key.revoked_at.is_some() {
            return Err(RegistryRefusal::RevokedKey { address: address.to_string() });
        }
        if !self.owner_keys().any(|other| other.address != address && other.revoked_at.is_none()) {
            return Err(RegistryRefusal::LastOwnerKey);
        }
        let revision = key.revision.saturating_add(1);
        Ok(vec![RegistryChange::OwnerKey(OwnerKey { revoked_at: Some(now), revision, ..key.clone() })])
    }

    /// The first owner of a deployment, whose key `bankroll init` made.
    ///
    /// # Errors
    /// If there is an owner.
    pub fn add_first_owner(&self, owner: Name, address: Address, now: Time) -> RegistryDecision {
        if self.owner_keys().next().is_some() {
            return Err(RegistryRefusal::OwnerExists);
        }
        if address == Address::ZERO {
            return Err(RegistryRefusal::Malformed { field: "address", why: "no key exists for the zero address" });
        }
        Ok(vec![RegistryChange::OwnerKey(OwnerKey { address, owner, revoked_at: None, created_at: now, revision: 1 })])
    }
}
