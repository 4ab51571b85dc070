//! The blocks of the replay file: what is in them, and which deposits they contain.
//!
//! Thirty transactions each, by thirty senders: a deposit to a watched address, a contract that pays three others,
//! token transfers, and plain transfers between strangers. Now and then a contract pays a watched address, a token
//! goes to one, a call with coins reverts, or a transfer to a watched address is of nothing. The plan counts the
//! deposits itself, without any code of the product.

use std::collections::BTreeMap;

use anyhow::Context;
use bankroll_chains_simulated::{
    Address, Bytes, Payment, RpcReply, SimulatedChain, SimulatedConfig, SimulatedKey, U256,
    contracts::{DOLLAR, REFUSING, SPLITTER, mint_call, split_call, transfer_call},
};
use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};

pub(super) const TRANSACTIONS: u64 = 30;
/// Addresses that are paid: all that is watched in the smallest cell, and a part of it in the others.
pub(super) const PAID: u64 = 10;
const SEED: u64 = 16;
/// Senders with tokens.
const TOKEN_SENDERS: std::ops::Range<u64> = 2..5;
/// Everyone's tokens: enough for any number of blocks.
const TOKENS: u64 = 1_000_000_000_000_000_000;

/// Deposits of one kind, in base units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DepositTotal {
    pub count: u64,
    pub sum: u64,
}

impl DepositTotal {
    pub fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum += value;
    }
}

/// What a paid address has: coins, and tokens of the contract [`TOKEN`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Holding {
    pub coins: u64,
    pub tokens: u64,
}

pub(super) const TOKEN: Address = DOLLAR;

/// By the word that rows have for the kind.
pub(super) type DepositTotals = BTreeMap<String, DepositTotal>;

/// The watched address of this number.
pub(super) fn watched(number: u64) -> Address {
    made_up(number, 0)
}

fn stranger(number: u64) -> Address {
    made_up(number, 1)
}

fn made_up(number: u64, kind: u64) -> Address {
    let mut random = fastrand::Rng::with_seed(number.wrapping_mul(2).wrapping_add(kind));
    let mut bytes = [0; 20];
    random.fill(&mut bytes);
    Address::from(bytes)
}

/// The answers of a node for one block.
pub(super) struct BlockAnswers {
    pub hash: String,
    /// With the hashes of its transactions only.
    pub header: Box<RawValue>,
    pub block: Box<RawValue>,
    pub receipts: Box<RawValue>,
    pub traces: Box<RawValue>,
}

pub(super) struct BlockMaker {
    chain: SimulatedChain,
    keys: Vec<SimulatedKey>,
    totals: DepositTotals,
    holdings: [Holding; PAID as usize],
}

impl BlockMaker {
    /// A chain with its genesis block.
    pub fn new() -> Self {
        let keys: Vec<_> = (0..TRANSACTIONS).map(|number| SimulatedKey::derived(SEED, number)).collect();
        let coins = U256::from(u128::MAX);
        let funded = keys.iter().map(|key| (key.address(), coins)).collect();
        let config = SimulatedConfig { funded, ..SimulatedConfig::new(SEED) };
        Self { chain: SimulatedChain::new(config), keys, totals: DepositTotals::new(), holdings: Default::default() }
    }

    pub fn chain_id(&self) -> u64 {
        self.chain.config().chain_id
    }

    /// The deposits of all blocks until now.
    pub fn totals(&self) -> &DepositTotals {
        &self.totals
    }

    /// What the paid addresses have after the newest block.
    pub fn holdings(&self) -> &[Holding] {
        &self.holdings
    }

    /// Makes the next block.
    pub fn next(&mut self) -> anyhow::Result<BlockAnswers> {
        let number = self.chain.head().number() + 1;
        for sender in 0..TRANSACTIONS {
            let (to, value, input) = self.plan(number, sender);
            // One payment of each sender in a block.
            let payment = Payment::new(self.chain_id(), number - 1, to, U256::from(value));
            let payment = if input.is_empty() { payment } else { payment.calling(input) };
            let key = &self.keys[sender as usize];
            let is_legacy = sender % 3 == 2;
            let raw = if is_legacy { key.sign_legacy(&payment) } else { key.sign(&payment) };
            self.chain.send(&raw)?;
        }
        let time = self.chain.next_time();
        let mined = self.chain.mine(time);
        let count = mined.transactions.len() as u64;
        anyhow::ensure!(count == TRANSACTIONS, "block {number} has {count} transactions");
        let refused = mined.transactions.iter().filter(|included| !included.succeeded()).count();
        anyhow::ensure!(refused == usize::from(is_refused(number)), "{refused} calls of block {number} reverted");
        self.answers(number)
    }

    /// What a node answers about a block.
    pub fn answers(&mut self, number: u64) -> anyhow::Result<BlockAnswers> {
        let block = self.chain.block(number).context("the block is missing")?;
        let (hash, at) = (format!("{:#x}", block.hash), format!("{number:#x}"));
        Ok(BlockAnswers {
            header: self.ask("eth_getBlockByNumber", &json!([at, false]))?,
            block: self.ask("eth_getBlockByNumber", &json!([at, true]))?,
            receipts: self.ask("eth_getBlockReceipts", &json!([at]))?,
            traces: self.ask("trace_block", &json!([at]))?,
            hash,
        })
    }

    fn ask(&mut self, method: &str, params: &serde_json::Value) -> anyhow::Result<Box<RawValue>> {
        #[derive(Deserialize)]
        struct Answer {
            result: Box<RawValue>,
        }
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        match self.chain.answer(0, request.to_string().as_bytes()) {
            RpcReply::Body(body) => Ok(serde_json::from_slice::<Answer>(&body)?.result),
            reply => anyhow::bail!("the simulated chain answered {reply:?}"),
        }
    }

    /// Recipient, value and call of a transaction; a deposit is counted.
    fn plan(&mut self, number: u64, sender: u64) -> (Address, u64, Bytes) {
        let none = Bytes::new();
        let other = stranger(number * TRANSACTIONS + sender);
        let value = 1_000_000_000 + number * 1_000 + sender;
        match sender {
            0 => (self.pay("native", number % PAID, value), value, none),
            1 => {
                let share = value;
                let third = if number.is_multiple_of(5) {
                    self.pay("internal", number / 5 % PAID, share)
                } else {
                    stranger(number)
                };
                (SPLITTER, share * 3, split_call(&[other, stranger(number + 1), third]))
            }
            _ if TOKEN_SENDERS.contains(&sender) && number == 1 => {
                (DOLLAR, 0, mint_call(self.keys[sender as usize].address(), U256::from(TOKENS)))
            }
            2 if number % 5 == 1 => {
                let to = self.pay("token", number / 5 % PAID, value);
                (DOLLAR, 0, transfer_call(to, U256::from(value)))
            }
            _ if TOKEN_SENDERS.contains(&sender) => (DOLLAR, 0, transfer_call(other, U256::from(value))),
            // A call has input, so it has the gas for it.
            5 if is_refused(number) => (REFUSING, value, Bytes::from_static(&[1])),
            6 if number % 10 == 7 => (watched(0), 0, none),
            _ => (other, value, none),
        }
    }

    /// Counts a deposit to the paid address of this number.
    fn pay(&mut self, kind: &str, number: u64, value: u64) -> Address {
        self.totals.entry(kind.to_owned()).or_default().add(value);
        let holding = &mut self.holdings[number as usize];
        *(if kind == "token" { &mut holding.tokens } else { &mut holding.coins }) += value;
        watched(number)
    }
}

/// Whether a call of this block reverts.
const fn is_refused(number: u64) -> bool {
    number % 10 == 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_are_the_same_each_time_and_their_deposits_are_counted() {
        let make = || {
            let mut maker = BlockMaker::new();
            let blocks = (0..11).map(|_| maker.next().expect("a block"));
            let hashes: Vec<_> = blocks.map(|block| block.hash).collect();
            for (number, held) in (0..).zip(maker.holdings) {
                assert_eq!(maker.chain.balance(watched(number)), U256::from(held.coins));
                assert_eq!(maker.chain.token_balance(TOKEN, watched(number)), U256::from(held.tokens));
            }
            (hashes, maker.totals)
        };
        let (hashes, totals) = make();
        assert_eq!(make().0, hashes);
        let total = |kind: &str| (totals[kind].count, totals[kind].sum);
        assert_eq!(total("native"), (11, 11_000_066_000));
        // Blocks 5 and 10; blocks 6 and 11, since block 1 makes the tokens.
        assert_eq!(total("internal"), (2, 2_000_015_002));
        assert_eq!(total("token"), (2, 2_000_017_004));
    }
}
