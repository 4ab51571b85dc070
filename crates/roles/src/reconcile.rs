//! Reconciliation: what a wallet holds on its chain, beside what the books say that it holds, to the wei; and every transaction
//! of the wallet beside the deposit or the payout that it is.
//!
//! Everything on the chain's side is read from blocks that prove themselves. What is on its way is a term of its own: a
//! deposit that is not booked yet is on the chain and not in custody, a payout that is not settled the other way round.

use std::collections::{BTreeMap, HashMap};

use anyhow::Context;
use bankroll_chains_evm::{Address, At, Node, Transaction, U256};
use bankroll_ledger::{AccountName, Row};
use bankroll_store::{
    Reader,
    columns::{parsed, text, text_of},
};
use bankroll_withdrawals::views::{self, PaidPayout};

/// Which wallet, on which chain.
pub struct Wallet<'a> {
    pub chain: &'a str,
    pub address: Address,
    pub custody: AccountName,
    /// What happened after this block is counted apart.
    pub since: u64,
}

/// What the chain has of one sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub count: u64,
    pub wei: U256,
}

impl Sum {
    fn add(&mut self, wei: U256) {
        self.count += 1;
        self.wei = self.wei.saturating_add(wei);
    }
}

/// What came of comparing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reconciled {
    /// What the wallet has, and what the books say.
    pub on_chain: U256,
    pub in_books: U256,
    /// On the chain and not in the books yet: deposits to be credited, payouts with their gas to be settled.
    pub uncredited: Sum,
    pub unsettled: Sum,
    /// On the chain and unknown to the books; in the books and not on the chain.
    pub foreign: Vec<String>,
    pub missing: Vec<String>,
    /// All that came and all that was paid after the block that was asked for, and what gas did cost.
    pub came: Sum,
    pub paid: Sum,
    pub fees: U256,
}

impl Reconciled {
    /// What the wallet should have.
    fn expected(&self) -> U256 {
        self.in_books.saturating_add(self.uncredited.wei).saturating_sub(self.unsettled.wei)
    }

    /// What the chain has more than it should, with a minus where it has less.
    pub fn difference(&self) -> String {
        let (on_chain, expected) = (self.on_chain, self.expected());
        match on_chain.checked_sub(expected) {
            Some(more) => more.to_string(),
            None => format!("-{}", expected.saturating_sub(on_chain)),
        }
    }

    /// Whether all adds up, and nothing is there that nobody knows of.
    pub fn is_ok(&self) -> bool {
        self.on_chain == self.expected() && self.foreign.is_empty() && self.missing.is_empty()
    }
}

/// What the books know of transactions, by their hashes.
struct Known {
    /// Deposits: whether they are booked.
    deposits: HashMap<String, (U256, bool)>,
    /// Payouts that are settled: to whom, and how much.
    paid: BTreeMap<String, (Address, U256)>,
    /// Transactions of payouts that were ever signed: cancels among them.
    signed: HashMap<String, bool>,
}

/// Compares at the newest block, where nothing moves any more.
pub fn reconcile(node: &Node, reader: &Reader, wallet: &Wallet<'_>) -> anyhow::Result<Reconciled> {
    let head = node.header(At::Latest)?.context("the node has no block")?;
    let books = reader.account_named(&wallet.custody)?.map(|account| account.balance).unwrap_or_default();
    let mut known = known(reader, wallet.chain)?;
    let mut found = Reconciled {
        on_chain: node.balance(wallet.address, At::Number(head.number))?.units(),
        in_books: U256::from(books.units()),
        ..Reconciled::default()
    };
    for number in 1..=head.number {
        let block = node.block(At::Number(number))?.with_context(|| format!("the node has no block {number}"))?;
        let is_new = number > wallet.since;
        for transaction in &block.transactions {
            if transaction.to == Some(wallet.address) && transaction.succeeded && !transaction.value.is_zero() {
                arrived(transaction, is_new, &mut known, &mut found);
            } else if transaction.sender()? == wallet.address {
                left(transaction, is_new, &mut known, &mut found);
            }
        }
    }
    let unpaid = known.paid.into_keys().map(|hash| format!("payout {hash}"));
    let booked = known.deposits.into_iter().filter(|(_, (_, is_booked))| *is_booked);
    found.missing = unpaid.chain(booked.map(|(hash, _)| format!("deposit {hash}"))).collect();
    Ok(found)
}

fn arrived(transaction: &Transaction, is_new: bool, known: &mut Known, found: &mut Reconciled) {
    let (hash, value) = (format!("{:#x}", transaction.hash), transaction.value.units());
    if is_new {
        found.came.add(value);
    }
    match known.deposits.remove(&hash) {
        Some((amount, true)) if amount == value => {}
        Some((amount, false)) if amount == value => found.uncredited.add(value),
        _ => found.foreign.push(format!("{value} wei came with {hash}")),
    }
}

fn left(transaction: &Transaction, is_new: bool, known: &mut Known, found: &mut Reconciled) {
    let (hash, fee) = (format!("{:#x}", transaction.hash), transaction.fee().units());
    let value = if transaction.succeeded { transaction.value.units() } else { U256::ZERO };
    if is_new {
        found.fees = found.fees.saturating_add(fee);
        if !value.is_zero() {
            found.paid.add(value);
        }
    }
    let settled = known.paid.remove(&hash);
    match (settled, known.signed.get(&hash)) {
        (Some((to, amount)), _) if Some(to) == transaction.to && amount == value => {}
        // Its gas is booked when it is settled, whatever became of it.
        (None, Some(true)) => {}
        (None, Some(false)) => found.unsettled.add(value.saturating_add(fee)),
        _ => found.foreign.push(format!("{value} wei and {fee} for gas left with {hash}")),
    }
}

fn known(reader: &Reader, chain: &str) -> anyhow::Result<Known> {
    let rows = |sql: &str| reader.rows(sql, vec![text(chain)]);
    let hash = |row: &Row| Ok::<_, anyhow::Error>(text_of(row, "tx_hash")?.to_owned());
    let deposits = rows("SELECT tx_hash, amount_raw, ledger_state FROM deposits WHERE chain = $1")?;
    let paid = views::paid_payouts(reader, chain)?;
    let signed = views::signed_payouts(reader, chain)?;
    let is_booked =
        |row: &Row| Ok::<_, anyhow::Error>(matches!(text_of(row, "ledger_state")?, "credited" | "suspense"));
    let payee = |payout: &PaidPayout| (Address::from(payout.to.0), U256::from(payout.amount.units()));
    Ok(Known {
        deposits: deposits
            .iter()
            .map(|row| Ok((hash(row)?, (parsed(row, "amount_raw")?, is_booked(row)?))))
            .collect::<anyhow::Result<_>>()?,
        paid: paid.into_iter().map(|payout| (payout.tx_hash.clone(), payee(&payout))).collect(),
        signed: signed.into_iter().map(|payout| (payout.tx_hash, payout.status.is_final())).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(wei: u64) -> Sum {
        Sum { count: 1, wei: U256::from(wei) }
    }

    /// A wallet that has so much on the chain and in the books, with a deposit and a payout on their way.
    fn compared(on_chain: u64, in_books: u64, uncredited: u64, unsettled: u64) -> Reconciled {
        Reconciled {
            on_chain: U256::from(on_chain),
            in_books: U256::from(in_books),
            uncredited: sum(uncredited),
            unsettled: sum(unsettled),
            ..Reconciled::default()
        }
    }

    #[test]
    fn what_is_on_its_way_is_counted_and_one_wei_is_seen() {
        let check = |found: Reconciled, difference: &str| {
            assert_eq!((found.difference().as_str(), found.is_ok()), (difference, difference == "0"), "{found:?}");
        };
        check(compared(100, 100, 0, 0), "0");
        check(compared(105, 100, 5, 0), "0");
        check(compared(93, 100, 0, 7), "0");
        check(compared(98, 100, 5, 7), "0");
        check(compared(99, 100, 5, 7), "1");
        check(compared(97, 100, 5, 7), "-1");
        check(compared(0, 100, 0, 0), "-100");
    }

    #[test]
    fn what_nobody_knows_of_is_told_even_if_the_sums_agree() {
        let sound = compared(100, 100, 0, 0);
        assert!(sound.is_ok());
        assert!(!Reconciled { foreign: vec!["5 wei came, and 5 left".into()], ..sound.clone() }.is_ok());
        assert!(!Reconciled { missing: vec!["a payout of nothing".into()], ..sound }.is_ok());
    }
}
