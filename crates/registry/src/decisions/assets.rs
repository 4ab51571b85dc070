//! Chains and assets.

use bankroll_ledger::{Asset, AssetId, Name, Time, Unit};
use bankroll_orders::{Address, ChainId};
use serde::{Deserialize, Serialize};

use super::{RegistryDecision, check_label};
use crate::{
    RegisteredAsset, RegisteredChain, Registry, RegistryChange, RegistryRefusal,
    refusal::{exists, missing},
};

/// A chain to be registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainDraft {
    /// As in CAIP-2; only `eip155:` for now.
    pub name: Name,
    pub label: String,
}

/// An asset to be registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssetDraft {
    pub chain: Name,
    /// The token's contract; none for the native coin.
    #[serde(default)]
    pub token: Option<Address>,
    pub decimals: u8,
    pub symbol: String,
}

impl AssetDraft {
    /// The asset, for [`Ledger::list_asset`](bankroll_store::Ledger::list_asset), which gives it its number.
    #[must_use]
    pub fn listed(&self) -> Asset {
        Asset { chain: self.chain.clone(), unit: self.unit(), decimals: self.decimals, symbol: self.symbol.clone() }
    }

    fn unit(&self) -> Unit {
        let contract = self.token.and_then(|token| token.lower_hex().parse().ok());
        contract.map_or(Unit::Native, Unit::Token)
    }
}

impl Registry {
    /// # Errors
    /// If the chain is registered, or its name is not one.
    pub fn add_chain(&self, draft: &ChainDraft, now: Time) -> RegistryDecision {
        check_label("label", &draft.label)?;
        let number = draft.name.as_str().strip_prefix("eip155:").and_then(|number| number.parse::<u64>().ok());
        // One spelling: no leading zero. And a number that rows can keep.
        let number = number
            .filter(|number| format!("eip155:{number}") == draft.name.as_str())
            .filter(|number| (1..=i64::MAX.cast_unsigned()).contains(number));
        let Some(number) = number else {
            return Err(RegistryRefusal::Malformed { field: "name", why: "a chain is named eip155: and its chain id" });
        };
        if self.chain(&draft.name).is_some() {
            return Err(exists("chain", &draft.name));
        }
        let (name, label) = (draft.name.clone(), draft.label.clone());
        let chain = RegisteredChain { name, id: ChainId(number), label, created_at: now, revision: 1 };
        Ok(vec![RegistryChange::Chain(chain)])
    }

    /// What must hold before the ledger is asked to list the asset.
    ///
    /// # Errors
    /// If the chain is not registered, the symbol is no label, or the asset is registered.
    pub fn check_asset(&self, draft: &AssetDraft) -> Result<(), RegistryRefusal> {
        check_label("symbol", &draft.symbol)?;
        self.chain(&draft.chain).ok_or_else(|| missing("chain", &draft.chain))?;
        let listed = draft.listed();
        match self.assets().find(|asset| asset.chain == listed.chain && asset.unit == listed.unit) {
            Some(known) => Err(exists("asset", &known.asset)),
            None => Ok(()),
        }
    }

    /// # Errors
    /// As [`Registry::check_asset`].
    pub fn add_asset(&self, draft: &AssetDraft, asset: AssetId, now: Time) -> RegistryDecision {
        self.check_asset(draft)?;
        if self.asset(asset).is_some() {
            return Err(exists("asset", &asset));
        }
        Ok(vec![RegistryChange::Asset(RegisteredAsset {
            asset,
            chain: draft.chain.clone(),
            unit: draft.unit(),
            decimals: draft.decimals,
            symbol: draft.symbol.clone(),
            created_at: now,
            revision: 1,
        })])
    }
}
