//! The arena: one game server, its accounts and its prices.

use anyhow::Context;
use bankroll_deposits::BuyIn;
use bankroll_ledger::{AccountId, AccountKind, AccountName, Amount, Asset, AssetId, Name, Principal, Scope, Unit};
use bankroll_store::{Ledger, Reader};
use bankroll_withdrawals::ApprovalPolicy;

use super::chain::CHAIN;

pub const SERVER: &str = "arena";
/// 0.01 ETH, and what the server takes on top.
pub const BUY_IN: BuyIn = BuyIn { amount: Amount::new(10_000_000_000_000_000), developer_bps: 250, world_bps: 100 };
/// More than any player wins, because the demo has no operator who could approve payouts.
pub const AT_ONCE: Amount = Amount::new(1_000_000_000_000_000_000_000);

pub struct ArenaPeople {
    pub players: u32,
    /// Random seed.
    pub seed: u64,
    /// One of this many moves gets the player eaten, and one makes them leave.
    pub fates: u32,
}

/// The game server as the books know it.
#[derive(Clone, Debug)]
pub struct Arena {
    pub server: Name,
    pub chain: Name,
    pub asset: AssetId,
    pub decimals: u8,
    pub symbol: String,
    pub buy_in: BuyIn,
    pub custody: AccountId,
    pub world: AccountId,
    pub ecosystem: AccountId,
    pub developer: AccountId,
    pub house: AccountId,
    pub network_fees: AccountId,
    /// Distinguishes this run's keys and players from those of earlier demos in the same books.
    pub run: u64,
}

impl Arena {
    /// Lists the asset and opens the accounts of house and server, or finds those of an earlier demo. This is the
    /// deployment's part; what the server does comes over the Funds API.
    pub fn open(ledger: &Ledger, reader: &Reader) -> anyhow::Result<Self> {
        // Every run commits something, so the number of the last batch is new in each run.
        let run = reader.head()?.batch;
        let coin = coin()?;
        let (chain, decimals, symbol) = (coin.chain.clone(), coin.decimals, coin.symbol.clone());
        let server: Name = SERVER.parse()?;
        let asset = ledger.list_asset(coin)?;
        let opened = open_accounts(ledger, own_accounts(&server, asset)?)?;
        let [custody, house, network_fees, world, ecosystem, developer, ..] = opened[..] else {
            anyhow::bail!("an account was not opened")
        };
        let (buy_in, chain_name) = (BUY_IN, chain);
        Ok(Self {
            server,
            chain: chain_name,
            asset,
            decimals,
            symbol,
            buy_in,
            custody,
            world,
            ecosystem,
            developer,
            house,
            network_fees,
            run,
        })
    }

    /// One of the server's accounts.
    pub fn account(&self, kind: AccountKind, owner: Option<Name>) -> AccountName {
        AccountName { scope: Scope::Server(self.server.clone()), kind, asset: self.asset, owner }
    }
}

/// The coin of the demo's chain.
pub fn coin() -> anyhow::Result<Asset> {
    Ok(Asset { chain: CHAIN.parse()?, unit: Unit::Native, decimals: 18, symbol: "ETH".into() })
}

pub fn policy() -> ApprovalPolicy {
    ApprovalPolicy { at_once: AT_ONCE }
}

/// The house's three accounts, the server's three, and their debt accounts.
fn own_accounts(server: &Name, asset: AssetId) -> anyhow::Result<Vec<AccountName>> {
    let hot: Name = "hot".parse()?;
    let house = |kind: AccountKind, owner| AccountName { scope: Scope::House, kind, asset, owner };
    let ours = |kind: AccountKind| AccountName { scope: Scope::Server(server.clone()), kind, asset, owner: None };
    let mut names = vec![
        house(AccountKind::Custody, Some(hot)),
        house(AccountKind::House, None),
        house(AccountKind::NetworkFees, None),
        ours(AccountKind::World),
        ours(AccountKind::Ecosystem),
        ours(AccountKind::Developer),
    ];
    let mut debts: Vec<AccountName> = names.iter().filter_map(AccountName::debt).collect();
    debts.dedup();
    names.extend(debts);
    Ok(names)
}

fn open_accounts(ledger: &Ledger, names: Vec<AccountName>) -> anyhow::Result<Vec<AccountId>> {
    let opened = ledger.open_accounts(&Principal::System, names)?;
    opened.into_iter().map(|account| account.context("cannot open an account")).collect()
}
