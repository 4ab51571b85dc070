//! Servers, as the owner changes them: pauses, developer, labels, addresses for single players.

use bankroll_ledger::{Name, Time};
use bankroll_orders::Address;

use super::{RegistryDecision, check_label};
use crate::{
    Pauses, RegisteredServer, RegisteredWallet, Registry, RegistryChange, RegistryRefusal, ServerAccount,
    ServerAccountStatus, WalletRole, refusal::missing,
};

impl Registry {
    /// Sets the whole set of pauses. The same set again is no change.
    ///
    /// # Errors
    /// If there is no such server.
    pub fn set_pauses(&self, server: &Name, pauses: Pauses, by: Name, now: Time) -> RegistryDecision {
        self.change_server(server, by, now, |next| next.pauses = pauses)
    }

    /// Names another developer: the wallet that reaches the server's fees.
    ///
    /// # Errors
    /// If there is no such server, or no key exists for the address.
    pub fn set_developer(&self, server: &Name, developer: Address, by: Name, now: Time) -> RegistryDecision {
        if developer == Address::ZERO {
            return Err(RegistryRefusal::Malformed { field: "developer", why: "no key exists for the zero address" });
        }
        self.change_server(server, by, now, |next| next.terms.developer = developer)
    }

    /// # Errors
    /// If there is no such server, or the text is no label.
    pub fn set_labels(&self, server: &Name, labels: &str, by: Name, now: Time) -> RegistryDecision {
        check_label("labels", labels)?;
        self.change_server(server, by, now, |next| labels.clone_into(&mut next.labels))
    }

    /// Whether each player gets an address. Addresses that were given out stay theirs.
    ///
    /// # Errors
    /// If there is no such server, or its custody key has one address only.
    pub fn set_player_addresses(&self, server: &Name, enabled: bool, by: Name, now: Time) -> RegistryDecision {
        let entry = self.server(server).ok_or_else(|| missing("server", server))?;
        let can_derive = self.custody_key(&entry.custody_key).is_some_and(|key| key.xpub.is_some());
        if enabled && !can_derive {
            return Err(RegistryRefusal::Malformed {
                field: "player_addresses",
                why: "the custody key has one address",
            });
        }
        self.change_server(server, by, now, |next| next.player_addresses = enabled)
    }

    /// Gives a player an address of their own; no change if they have one.
    ///
    /// # Errors
    /// If the server has no addresses for single players.
    pub fn add_player_address(&self, server: &Name, player: &Name, start_block: u64, now: Time) -> RegistryDecision {
        let entry = self.server(server).ok_or_else(|| missing("server", server))?;
        let refused = || RegistryRefusal::NoPlayerAddresses { server: server.clone() };
        if !entry.player_addresses {
            return Err(refused());
        }
        if self.deposit_account(entry, player).is_some_and(|account| account.player.is_some()) {
            return Ok(Vec::new());
        }
        let key = self.custody_key(&entry.custody_key).ok_or_else(refused)?;
        let used = self.wallets().filter(|wallet| wallet.custody_key.as_ref() == Some(&key.id));
        let highest = used.filter_map(|wallet| wallet.derivation_index).max().unwrap_or(0);
        let index = highest.checked_add(1).ok_or_else(refused)?;
        let address = key.derive(index).ok_or_else(refused)?;
        let name = format!("{}:{index}", key.id).parse().map_err(|_| refused())?;
        let wallet = self.new_wallet(RegisteredWallet {
            name,
            chain: entry.chain.clone(),
            address,
            role: WalletRole::Deposit,
            custody_key: Some(key.id.clone()),
            derivation_index: Some(index),
            created_at: now,
            revision: 1,
        })?;
        let RegistryChange::Wallet(made) = &wallet else { return Err(refused()) };
        let account = ServerAccount {
            chain: entry.chain.clone(),
            address,
            asset: entry.asset,
            server: server.clone(),
            wallet: made.name.clone(),
            player: Some(player.clone()),
            start_block,
            status: ServerAccountStatus::Active,
            created_at: now,
            updated_at: now,
            revision: 1,
        };
        Ok(vec![wallet, RegistryChange::ServerAccount(account)])
    }

    fn change_server(
        &self,
        server: &Name,
        by: Name,
        now: Time,
        change: impl FnOnce(&mut RegisteredServer),
    ) -> RegistryDecision {
        let entry = self.server(server).ok_or_else(|| missing("server", server))?;
        let mut changed = entry.clone();
        change(&mut changed);
        if changed == *entry {
            return Ok(Vec::new());
        }
        Ok(vec![RegistryChange::Server(changed.next(by, now))])
    }
}
