//! The arena: one game server, its accounts and its prices.

use std::sync::Arc;

use anyhow::Context;
use bankroll_ledger::{
    Account, AccountId, AccountName, Action, Amount, Asset, AssetId, BuyIn, Key, Kind, Leg, Name, Namespace, Principal,
    References, Request, Scope, Unit,
};
use bankroll_store::{Ledger, Reader, StoreError};

use super::room::{Player, Purse, Room};

/// Rooms of the server, each with a thread that asks.
pub const ROOMS: u32 = 4;
/// Accounts opened in one call: fits the smallest queue there can be.
const OPEN_AT_ONCE: usize = 1_024;
const SERVER: &str = "arena";
pub const CHAIN: &str = "eip155:31337";
/// 0.01 ETH, and what the server takes on top.
const BUY_IN: BuyIn = BuyIn { amount: Amount::new(10_000_000_000_000_000), developer_bps: 250, world_bps: 100 };

/// The game server as the ledger knows it.
#[derive(Clone, Debug)]
pub struct Arena {
    pub server: Name,
    pub asset: AssetId,
    pub decimals: u8,
    pub symbol: String,
    pub buy_in: BuyIn,
    pub custody: AccountId,
    pub world: AccountId,
    pub ecosystem: AccountId,
    pub developer: AccountId,
    /// What tells this run's keys and players from those of earlier demos in the same books.
    pub run: u64,
    /// What was in custody before it.
    pub custody_before: Amount,
}

impl Arena {
    /// Lists the asset and opens the server's accounts, or finds those of an earlier demo.
    pub fn open(ledger: &Ledger, reader: &Reader) -> anyhow::Result<Self> {
        // Every run commits something, so the number of the last batch is a new one each time.
        let run = reader.head()?.batch;
        let coin = Asset { chain: CHAIN.parse()?, unit: Unit::Native, decimals: 18, symbol: "ETH".into() };
        let (decimals, symbol) = (coin.decimals, coin.symbol.clone());
        let server: Name = SERVER.parse()?;
        let asset = ledger.list_asset(coin)?;
        let opened = open(ledger, &Principal::System, own_accounts(&server, asset)?.to_vec())?;
        let [custody, world, ecosystem, developer] = opened[..] else { anyhow::bail!("an account was not opened") };
        let custody_before = reader.account(custody)?.map_or(Amount::ZERO, |account| account.balance);
        let buy_in = BUY_IN;
        Ok(Self { server, asset, decimals, symbol, buy_in, custody, world, ecosystem, developer, run, custody_before })
    }

    /// The arena that another process has opened.
    pub fn find(reader: &Reader) -> anyhow::Result<Self> {
        let server: Name = SERVER.parse()?;
        let assets = reader.assets()?;
        let (asset, coin) =
            assets.into_iter().find(|(_, asset)| asset.chain.as_str() == CHAIN).context("these are no demo's books")?;
        let found = own_accounts(&server, asset)?.map(|name| reader.account_named(&name));
        let [custody, world, ecosystem, developer] = found;
        let id = |account: Result<Option<Account>, StoreError>| {
            account?.map(|account| account.id).context("an account of the demo is missing")
        };
        Ok(Self {
            server,
            asset,
            decimals: coin.decimals,
            symbol: coin.symbol,
            buy_in: BUY_IN,
            custody: id(custody)?,
            world: id(world)?,
            ecosystem: id(ecosystem)?,
            developer: id(developer)?,
            run: 0,
            custody_before: Amount::ZERO,
        })
    }

    /// The rooms with their players, each player with accounts of his own.
    pub fn rooms(&self, ledger: &Ledger, players: u32, seed: u64) -> anyhow::Result<Vec<Room>> {
        let mut chance = fastrand::Rng::with_seed(seed ^ self.run.rotate_left(32));
        let wallets: Vec<Name> = (0..players)
            .map(|_| format!("0x{:08x}{:032x}", chance.u32(..), chance.u128(..)).parse())
            .collect::<Result<_, _>>()?;
        let name = |wallet: &Name, kind: Kind| AccountName {
            scope: Scope::Server(self.server.clone()),
            kind,
            asset: self.asset,
            owner: Some(wallet.clone()),
        };
        let names = wallets.iter().flat_map(|wallet| [Kind::Funds, Kind::Unallocated].map(|kind| name(wallet, kind)));
        let accounts = open(ledger, &Principal::Indexer, names.collect())?;
        let mut players: Vec<Player> =
            accounts.chunks_exact(2).map(|pair| Player::new(Purse { funds: pair[0], unallocated: pair[1] })).collect();
        let rooms = ROOMS.min(u32::try_from(players.len())?) as usize;
        let arena = Arc::new(self.clone());
        let mut made = Vec::new();
        for number in 0..rooms {
            let share = players.len().div_ceil(rooms - number);
            let own = players.split_off(players.len() - share);
            made.push(Room::new(number, Arc::clone(&arena), own, chance.fork()));
        }
        Ok(made)
    }

    pub fn key(&self, namespace: Namespace, text: String) -> Key {
        Key { namespace, scope: Scope::Server(self.server.clone()), text }
    }

    /// A request of the game server, under one of its own keys.
    pub fn of_server(&self, key: String, legs: Vec<Leg>, references: References) -> Request {
        let principal = Principal::GameServer(self.server.clone());
        request(self.key(Namespace::Client, key), principal, legs, references)
    }
}

pub fn request(key: Key, principal: Principal, legs: Vec<Leg>, references: References) -> Request {
    let action = Action::Legs(legs);
    Request { key, principal, confirmation: None, action, references, facts: Vec::new(), events: Vec::new() }
}

/// Custody, world, ecosystem, developer.
fn own_accounts(server: &Name, asset: AssetId) -> anyhow::Result<[AccountName; 4]> {
    let hot: Name = "hot".parse()?;
    Ok([Kind::Custody, Kind::World, Kind::Ecosystem, Kind::Developer].map(|kind| {
        let owner = (kind == Kind::Custody).then(|| hot.clone());
        AccountName { scope: Scope::Server(server.clone()), kind, asset, owner }
    }))
}

fn open(ledger: &Ledger, by: &Principal, names: Vec<AccountName>) -> anyhow::Result<Vec<AccountId>> {
    let mut opened = Vec::with_capacity(names.len());
    for names in names.chunks(OPEN_AT_ONCE) {
        for account in ledger.open_accounts(by, names.to_vec())? {
            opened.push(account.context("cannot open an account")?);
        }
    }
    Ok(opened)
}
