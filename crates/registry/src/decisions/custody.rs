//! Custody keys and wallets.

use bankroll_ledger::{Name, Time};
use bankroll_orders::{Address, ExtendedPublicKey};
use serde::{Deserialize, Serialize};

use super::RegistryDecision;
use crate::{
    CustodyKey, RegisteredWallet, Registry, RegistryChange, RegistryRefusal, WalletRole,
    refusal::{exists, missing},
};

/// A custody key to be registered: an extended public key, or the one address of a single key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustodyKeyDraft {
    pub id: Name,
    #[serde(default, with = "crate::custody::xpub_text")]
    pub xpub: Option<ExtendedPublicKey>,
    #[serde(default)]
    pub address: Option<Address>,
}

/// A wallet to be registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WalletDraft {
    pub name: Name,
    pub chain: Name,
    pub address: Address,
    pub role: WalletRole,
}

impl Registry {
    /// # Errors
    /// If the key is registered under this or another name, or the draft contradicts itself.
    pub fn add_custody_key(&self, draft: &CustodyKeyDraft, now: Time) -> RegistryDecision {
        check_name("id", &draft.id)?;
        if self.custody_key(&draft.id).is_some() {
            return Err(exists("custody key", &draft.id));
        }
        let derived = draft.xpub.as_ref().and_then(|xpub| xpub.address(0).ok());
        let address = match (&draft.xpub, derived, draft.address) {
            (Some(_), Some(derived), stated) if stated.is_none_or(|stated| stated == derived) => derived,
            (Some(_), Some(_), _) => {
                let why = "it is not the address at xpub/0/0: the extended key is another account's";
                return Err(RegistryRefusal::Malformed { field: "address", why });
            }
            (Some(_), None, _) => {
                return Err(RegistryRefusal::Malformed { field: "xpub", why: "no address can be derived from it" });
            }
            (None, _, Some(address)) if address != Address::ZERO => address,
            (None, ..) => {
                let why = "a custody key is an extended public key, or the address of a single key";
                return Err(RegistryRefusal::Malformed { field: "xpub", why });
            }
        };
        self.check_no_players(address)?;
        if let Some(same) = self.custody_keys().find(|key| key.address == address) {
            return Err(exists("the same key as custody key", &same.id));
        }
        let is_derived = |wallet: &&RegisteredWallet| wallet.address == address && wallet.custody_key.is_some();
        if let Some(same) = self.wallets().find(is_derived) {
            return Err(exists("the same address as wallet", &same.name));
        }
        let (id, xpub) = (draft.id.clone(), draft.xpub);
        let account = xpub.map_or(0, |xpub| xpub.account());
        Ok(vec![RegistryChange::CustodyKey(CustodyKey { id, xpub, account, address, created_at: now, revision: 1 })])
    }

    /// # Errors
    /// If the chain is not registered, or the name or the address is.
    pub fn add_wallet(&self, draft: &WalletDraft, now: Time) -> RegistryDecision {
        check_name("name", &draft.name)?;
        let (name, chain) = (draft.name.clone(), draft.chain.clone());
        if draft.address == Address::ZERO {
            return Err(RegistryRefusal::Malformed { field: "address", why: "no key exists for the zero address" });
        }
        self.check_no_players(draft.address)?;
        let key = self.custody_keys().find(|key| key.address == draft.address);
        let custody_key = key.map(|key| key.id.clone());
        let derivation_index = key.map(|_| 0);
        let (address, role) = (draft.address, draft.role);
        self.new_wallet(RegisteredWallet {
            name,
            chain,
            address,
            role,
            custody_key,
            derivation_index,
            created_at: now,
            revision: 1,
        })
        .map(|change| vec![change])
    }

    /// A player's payments from an address of ours would count as moves between our own wallets, and a player whose
    /// wallet is also a key of a server or of the owner would be two callers with one key.
    pub(crate) fn check_no_players(&self, address: Address) -> Result<(), RegistryRefusal> {
        match self.player_wallet(address) {
            Some(_) => Err(RegistryRefusal::Malformed { field: "address", why: "it is the wallet of a player" }),
            None => Ok(()),
        }
    }

    pub(crate) fn new_wallet(&self, wallet: RegisteredWallet) -> Result<RegistryChange, RegistryRefusal> {
        self.chain(&wallet.chain).ok_or_else(|| missing("chain", &wallet.chain))?;
        if self.wallet(&wallet.name).is_some() {
            return Err(exists("wallet", &wallet.name));
        }
        match self.wallet_at(&wallet.chain, wallet.address) {
            Some(known) => Err(exists("the same address as wallet", &known.name)),
            None => Ok(RegistryChange::Wallet(wallet)),
        }
    }
}

/// The wallets of players are named after their custody key, a colon and the index: no other name may look like that.
fn check_name(field: &'static str, name: &Name) -> Result<(), RegistryRefusal> {
    if name.as_str().contains(':') || name.as_str().len() > 100 {
        return Err(RegistryRefusal::Malformed { field, why: "at most 100 characters without a colon" });
    }
    Ok(())
}
