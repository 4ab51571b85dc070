//! The allow-list: new keys, rotation with overlap, revocation.

use bankroll_ledger::{Amount, AssetId, Name, Time};
use bankroll_orders::Address;
use serde::{Deserialize, Serialize};

use super::RegistryDecision;
use crate::{
    KeyBounds, KeyStanding, RegisteredWallet, Registry, RegistryChange, RegistryRefusal, ServerKey, WalletRole,
    refusal::{exists, missing},
};

const BPS_MAX: u32 = 10_000;

/// A key to be allow-listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerKeyDraft {
    pub address: Address,
    pub server: Name,
    pub chain: Name,
    pub asset: AssetId,
    pub custody_key: Name,
    pub bounds: KeyBounds,
    #[serde(default)]
    pub spend_limit: Option<Amount>,
    #[serde(default)]
    pub valid_until: Option<Time>,
}

/// What may change about a key: bounds, limit, and how long it is good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerKeyUpdate {
    pub bounds: KeyBounds,
    pub spend_limit: Option<Amount>,
    pub valid_until: Option<Time>,
}

impl Registry {
    /// Allow-lists a key: the first of a server, or the next of a rotation, which overlaps with those that are valid.
    /// The hot wallet of its custody key is registered with it, so that the server can name it as its payout address.
    ///
    /// # Errors
    /// If the key, the chain, the asset and the custody key do not fit to each other and to the server.
    pub fn add_server_key(&self, draft: &ServerKeyDraft, now: Time) -> RegistryDecision {
        check_bounds(&draft.bounds, draft.valid_until)?;
        if draft.address == Address::ZERO {
            return Err(RegistryRefusal::Malformed { field: "address", why: "no key exists for the zero address" });
        }
        if self.server_key(draft.address).is_some() {
            return Err(exists("server key", &draft.address));
        }
        self.check_no_players(draft.address)?;
        if self.operators().people().any(|person| person.keys.contains_key(&draft.address)) {
            return Err(RegistryRefusal::Malformed { field: "address", why: "it is the key of a person" });
        }
        self.chain(&draft.chain).ok_or_else(|| missing("chain", &draft.chain))?;
        let asset = self.asset(draft.asset).ok_or_else(|| missing("asset", &draft.asset))?;
        if asset.chain != draft.chain {
            return Err(RegistryRefusal::Malformed { field: "asset", why: "the asset is on another chain" });
        }
        let custody = self.custody_key(&draft.custody_key).ok_or_else(|| missing("custody key", &draft.custody_key))?;
        self.check_same_server(draft, now)?;
        let key = ServerKey {
            address: draft.address,
            server: draft.server.clone(),
            chain: draft.chain.clone(),
            asset: draft.asset,
            custody_key: draft.custody_key.clone(),
            bounds: draft.bounds,
            spend_limit: draft.spend_limit,
            valid_until: draft.valid_until,
            revoked_at: None,
            created_at: now,
            revision: 1,
        };
        let mut changes = Vec::new();
        if self.wallet_at(&draft.chain, custody.address).is_none() {
            changes.push(self.new_wallet(RegisteredWallet {
                name: custody.id.clone(),
                chain: draft.chain.clone(),
                address: custody.address,
                role: WalletRole::Hot,
                custody_key: Some(custody.id.clone()),
                derivation_index: Some(0),
                created_at: now,
                revision: 1,
            })?);
        }
        changes.push(RegistryChange::ServerKey(key));
        Ok(changes)
    }

    /// Changes bounds and limit of a key, or sets until when it is good.
    ///
    /// # Errors
    /// If there is no such key, or it is revoked.
    pub fn update_server_key(&self, address: Address, update: &ServerKeyUpdate) -> RegistryDecision {
        check_bounds(&update.bounds, update.valid_until)?;
        let key = self.unrevoked(address)?;
        let ServerKeyUpdate { bounds, spend_limit, valid_until } = update.clone();
        let revision = key.revision.saturating_add(1);
        let updated = ServerKey { bounds, spend_limit, valid_until, revision, ..key.clone() };
        if (ServerKey { revision, ..key.clone() }) == updated {
            return Ok(Vec::new());
        }
        Ok(vec![RegistryChange::ServerKey(updated)])
    }

    /// Revokes a key for ever. Its sessions are refused from the commit on.
    ///
    /// # Errors
    /// If there is no such key, or it is revoked.
    pub fn revoke_server_key(&self, address: Address, now: Time) -> RegistryDecision {
        let key = self.unrevoked(address)?;
        let revision = key.revision.saturating_add(1);
        Ok(vec![RegistryChange::ServerKey(ServerKey { revoked_at: Some(now), revision, ..key.clone() })])
    }

    fn unrevoked(&self, address: Address) -> Result<&ServerKey, RegistryRefusal> {
        let key = self.server_key(address).ok_or_else(|| missing("server key", &address))?;
        match key.revoked_at {
            Some(_) => Err(RegistryRefusal::RevokedKey { address: address.to_string() }),
            None => Ok(key),
        }
    }

    /// A custody key belongs to one server, and all valid keys of a server share chain, asset and custody key.
    fn check_same_server(&self, draft: &ServerKeyDraft, now: Time) -> Result<(), RegistryRefusal> {
        let taken_by_key = self.server_keys().find(|key| key.custody_key == draft.custody_key);
        let taken_by_server = self.servers().find(|server| server.custody_key == draft.custody_key);
        let owner = taken_by_key.map(|key| &key.server).or(taken_by_server.map(|server| &server.name));
        if let Some(server) = owner.filter(|server| **server != draft.server) {
            let (custody_key, server) = (draft.custody_key.clone(), server.clone());
            return Err(RegistryRefusal::CustodyKeyTaken { custody_key, server });
        }
        let mismatch = |field, expected: String| {
            Err(RegistryRefusal::KeyMismatch { server: draft.server.clone(), field, expected })
        };
        // A server's accounts are in one asset: registering for another would leave its players' money behind.
        if let Some(server) = self.server(&draft.server) {
            if server.chain != draft.chain {
                return mismatch("chain", server.chain.to_string());
            }
            if server.asset != draft.asset {
                return mismatch("asset", server.asset.to_string());
            }
        }
        let valid = |key: &&ServerKey| key.server == draft.server && key.standing(now) == KeyStanding::Valid;
        for other in self.server_keys().filter(valid) {
            if other.chain != draft.chain {
                return mismatch("chain", other.chain.to_string());
            }
            if other.asset != draft.asset {
                return mismatch("asset", other.asset.to_string());
            }
            if other.custody_key != draft.custody_key {
                return mismatch("custody key", other.custody_key.to_string());
            }
        }
        Ok(())
    }
}

fn check_bounds(bounds: &KeyBounds, valid_until: Option<Time>) -> Result<(), RegistryRefusal> {
    let malformed = |field, why| Err(RegistryRefusal::Malformed { field, why });
    if bounds.buy_in_min.is_zero() || bounds.buy_in_min > bounds.buy_in_max {
        return malformed("bounds", "a buy-in is above zero, and the least is not above the most");
    }
    if bounds.developer_bps_max > BPS_MAX || bounds.world_bps_max > BPS_MAX {
        return malformed("bounds", "a fee is at most 10000 basis points");
    }
    // The most that a player could pay for one place must be countable.
    let fees = bounds
        .buy_in_max
        .basis_points(bounds.developer_bps_max)
        .zip(bounds.buy_in_max.basis_points(bounds.world_bps_max));
    let total = fees.and_then(|(developer, world)| bounds.buy_in_max.checked_add(developer)?.checked_add(world));
    if total.is_none() {
        return malformed("bounds", "the highest buy-in with its fees exceeds 128 bits");
    }
    if valid_until.is_some_and(|until| until.0 > i64::MAX.cast_unsigned()) {
        return malformed("valid_until", "a time before the year 294000");
    }
    Ok(())
}
