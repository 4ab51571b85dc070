//! What the registry says about one chain, as its flows need it: read again whenever a change was made.

use std::collections::BTreeSet;

use bankroll_deposits::{BuyIn, Payer, ServerRules, Servers, WatchList, WatchedAddress};
use bankroll_ledger::{AccountName, AssetId, Name};
use bankroll_orders::Address;
use bankroll_registry::{
    ProvenWallets, RegisteredServer, Registry, RegistryError, WalletRole, count_changes, server_is_unchanged,
};
use bankroll_store::Reader;

/// One chain of the registry, followed by a flow.
#[derive(Debug)]
pub struct ChainView {
    chain: Name,
    /// The chain's coin. Other assets of the chain have no flow yet.
    coin: AssetId,
    /// The number of changes when it was read.
    changes: Option<u64>,
    /// The number of changes that the watch list knows.
    listed: Option<u64>,
    registry: Registry,
    proven: ProvenWallets,
}

/// A wallet that pays players, and whose players it pays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayoutWallet {
    pub address: Address,
    pub custody: AccountName,
    /// Servers of the chain that another wallet pays for.
    pub elsewhere: BTreeSet<Name>,
}

impl ChainView {
    pub fn new(chain: &Name, coin: AssetId) -> Self {
        let (registry, proven) = (Registry::default(), ProvenWallets::default());
        Self { chain: chain.clone(), coin, changes: None, listed: None, registry, proven }
    }

    /// Reads the registry again if it was changed; returns whether it was.
    ///
    /// # Errors
    /// If the registry cannot be read.
    pub fn update(&mut self, reader: &Reader) -> Result<bool, RegistryError> {
        // Counted first: a change that is made between the two is read now, and counted the next time.
        let changes = Some(count_changes(reader)?);
        if changes == self.changes {
            return Ok(false);
        }
        self.registry = Registry::load_for_flows(reader)?;
        self.changes = changes;
        Ok(true)
    }

    /// Whether the chain is registered. If not, nothing may be read of it: an address that is registered later would miss
    /// its payments.
    pub fn is_registered(&self) -> bool {
        self.registry.chain(&self.chain).is_some()
    }

    fn of_chain(&self) -> impl Iterator<Item = &RegisteredServer> {
        self.registry.servers().filter(|server| server.chain == self.chain)
    }

    /// The rules by which deposits become buy-ins.
    pub fn servers(&self) -> Servers {
        let rules = |server: &RegisteredServer| ServerRules {
            asset: server.asset,
            buy_in: BuyIn {
                amount: server.terms.buy_in,
                developer_bps: server.terms.developer_bps,
                world_bps: server.terms.world_bps,
            },
            accepts: server.pauses.accepts_deposits(),
            version: server.version,
            is_current: Some(server_is_unchanged(&server.name, server.version)),
        };
        // Of every chain: the books credit the deposits of all chains together.
        self.registry.servers().map(|server| (server.name.clone(), rules(server))).collect()
    }

    /// Servers whose payouts wait.
    pub fn paused_payouts(&self) -> BTreeSet<Name> {
        let paused = self.of_chain().filter(|server| !server.pauses.allows_payouts());
        paused.map(|server| server.name.clone()).collect()
    }

    /// The hot wallets of the chain. One that no server pays from any more finishes what it has begun.
    pub fn payout_wallets(&self) -> Vec<PayoutWallet> {
        let hot = self.registry.wallets().filter(|wallet| wallet.chain == self.chain && wallet.role == WalletRole::Hot);
        let paid_elsewhere = |address: Address| {
            let others = self.of_chain().filter(move |server| server.terms.payout_address != address);
            others.map(|server| server.name.clone()).collect()
        };
        hot.map(|wallet| PayoutWallet {
            address: wallet.address,
            custody: wallet.custody_account(self.coin),
            elsewhere: paid_elsewhere(wallet.address),
        })
        .collect()
    }

    /// Brings a watch list up to date: addresses, capital, our own wallets, and the wallets that players have proved.
    ///
    /// # Errors
    /// If the registry cannot be read.
    pub fn update_watch_list(&mut self, reader: &Reader, watch: &mut WatchList) -> Result<(), RegistryError> {
        self.update(reader)?;
        if self.listed != self.changes {
            self.write_addresses(watch);
            self.listed = self.changes;
        }
        self.proven.read_new(reader, &self.chain, |wallet, player| drop(watch.proven.insert(wallet, player)))
    }

    fn write_addresses(&self, watch: &mut WatchList) {
        let accounts = self.registry.watch_list();
        let accounts = accounts.filter(|account| account.chain == self.chain && account.asset == self.coin);
        watch.addresses = accounts
            .map(|account| {
                let payer = account.player.clone().map_or(Payer::Sender, Payer::Player);
                let (server, custody) = (account.server.clone(), account.custody_account());
                (account.address, WatchedAddress { server, custody, payer, since: account.start_block })
            })
            .collect();
        watch.treasury = self.registry.treasury(&self.chain).collect();
        let wallets = self.registry.wallets().filter(|wallet| wallet.chain == self.chain);
        let unwatched = wallets.map(|wallet| wallet.address).filter(|own| !watch.addresses.contains_key(own));
        watch.own = unwatched.collect();
    }
}
