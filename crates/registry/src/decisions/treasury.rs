//! Treasury addresses.

use bankroll_ledger::{Name, Time};
use bankroll_orders::Address;
use serde::{Deserialize, Serialize};

use super::{RegistryDecision, check_label};
use crate::{
    Registry, RegistryChange, RegistryRefusal, TreasuryAddress,
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
}
