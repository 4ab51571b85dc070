//! Conditions of wallets: what they hold compared with the books, and transactions that no payout made.

use std::collections::BTreeMap;

use bankroll_alerts::{
    AlertCondition,
    AlertKind::{ForeignTransaction, WalletDeficit, WalletSurplus},
    AlertObservation,
};
use bankroll_deposits::outgoing::{self, OutgoingView};
use bankroll_ledger::Time;
use bankroll_store::Reader;
use bankroll_withdrawals::views;
use serde_json::json;

use crate::reconciliation::{BalanceDifference, KnownBalance, differing};

/// Of our own transactions without a payout, so many are looked at.
const FOREIGN_MAX: usize = 1_000;
/// A wallet that another program uses has as many alerts at the most.
const OF_WALLET_MAX: usize = 20;

/// Wallets that hold more or less than they should.
pub(super) fn balances(reader: &Reader, _: Time) -> anyhow::Result<Vec<AlertObservation>> {
    let (mut less, mut more) = (Vec::new(), Vec::new());
    for known in differing(reader)? {
        match known.difference {
            BalanceDifference::Deficit(amount) => {
                less.push(differs(WalletDeficit, &known, &amount.to_string(), "less"))
            }
            BalanceDifference::Surplus(amount) => {
                more.push(differs(WalletSurplus, &known, &amount.to_string(), "more"))
            }
            BalanceDifference::None => {}
        }
    }
    Ok(vec![AlertObservation::all(WalletDeficit, less), AlertObservation::all(WalletSurplus, more)])
}

fn differs(kind: bankroll_alerts::AlertKind, known: &KnownBalance, amount: &str, word: &str) -> AlertCondition {
    let KnownBalance { chain, wallet, asset, name, block, .. } = known;
    let summary = format!(
        "wallet {name} ({wallet}) on {chain} holds {amount} base units of asset {} {word} than the books say, at block \
         {block}",
        asset.0
    );
    AlertCondition::new(kind, &format!("{chain}/{wallet}/{}", asset.0), &summary).with(&json!({
        "chain": chain, "wallet": wallet.to_string(), "asset": asset.0, "block": block, "on_chain": known.on_chain,
        "difference": known.difference.signed(), "terms": known.terms,
    }))
}

/// Transactions of our wallets that no payout made.
pub(super) fn foreign(reader: &Reader, _: Time) -> anyhow::Result<Vec<AlertObservation>> {
    let mut by_chain: BTreeMap<String, Vec<OutgoingView>> = BTreeMap::new();
    for sent in outgoing::without_maker(reader, None, FOREIGN_MAX)? {
        by_chain.entry(sent.chain.clone()).or_default().push(sent);
    }
    let (mut conditions, mut counts) = (Vec::new(), BTreeMap::new());
    for (chain, sent) in by_chain {
        let hashes: Vec<String> = sent.iter().map(|sent| sent.tx_hash.clone()).collect();
        // The books may not have noted it yet.
        let made = views::makers_of(reader, &chain, &hashes)?;
        for sent in sent.iter().filter(|sent| !made.contains_key(&sent.tx_hash)) {
            let count: &mut usize = counts.entry(sent.wallet).or_default();
            *count += 1;
            if *count <= OF_WALLET_MAX {
                conditions.push(transaction(sent));
            }
        }
    }
    Ok(vec![AlertObservation::all(ForeignTransaction, conditions)])
}

fn transaction(sent: &OutgoingView) -> AlertCondition {
    let OutgoingView { chain, tx_hash, wallet, nonce, block, value, fee, .. } = sent;
    let to = sent.to.map_or_else(|| "a new contract".to_owned(), |to| to.to_string());
    let failed = if sent.succeeded { "" } else { ", and failed" };
    let summary = format!(
        "wallet {wallet} on {chain} sent a transaction that no payout made: {value} wei to {to} in block {block}, nonce \
         {nonce}, {fee} wei for gas{failed}"
    );
    AlertCondition::new(ForeignTransaction, tx_hash, &summary).with(&json!({
        "chain": chain, "transaction": tx_hash, "wallet": wallet.to_string(), "nonce": nonce, "to": to, "block": block,
        "value": value.to_string(), "fee": fee.to_string(), "succeeded": sent.succeeded,
    }))
}
