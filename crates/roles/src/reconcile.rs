//! Reconciliation: what a wallet holds on its chain, compared to the wei with what the states of deposits and
//! payouts say that it should hold; and every transaction of the wallet, matched with its deposit or payout.
//!
//! Everything on the chain's side is read from blocks that prove themselves. The comparison is pure (`compare`);
//! here both sides are read.

mod compare;
#[cfg(test)]
mod tests;

use anyhow::Context;
use bankroll_chains_evm::{BlockTag, RpcNode, U256};
use bankroll_deposits::view::{self, DepositView};
use bankroll_ledger::AccountName;
use bankroll_orders::Address;
use bankroll_store::Reader;
use bankroll_withdrawals::views::{self, PaidPayout};

use compare::{BooksSide, DepositClaim, Movement, WalletTransaction, compare};
pub use compare::{Finding, Reconciliation, Sum};

pub struct Wallet<'a> {
    pub chain: &'a str,
    pub address: Address,
    pub custody: AccountName,
    /// What happened after this block is counted apart.
    pub since: u64,
}

/// Compares at the newest block. The flows should be at rest: what they settle meanwhile would be on one side only.
pub fn reconcile(node: &RpcNode, reader: &Reader, wallet: &Wallet<'_>) -> anyhow::Result<Reconciliation> {
    let books = books_side(reader, wallet)?;
    let head = node.header(BlockTag::Latest)?.context("the RPC node has no block")?;
    let on_chain = node.balance(wallet.address, BlockTag::Number(head.number))?.units();
    let mut transactions = Vec::new();
    for number in 1..=head.number {
        let block = node.block(BlockTag::Number(number))?;
        let block = block.with_context(|| format!("the RPC node has no block {number}"))?;
        for transaction in &block.transactions {
            let wei = if transaction.succeeded { transaction.value.units() } else { U256::ZERO };
            // Coins that the wallet sends to itself stay where they are: only the payout and its gas are looked at.
            let movement = if transaction.sender()? == wallet.address {
                Movement::Left { to: transaction.to, wei, fee: transaction.fee().units() }
            } else if transaction.to == Some(wallet.address) && !wei.is_zero() {
                Movement::Came { wei }
            } else {
                continue;
            };
            transactions.push(WalletTransaction { hash: format!("{:#x}", transaction.hash), block: number, movement });
        }
    }
    Ok(compare(on_chain, books, &transactions, wallet.since))
}

/// What rows and books say. The cursor is read first: what the indexer reads meanwhile is in a block above it.
fn books_side(reader: &Reader, wallet: &Wallet<'_>) -> anyhow::Result<BooksSide> {
    let chain = wallet.chain;
    let read_to = view::cursor(reader, chain)?.map_or(0, |cursor| cursor.number);
    let custody = reader.account_named(&wallet.custody)?.map(|account| account.balance).unwrap_or_default();
    let claim = |row: DepositView| {
        let (purpose, chain, ledger) = (row.purpose, row.chain_state, row.ledger_state);
        let claim = DepositClaim { wei: row.amount.parse()?, purpose, chain, ledger };
        Ok::<_, anyhow::Error>((row.tx_hash, claim))
    };
    let deposits = view::of_chain(reader, chain)?;
    let paid = views::paid_payouts(reader, chain)?;
    let signed = views::signed_payouts(reader, chain)?;
    let payee = |payout: &PaidPayout| (payout.to, U256::from(payout.amount.units()));
    Ok(BooksSide {
        custody: U256::from(custody.units()),
        deposits: deposits.into_iter().map(claim).collect::<anyhow::Result<_>>()?,
        paid: paid.into_iter().map(|payout| (payout.tx_hash.clone(), payee(&payout))).collect(),
        signed: signed.into_iter().map(|payout| (payout.tx_hash, payout.status.is_final())).collect(),
        read_to,
    })
}
