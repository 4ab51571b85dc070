//! What the registry says about one chain, as its flows need it: read again whenever a change was made.

use std::collections::{BTreeMap, BTreeSet};

use bankroll_deposits::{BuyIn, Payer, ServerRules, Servers, WatchList, WatchedAddress, crediting::WatchLists};
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
    /// The chain's coin.
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

    /// Servers whose payouts wait.
    pub fn paused_payouts(&self) -> BTreeSet<Name> {
        let paused = self.of_chain().filter(|server| !server.pauses.allows_payouts());
        paused.map(|server| server.name.clone()).collect()
    }

    /// The servers that are paid for on this chain.
    pub fn all_servers(&self) -> BTreeSet<Name> {
        self.registry.servers().map(|server| server.name.clone()).collect()
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
        write_addresses(&self.registry, &self.chain, watch);
    }
}

/// What the registry says about every chain, as the books need it to decide themselves whose a deposit is.
#[derive(Debug, Default)]
pub struct BooksView {
    /// The number of changes when it was read.
    changes: Option<u64>,
    proven: BTreeMap<Name, ProvenWallets>,
    pub watch: WatchLists,
    pub servers: Servers,
}

impl BooksView {
    /// Reads what has changed.
    ///
    /// # Errors
    /// If the registry cannot be read.
    pub fn update(&mut self, reader: &Reader) -> Result<(), RegistryError> {
        let changes = Some(count_changes(reader)?);
        if changes != self.changes {
            let registry = Registry::load_for_flows(reader)?;
            self.servers = servers(&registry);
            for chain in registry.chains() {
                write_addresses(&registry, &chain.name, self.watch.entry(chain.name.clone()).or_default());
            }
            self.changes = changes;
        }
        for (chain, watch) in &mut self.watch {
            let proven = self.proven.entry(chain.clone()).or_default();
            proven.read_new(reader, chain, |wallet, player| drop(watch.proven.insert(wallet, player)))?;
        }
        Ok(())
    }
}

/// The rules by which deposits become buy-ins, of every chain.
fn servers(registry: &Registry) -> Servers {
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
    registry.servers().map(|server| (server.name.clone(), rules(server))).collect()
}

/// Addresses, tokens, capital and our own wallets; what players have proven stays.
fn write_addresses(registry: &Registry, chain: &Name, watch: &mut WatchList) {
    let of_chain: Vec<_> = registry.assets().filter(|asset| asset.chain == *chain).collect();
    let coin = of_chain.iter().find(|asset| asset.token().is_none()).map(|asset| asset.asset);
    watch.tokens = of_chain.iter().filter_map(|asset| Some((asset.token()?, asset.asset))).collect();
    watch.addresses.clear();
    for account in registry.watch_list().filter(|account| account.chain == *chain) {
        let payer = account.player.clone().map_or(Payer::Sender, Payer::Player);
        let watched = watch.addresses.entry(account.address).or_insert_with(|| WatchedAddress {
            server: account.server.clone(),
            custody: account.custody_account(),
            payer: payer.clone(),
            by_asset: BTreeMap::new(),
            since: account.start_block,
        });
        watched.since = watched.since.min(account.start_block);
        // The entry for the coin decides about assets that have none of their own.
        if coin == Some(account.asset) {
            (watched.server, watched.payer) = (account.server.clone(), payer.clone());
        }
        watched.by_asset.insert(account.asset, (account.server.clone(), payer));
    }
    watch.treasury = registry.treasury(chain).collect();
    let wallets = registry.wallets().filter(|wallet| wallet.chain == *chain);
    let unwatched = wallets.map(|wallet| wallet.address).filter(|own| !watch.addresses.contains_key(own));
    watch.own = unwatched.collect();
    let paying = registry.wallets().filter(|wallet| wallet.chain == *chain && wallet.role != WalletRole::Deposit);
    watch.paying = paying.map(|wallet| wallet.address).collect();
}
