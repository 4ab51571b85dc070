//! What flows need of the registry, read without the keys and the players, and followed by the number of
//! changes.

use std::collections::HashSet;

use bankroll_ledger::{Name, Time};
use bankroll_orders::Address;
use bankroll_store::{
    Reader,
    columns::{number_of, time},
};

use crate::{
    PlayerWallet, Registry, RegistryChange,
    entry::{RegistryError, all},
};

impl Registry {
    /// Reads chains, assets, wallets, servers, watched addresses and treasury addresses, and nothing about keys and
    /// players.
    ///
    /// # Errors
    /// If the books cannot be read, or a row is not one of this program's.
    pub fn load_for_flows(reader: &Reader) -> Result<Self, RegistryError> {
        let mut changes: Vec<RegistryChange> = Vec::new();
        changes.extend(all(reader)?.into_iter().map(RegistryChange::Chain));
        changes.extend(all(reader)?.into_iter().map(RegistryChange::Asset));
        changes.extend(all(reader)?.into_iter().map(RegistryChange::Wallet));
        changes.extend(all(reader)?.into_iter().map(RegistryChange::Server));
        changes.extend(all(reader)?.into_iter().map(RegistryChange::ServerAccount));
        changes.extend(all(reader)?.into_iter().map(RegistryChange::Treasury));
        let mut registry = Self::default();
        registry.apply(&changes);
        Ok(registry)
    }
}

/// How many changes were ever made to what [`Registry::load_for_flows`] reads. A change is never taken back, so the same
/// number means the same registry.
///
/// # Errors
/// If the books cannot be read.
pub fn count_changes(reader: &Reader) -> Result<u64, RegistryError> {
    count(reader, "registry_changes")
}

/// How much earlier than the newest known wallet one may be stamped that is committed after it: clocks of holders
/// differ.
const STAMP_SLACK: u64 = 600_000_000;

/// The wallets that players have proved on one chain, followed as they grow.
#[derive(Clone, Debug, Default)]
pub struct ProvenWallets {
    /// Of every chain; a wallet is never removed.
    known: HashSet<Address>,
    newest: Time,
}

impl ProvenWallets {
    /// Calls `add` with each wallet that is proven on this chain since the last call, and its player.
    ///
    /// # Errors
    /// If the books cannot be read; the next call continues.
    pub fn read_new(
        &mut self,
        reader: &Reader,
        chain: &Name,
        mut add: impl FnMut(Address, Name),
    ) -> Result<(), RegistryError> {
        let count = count(reader, PlayerWallet::TABLE)?;
        // Usually the first of these finds all that is new.
        for since in [Time(self.newest.0.saturating_sub(STAMP_SLACK)), Time(0)] {
            if usize::try_from(count).is_ok_and(|count| count <= self.known.len()) {
                return Ok(());
            }
            let sql = "SELECT wallet, player, proven_by, chain, linked_at FROM player_wallets WHERE linked_at >= $1";
            for row in reader.rows(sql, vec![time(since)])? {
                let table = PlayerWallet::TABLE;
                let wallet = PlayerWallet::from_row(&row).map_err(|bad| RegistryError::Row { table, bad })?;
                self.newest = self.newest.max(wallet.linked_at);
                let is_new = self.known.insert(wallet.wallet);
                if is_new && wallet.is_proven_on(chain) {
                    add(wallet.wallet, wallet.player);
                }
            }
        }
        Ok(())
    }
}

fn count(reader: &Reader, table: &'static str) -> Result<u64, RegistryError> {
    let rows = reader.rows(&format!("SELECT count(*) AS count FROM {table}"), vec![])?;
    let count = rows.first().map_or(Ok(0), |row| number_of(row, "count"));
    count.map_err(|bad| RegistryError::Row { table, bad })
}
