//! What rows and books say about the wallets of a chain, all at one moment.
//!
//! No snapshot spans these reads, so the indexer's position and the journal's head are read before and after: if one of
//! them moved, what was read is thrown away. The payouts role writes beside them, and does not matter: a transaction is
//! signed, and its hash written, before any block has it.

use std::collections::{BTreeMap, BTreeSet};

use bankroll_chains_evm::U256;
use bankroll_deposits::{custody_gap, follower::BlockPoint, outgoing, view};
use bankroll_ledger::{AccountName, AssetId, Name, Seq, Time};
use bankroll_orders::Address;
use bankroll_registry::{RegisteredWallet, Registry, WalletRole};
use bankroll_store::Reader;
use bankroll_withdrawals::views::{self, SettledPayout};

use super::terms::BalanceTerms;

/// How often the reads are repeated before the round is given up.
const TRIES: usize = 8;
/// A payout may be settled by a block of another branch, or one that the indexer has not read: so many blocks back.
const BRANCH: u64 = 64;

/// A wallet, one asset of it, and what it should hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletAsset {
    /// In the registry.
    pub name: Name,
    pub address: Address,
    pub asset: AssetId,
    /// The token's contract; `None` for the coin.
    pub token: Option<Address>,
    pub terms: BalanceTerms,
}

/// The wallets of a chain, as rows and books are when the indexer is at this block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BooksAtBlock {
    pub chain: Name,
    /// Where the indexer is.
    pub cursor: BlockPoint,
    pub head: Seq,
    /// The block whose balances are to be asked, if it is an older one.
    pub at: Option<u64>,
    pub wallets: Vec<WalletAsset>,
}

/// Reads them; `None` if the chain is not registered, nothing was read of it yet, or the books never came to rest.
///
/// # Errors
/// If they cannot be read.
pub fn read(reader: &Reader, chain: &Name, at: Option<u64>, now: Time) -> anyhow::Result<Option<BooksAtBlock>> {
    for _ in 0..TRIES {
        let before = position(reader, chain)?;
        let Some((cursor, head)) = before else { return Ok(None) };
        let registry = Registry::load(reader, now)?;
        let wallets = wallets(reader, &registry, chain, cursor, at.filter(|at| *at < cursor.number))?;
        if position(reader, chain)? == before {
            let at = at.filter(|at| *at < cursor.number);
            return Ok(Some(BooksAtBlock { chain: chain.clone(), cursor, head, at, wallets }));
        }
    }
    Ok(None)
}

pub(super) fn position(reader: &Reader, chain: &Name) -> anyhow::Result<Option<(BlockPoint, Seq)>> {
    let Some(cursor) = view::cursor(reader, chain.as_str())? else { return Ok(None) };
    Ok(Some((cursor, reader.head()?.seq)))
}

type Terms = BTreeMap<(Address, AssetId), BalanceTerms>;

fn wallets(
    reader: &Reader,
    registry: &Registry,
    chain: &Name,
    cursor: BlockPoint,
    at: Option<u64>,
) -> anyhow::Result<Vec<WalletAsset>> {
    let assets: Vec<_> = registry.assets().filter(|asset| asset.chain == *chain).collect();
    let Some(coin) = assets.iter().find(|asset| asset.token().is_none()).map(|asset| asset.asset) else {
        return Ok(Vec::new());
    };
    let mut terms = Terms::new();
    add_deposits(reader, chain, &mut terms)?;
    add_payouts(reader, chain, coin, cursor, &mut terms)?;
    if let Some(at) = at {
        add_after(reader, chain, coin, at, &mut terms)?;
    }
    let mut found = Vec::new();
    for wallet in registry.wallets().filter(|wallet| wallet.chain == *chain) {
        for asset in &assets {
            let known = terms.remove(&(wallet.address, asset.asset));
            let account = reader.account_named(&custody(wallet, asset.asset))?;
            // Addresses that were handed out and never paid to are as many as players.
            if wallet.role == WalletRole::Deposit && known.is_none() && account.is_none() {
                continue;
            }
            let mut terms = known.unwrap_or_default();
            terms.in_books = U256::from(account.map_or(0, |account| account.balance.units()));
            let (name, address) = (wallet.name.clone(), wallet.address);
            found.push(WalletAsset { name, address, asset: asset.asset, token: asset.token(), terms });
        }
    }
    Ok(found)
}

fn custody(wallet: &RegisteredWallet, asset: AssetId) -> AccountName {
    wallet.custody_account(asset)
}

fn add(sum: &mut U256, amount: U256) {
    *sum = sum.saturating_add(amount);
}

fn add_deposits(reader: &Reader, chain: &Name, terms: &mut Terms) -> anyhow::Result<()> {
    let gaps = custody_gap::of_chain(reader, chain)?;
    let moves: Vec<String> = gaps.iter().filter(|gap| gap.is_internal).map(|gap| gap.tx_hash.clone()).collect();
    // A payout to a wallet of ours leaves the books like any other.
    let paid = views::makers_of(reader, chain.as_str(), &moves)?;
    for gap in gaps {
        if gap.is_internal && !paid.contains_key(&gap.tx_hash) {
            add(&mut terms.entry((gap.from, gap.asset)).or_default().moved_out, gap.unbooked);
        }
        let terms = terms.entry((gap.to, gap.asset)).or_default();
        let unbooked = match (gap.is_internal, gap.is_held) {
            (true, _) => &mut terms.moved_in,
            (false, true) => &mut terms.held,
            (false, false) => &mut terms.unbooked,
        };
        add(unbooked, gap.unbooked);
        add(&mut terms.unreversed, gap.unreversed);
    }
    Ok(())
}

fn add_payouts(
    reader: &Reader,
    chain: &Name,
    coin: AssetId,
    cursor: BlockPoint,
    terms: &mut Terms,
) -> anyhow::Result<()> {
    let unsettled = views::unsettled_hashes(reader, chain.as_str())?;
    let mined = outgoing::with_hashes(reader, chain, &unsettled)?;
    for sent in mined.iter().filter(|sent| sent.is_canonical) {
        let terms = terms.entry((sent.wallet, coin)).or_default();
        add(&mut terms.unsettled, sent.left().saturating_sub(sent.fee));
        add(&mut terms.unsettled_gas, sent.fee);
    }
    for payout in settled_elsewhere(reader, chain, cursor)? {
        add(&mut terms.entry((payout.wallet, coin)).or_default().settled_elsewhere, U256::from(payout.left.units()));
    }
    Ok(())
}

/// Payouts that the books have settled by a transaction that the indexer's branch does not have.
fn settled_elsewhere(reader: &Reader, chain: &Name, cursor: BlockPoint) -> anyhow::Result<Vec<SettledPayout>> {
    let dropped: Vec<String> = outgoing::dropped(reader, chain)?.into_iter().map(|sent| sent.tx_hash).collect();
    let mut settled = views::settled_with(reader, chain.as_str(), &dropped)?;
    settled.extend(views::settled_above(reader, chain.as_str(), cursor.number.saturating_sub(BRANCH))?);
    let hashes: Vec<String> = settled.iter().map(|payout| payout.tx_hash.clone()).collect();
    let seen = outgoing::with_hashes(reader, chain, &hashes)?.into_iter().filter(|sent| sent.is_canonical);
    let mut known: BTreeSet<String> = seen.map(|sent| sent.tx_hash).collect();
    settled.retain(|payout| known.insert(payout.tx_hash.clone()));
    Ok(settled)
}

/// What happened between an older block and the indexer's. What no payout made is left out: so the difference begins in
/// the block that has it.
fn add_after(reader: &Reader, chain: &Name, coin: AssetId, at: u64, terms: &mut Terms) -> anyhow::Result<()> {
    let all = custody_gap::came_above(reader, chain, at)?;
    let moves: BTreeSet<&str> = all.iter().filter(|came| came.is_internal).map(|came| came.tx_hash.as_str()).collect();
    for came in &all {
        add(&mut terms.entry((came.to, came.asset)).or_default().came_after, came.unbooked);
        if came.is_internal {
            add(&mut terms.entry((came.from, came.asset)).or_default().left_after, came.unbooked);
        }
    }
    let sent = outgoing::above(reader, chain, at)?;
    let hashes: Vec<String> = sent.iter().map(|sent| sent.tx_hash.clone()).collect();
    let made = views::makers_of(reader, chain.as_str(), &hashes)?;
    for sent in sent.iter().filter(|sent| made.contains_key(&sent.tx_hash)) {
        // What went to a wallet of ours has a row of deposits, and was counted with it.
        let left = if moves.contains(sent.tx_hash.as_str()) { sent.fee } else { sent.left() };
        add(&mut terms.entry((sent.wallet, coin)).or_default().left_after, left);
    }
    Ok(())
}
