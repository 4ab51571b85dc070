//! The registry in memory: what every call is decided from.
//!
//! It is loaded from rows when the books are opened, and changed only by [`Registry::apply`], after the ledger has
//! committed the same changes. So memory and rows agree, and a lookup reads no database. After an unknown outcome of
//! the ledger memory may be behind the rows: load it again before the next decision.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bankroll_ledger::{AssetId, Name, Time};
use bankroll_operators::Operators;
use bankroll_orders::{Address, ChainId};
use bankroll_store::{Migrations, Reader, columns::time};

use crate::{
    Caller, CustodyKey, KeyStanding, NoncePurpose, NonceText, Pauses, PlayerFreeze, PlayerWallet, RegisteredAsset,
    RegisteredChain, RegisteredPlayer, RegisteredServer, RegisteredWallet, RegistryChange, RegistryError,
    RevokedSession, ServerAccount, ServerKey, SessionId, TreasuryAddress, UsedNonce, audit_log::check_freezes,
    entry::all, load_operators,
};

/// The tables of this flow.
pub const REGISTRY: Migrations = Migrations {
    owner: "registry",
    steps: &[include_str!("../migrations/0001_registry.sql")],
    postgres: &[include_str!("../migrations/0001_registry_postgres.sql")],
};

/// Chain, address, asset.
type AccountKey = (Name, Address, AssetId);

/// Everything that is registered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registry {
    chains: BTreeMap<Name, RegisteredChain>,
    assets: BTreeMap<AssetId, RegisteredAsset>,
    wallets: BTreeMap<Name, RegisteredWallet>,
    wallet_names: BTreeMap<(Name, Address), Name>,
    custody_keys: BTreeMap<Name, CustodyKey>,
    servers: BTreeMap<Name, RegisteredServer>,
    accounts: BTreeMap<AccountKey, ServerAccount>,
    /// The address of one player at one server.
    player_accounts: HashMap<(Name, Name), AccountKey>,
    server_keys: BTreeMap<Address, ServerKey>,
    treasury: BTreeMap<(Name, Address), TreasuryAddress>,
    operators: Operators,
    freezes: BTreeMap<Name, PlayerFreeze>,
    players: HashMap<Name, RegisteredPlayer>,
    player_wallets: HashMap<Address, PlayerWallet>,
    /// The same, by player.
    wallets_of: HashMap<Name, BTreeSet<Address>>,
    nonces: BTreeMap<(NoncePurpose, NonceText), UsedNonce>,
    revoked_sessions: BTreeMap<SessionId, RevokedSession>,
}

impl Registry {
    /// Reads everything. Nonces and revoked sessions that have expired stay in the database.
    ///
    /// # Errors
    /// If the books cannot be read, or a row is not one of this program's.
    pub fn load(reader: &Reader, now: Time) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        all(reader)?.into_iter().for_each(|entry| registry.put(RegistryChange::Chain(entry)));
        all(reader)?.into_iter().for_each(|entry| registry.put(RegistryChange::Wallet(entry)));
        all(reader)?.into_iter().for_each(|entry| registry.put(RegistryChange::Server(entry)));
        all(reader)?.into_iter().for_each(|entry| registry.put(RegistryChange::ServerAccount(entry)));
        all(reader)?.into_iter().for_each(|entry| registry.put(RegistryChange::Treasury(entry)));
        let sql = "SELECT wallet, player, proven_by, chain, linked_at FROM player_wallets";
        for row in reader.rows(sql, vec![])? {
            let table = PlayerWallet::TABLE;
            let wallet = PlayerWallet::from_row(&row).map_err(|bad| RegistryError::Row { table, bad })?;
            registry.put_player_wallet(wallet);
        }
        all(reader)?.into_iter().for_each(|entry| registry.put(RegistryChange::Asset(entry)));
        all(reader)?.into_iter().for_each(|entry| registry.put(RegistryChange::CustodyKey(entry)));
        all(reader)?.into_iter().for_each(|entry| registry.put(RegistryChange::ServerKey(entry)));
        all(reader)?.into_iter().for_each(|entry| registry.put(RegistryChange::PlayerFreeze(entry)));
        registry.operators = load_operators(reader)?;
        check_freezes(registry.freezes.values(), &registry.operators)?;
        all(reader)?.into_iter().for_each(|entry| registry.put(RegistryChange::Player(entry)));
        for row in reader.rows("SELECT * FROM used_nonces WHERE expires_at > $1", vec![time(now)])? {
            let table = UsedNonce::TABLE;
            let nonce = UsedNonce::from_row(&row).map_err(|bad| RegistryError::Row { table, bad })?;
            registry.put(RegistryChange::Nonce(nonce));
        }
        for row in reader.rows("SELECT * FROM revoked_sessions WHERE expires_at > $1", vec![time(now)])? {
            let table = RevokedSession::TABLE;
            let session = RevokedSession::from_row(&row).map_err(|bad| RegistryError::Row { table, bad })?;
            registry.put(RegistryChange::RevokedSession(session));
        }
        Ok(registry)
    }

    /// Takes over changes that the ledger has committed.
    pub fn apply(&mut self, changes: &[RegistryChange]) {
        changes.iter().cloned().for_each(|change| self.put(change));
    }

    /// Drops nonces and revoked sessions that have expired: their messages and tokens are refused because of their age.
    pub fn forget_expired(&mut self, now: Time) {
        self.nonces.retain(|_, nonce| nonce.expires_at > now);
        self.revoked_sessions.retain(|_, session| session.expires_at > now);
    }

    fn put(&mut self, change: RegistryChange) {
        match change {
            RegistryChange::Chain(entry) => drop(self.chains.insert(entry.name.clone(), entry)),
            RegistryChange::Asset(entry) => drop(self.assets.insert(entry.asset, entry)),
            RegistryChange::Wallet(entry) => {
                self.wallet_names.insert((entry.chain.clone(), entry.address), entry.name.clone());
                self.wallets.insert(entry.name.clone(), entry);
            }
            RegistryChange::CustodyKey(entry) => drop(self.custody_keys.insert(entry.id.clone(), entry)),
            RegistryChange::Server(entry) => drop(self.servers.insert(entry.name.clone(), entry)),
            RegistryChange::ServerAccount(entry) => {
                let key = (entry.chain.clone(), entry.address, entry.asset);
                if let Some(player) = &entry.player {
                    self.player_accounts.insert((entry.server.clone(), player.clone()), key.clone());
                }
                self.accounts.insert(key, entry);
            }
            RegistryChange::ServerKey(entry) => drop(self.server_keys.insert(entry.address, entry)),
            RegistryChange::Treasury(entry) => {
                self.treasury.insert((entry.chain.clone(), entry.address), entry);
            }
            RegistryChange::Act(act) => {
                let entered = self.operators.enter(&act.entry);
                // It was decided from this very state, and memory changes only after a commit.
                entered.expect("an act that was committed can be entered");
            }
            RegistryChange::PlayerFreeze(entry) => drop(self.freezes.insert(entry.player.clone(), entry)),
            RegistryChange::Player(entry) => drop(self.players.insert(entry.player.clone(), entry)),
            RegistryChange::PlayerWallet { wallet, .. } => self.put_player_wallet(wallet),
            RegistryChange::Nonce(nonce) => {
                self.nonces.insert((nonce.purpose, nonce.nonce.clone()), nonce);
            }
            RegistryChange::RevokedSession(session) => drop(self.revoked_sessions.insert(session.session, session)),
        }
    }

    fn put_player_wallet(&mut self, wallet: PlayerWallet) {
        self.wallets_of.entry(wallet.player.clone()).or_default().insert(wallet.wallet);
        self.player_wallets.insert(wallet.wallet, wallet);
    }
}

/// Lookups.
impl Registry {
    #[must_use]
    pub fn chain(&self, name: &Name) -> Option<&RegisteredChain> {
        self.chains.get(name)
    }

    #[must_use]
    pub fn chain_of_id(&self, id: ChainId) -> Option<&RegisteredChain> {
        self.chains.values().find(|chain| chain.id == id)
    }

    pub fn chains(&self) -> impl Iterator<Item = &RegisteredChain> {
        self.chains.values()
    }

    #[must_use]
    pub fn asset(&self, asset: AssetId) -> Option<&RegisteredAsset> {
        self.assets.get(&asset)
    }

    pub fn assets(&self) -> impl Iterator<Item = &RegisteredAsset> {
        self.assets.values()
    }

    #[must_use]
    pub fn wallet(&self, name: &Name) -> Option<&RegisteredWallet> {
        self.wallets.get(name)
    }

    #[must_use]
    pub fn wallet_at(&self, chain: &Name, address: Address) -> Option<&RegisteredWallet> {
        self.wallets.get(self.wallet_names.get(&(chain.clone(), address))?)
    }

    pub fn wallets(&self) -> impl Iterator<Item = &RegisteredWallet> {
        self.wallets.values()
    }

    #[must_use]
    pub fn custody_key(&self, id: &Name) -> Option<&CustodyKey> {
        self.custody_keys.get(id)
    }

    pub fn custody_keys(&self) -> impl Iterator<Item = &CustodyKey> {
        self.custody_keys.values()
    }

    #[must_use]
    pub fn server(&self, name: &Name) -> Option<&RegisteredServer> {
        self.servers.get(name)
    }

    pub fn servers(&self) -> impl Iterator<Item = &RegisteredServer> {
        self.servers.values()
    }

    /// The pauses of a server; `None` for one that is not registered.
    #[must_use]
    pub fn pauses(&self, server: &Name) -> Option<Pauses> {
        self.servers.get(server).map(|entry| entry.pauses)
    }

    /// The entry of the allow-list, whatever its standing.
    #[must_use]
    pub fn server_key(&self, address: Address) -> Option<&ServerKey> {
        self.server_keys.get(&address)
    }

    pub fn server_keys(&self) -> impl Iterator<Item = &ServerKey> {
        self.server_keys.values()
    }

    /// Everything that the indexer watches, of every chain. Nothing is ever taken off this list.
    pub fn watch_list(&self) -> impl Iterator<Item = &ServerAccount> {
        self.accounts.values()
    }

    /// The watched addresses of a server.
    pub fn accounts_of<'a>(&'a self, server: &Name) -> impl Iterator<Item = &'a ServerAccount> {
        self.accounts.values().filter(move |account| account.server == *server)
    }

    /// Where a player pays to: their own address if they have one, otherwise the server's.
    #[must_use]
    pub fn deposit_account(&self, server: &RegisteredServer, player: &Name) -> Option<&ServerAccount> {
        let own = self.player_accounts.get(&(server.name.clone(), player.clone()));
        let own = own.and_then(|key| self.accounts.get(key));
        own.or_else(|| self.accounts.get(&(server.chain.clone(), server.deposit_address, server.asset)))
    }

    /// Addresses of a chain whose payments are the operator's own capital.
    pub fn treasury<'a>(&'a self, chain: &'a Name) -> impl Iterator<Item = Address> {
        self.treasury_addresses()
            .filter(move |entry| entry.chain == *chain && entry.removed_at.is_none())
            .map(|entry| entry.address)
    }

    pub fn treasury_addresses(&self) -> impl Iterator<Item = &TreasuryAddress> {
        self.treasury.values()
    }

    /// Whether an address of a chain is the operator's. A payment to it is not a payment to a player: coins that come
    /// back to our own wallets are credited to no player.
    #[must_use]
    pub fn is_operators(&self, chain: &Name, address: Address) -> bool {
        let first = (chain.clone(), address, AssetId(0));
        let watched = self.accounts.range(first..).next();
        self.wallets.values().any(|wallet| wallet.address == address)
            || self.custody_keys.values().any(|key| key.address == address)
            || watched.is_some_and(|((on, at, _), _)| on == chain && *at == address)
            || self.treasury(chain).any(|capital| capital == address)
    }

    #[must_use]
    pub(crate) fn treasury_address(&self, chain: &Name, address: Address) -> Option<&TreasuryAddress> {
        self.treasury.get(&(chain.clone(), address))
    }

    /// The people who run the deployment.
    #[must_use]
    pub fn operators(&self) -> &Operators {
        &self.operators
    }

    /// What was last said about a freeze under this very name.
    #[must_use]
    pub fn player_freeze(&self, player: &Name) -> Option<&PlayerFreeze> {
        self.freezes.get(player)
    }

    /// Whether any player is frozen.
    #[must_use]
    pub fn has_frozen(&self) -> bool {
        self.freezes.values().any(|entry| entry.frozen)
    }

    /// Why the owner of an account is frozen, if they are: under their own name, or any wallet that they have proved.
    #[must_use]
    pub fn frozen(&self, owner: &Name) -> Option<&str> {
        // Every operation of a game asks this.
        if self.freezes.is_empty() {
            return None;
        }
        let player = self.player_behind(owner);
        let wallets = self.wallets_of(player).filter_map(|wallet| wallet.wallet.lower_hex().parse().ok());
        let mut names = [owner.clone(), player.clone()].into_iter().chain(wallets);
        names.find_map(|name| self.freezes.get(&name).filter(|entry| entry.frozen)).map(|entry| entry.reason.as_str())
    }

    #[must_use]
    pub fn player(&self, player: &Name) -> Option<&RegisteredPlayer> {
        self.players.get(player)
    }

    #[must_use]
    pub fn player_wallet(&self, wallet: Address) -> Option<&PlayerWallet> {
        self.player_wallets.get(&wallet)
    }

    /// The wallets that players have proved, in no order.
    pub fn player_wallets(&self) -> impl Iterator<Item = &PlayerWallet> {
        self.player_wallets.values()
    }

    /// The wallets that a player has proved, in the order of their addresses.
    pub fn wallets_of<'a>(&'a self, player: &Name) -> impl Iterator<Item = &'a PlayerWallet> {
        self.wallets_of.get(player).into_iter().flatten().filter_map(|wallet| self.player_wallets.get(wallet))
    }

    /// The names under which a player owns accounts of servers of a chain: their own, and each wallet that they have
    /// proved there. A game server may have opened accounts for a wallet before its player linked it.
    #[must_use]
    pub fn owner_names(&self, chain: &Name, player: &Name) -> Vec<Name> {
        let proven = self.wallets_of(player).filter(|wallet| wallet.is_proven_on(chain));
        let linked = proven.filter_map(|wallet| wallet.wallet.lower_hex().parse().ok());
        [player.clone()].into_iter().chain(linked.filter(|name| name != player)).collect()
    }

    /// The player whose account it is, on whatever chain: the owner, or the player who has proved the owner's wallet.
    #[must_use]
    pub fn player_behind<'a>(&'a self, owner: &'a Name) -> &'a Name {
        if self.players.contains_key(owner) {
            return owner;
        }
        let wallet = owner.as_str().parse().ok().and_then(|wallet| self.player_wallet(wallet));
        wallet.map_or(owner, |wallet| &wallet.player)
    }

    /// Whose payment it is: the player who has proved, by the wallet's own signature, that it is theirs on this chain.
    #[must_use]
    pub fn proven_player(&self, chain: &Name, wallet: Address) -> Option<&Name> {
        self.player_wallets.get(&wallet).filter(|proven| proven.is_proven_on(chain)).map(|proven| &proven.player)
    }

    /// Until when the owner of an account has excluded themselves, if that is still to come.
    #[must_use]
    pub fn excluded_until(&self, owner: &Name, now: Time) -> Option<Time> {
        self.players
            .get(self.player_behind(owner))
            .filter(|entry| entry.is_excluded(now))
            .and_then(|entry| entry.excluded_until)
    }

    #[must_use]
    pub fn is_nonce_used(&self, purpose: NoncePurpose, nonce: &NonceText) -> bool {
        self.nonces.contains_key(&(purpose, nonce.clone()))
    }

    #[must_use]
    pub fn is_session_revoked(&self, session: SessionId) -> bool {
        self.revoked_sessions.contains_key(&session)
    }

    /// Whether the key or wallet that once proved to be this caller still does.
    #[must_use]
    pub fn may_still_act(&self, caller: &Caller, opened_by: Address, now: Time) -> bool {
        match caller {
            Caller::GameServer(server) => self
                .server_key(opened_by)
                .is_some_and(|key| key.server == *server && key.standing(now) == KeyStanding::Valid),
            Caller::Player(player) => self.player_wallet(opened_by).is_some_and(|wallet| wallet.player == *player),
            Caller::Developer(server, _) => self.server(server).is_some_and(|entry| entry.terms.developer == opened_by),
            Caller::Operator(person) => {
                self.operators.person_with(opened_by).is_some_and(|found| found.name == *person)
            }
            Caller::Program(id) => self.operators.program_key(id).is_some_and(|key| key.is_live(now)),
        }
    }
}
