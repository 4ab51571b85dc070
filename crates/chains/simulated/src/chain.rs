//! The chain: its blocks, its mempool, and the commands that change them.
//!
//! Guarantees: blocks are an unbroken line by parent hash; the state is what its blocks make of the first one; a command
//! that is refused changes nothing. Memory grows with the blocks, which are all kept.

use std::collections::{BTreeMap, VecDeque};

use alloy_consensus::Header;
use alloy_eips::eip1559::BaseFeeParams;
use alloy_primitives::{Address, B256, U256, address};

use crate::{
    block::{IncludedTransaction, SimulatedBlock, include},
    config::SimulatedConfig,
    dice::{Dice, derived},
    execute::execute,
    nodes::SimulatedNodes,
    pool::{Pool, PoolLimits, PoolRefusal},
    state::State,
    transaction::SimulatedTransaction,
};

pub const PRODUCER: Address = address!("00000000000000000000000000000000000d0000");

/// Far above all that was ever paid, and far below what the rule of fees can count.
const BASE_FEE_MAX: u64 = 1_000_000_000_000_000;

/// So many blocks that are no longer on the chain can still be asked for.
const ORPHANS_KEPT: usize = 4_096;

/// A chain, and the nodes it is seen through.
#[derive(Clone, Debug)]
pub struct SimulatedChain {
    pub(crate) config: SimulatedConfig,
    pub(crate) state: State,
    pub(crate) pool: Pool,
    pub(crate) nodes: SimulatedNodes,
    pub(crate) dice: Dice,
    /// From the first block on.
    pub(crate) blocks: Vec<SimulatedBlock>,
    numbers: BTreeMap<B256, u64>,
    included: BTreeMap<B256, (u64, usize)>,
    orphans: BTreeMap<B256, SimulatedBlock>,
    orphaned: VecDeque<B256>,
    /// How many blocks were ever made: no two of them are the same.
    made: u64,
    next_base_fee: Option<u64>,
}

/// What a block is made with besides its transactions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockTemplate {
    pub time: u64,
    pub base_fee: u64,
    /// Makes blocks differ that are otherwise the same.
    pub salt: B256,
}

impl SimulatedChain {
    /// A chain with its first block.
    pub fn new(config: SimulatedConfig) -> Self {
        let mut state = State::new();
        for (address, coins) in &config.funded {
            assert!(state.give(0, *address, *coins), "a genesis with more coins than 256 bits can count");
        }
        let header = Header {
            timestamp: config.genesis_time,
            gas_limit: config.gas_limit,
            base_fee_per_gas: Some(config.base_fee),
            mix_hash: derived(config.seed, b"genesis", config.chain_id),
            state_root: state.root(B256::ZERO, 0),
            ..Header::default()
        };
        let genesis = SimulatedBlock::seal(header, Vec::new());
        Self {
            dice: Dice::new(config.seed),
            config,
            state,
            pool: Pool::default(),
            nodes: SimulatedNodes::default(),
            numbers: BTreeMap::from([(genesis.hash, 0)]),
            blocks: vec![genesis],
            included: BTreeMap::new(),
            orphans: BTreeMap::new(),
            orphaned: VecDeque::new(),
            made: 0,
            next_base_fee: None,
        }
    }

    /// Takes a signed transaction into the mempool, as any node would.
    pub fn send(&mut self, raw: &[u8]) -> Result<B256, PoolRefusal> {
        let transaction = SimulatedTransaction::decode(raw)?;
        let hash = transaction.hash;
        let limits = PoolLimits {
            chain_id: self.config.chain_id,
            gas_limit: self.config.gas_limit,
            transactions: self.config.pool_limit,
        };
        self.pool.admit(transaction, &self.state, &limits).map(|()| hash)
    }

    /// Makes the next block of what waits, best tips first. A time that is not after the last block's is moved there.
    pub fn mine(&mut self, time: u64) -> &SimulatedBlock {
        let template = self.template(time);
        let candidates = self.pool.best(&self.state, template.base_fee);
        self.append(candidates, template);
        self.pool.drop_used(&self.state);
        self.head()
    }

    /// Sets the base fee of the next block that is made, as a rush elsewhere on the chain would: at most a million gwei.
    pub fn set_base_fee(&mut self, base_fee: u64) {
        self.next_base_fee = Some(base_fee.min(BASE_FEE_MAX));
    }

    /// What the next block is made with.
    pub(crate) fn template(&mut self, time: u64) -> BlockTemplate {
        self.made = self.made.saturating_add(1);
        let salt = derived(self.config.seed, b"block", self.made);
        let time = time.max(self.head().time().saturating_add(1));
        BlockTemplate { time, base_fee: self.coming_base_fee(), salt }
    }

    /// The base fee of the block after the head.
    pub fn coming_base_fee(&self) -> u64 {
        let by_rule = self.head().header.next_block_base_fee(BaseFeeParams::ethereum());
        self.next_base_fee.or(by_rule).unwrap_or(self.config.base_fee)
    }

    /// The time of the next block, where nobody gives one.
    pub fn next_time(&self) -> u64 {
        self.head().time().saturating_add(self.config.block_seconds)
    }

    /// Puts a block with these transactions, in this order, behind the head. Gives back those that could not stand in it.
    pub(crate) fn append(
        &mut self,
        candidates: Vec<SimulatedTransaction>,
        template: BlockTemplate,
    ) -> Vec<SimulatedTransaction> {
        let parent = self.head();
        let number = parent.number().saturating_add(1);
        let (parent_hash, parent_root) = (parent.hash, parent.header.state_root);
        let (mut chosen, mut left, mut gas_used) = (Vec::<IncludedTransaction>::new(), Vec::new(), 0_u64);
        for transaction in candidates {
            let fits = self.config.gas_limit.saturating_sub(gas_used) >= transaction.gas_limit();
            let outcome = fits
                .then(|| execute(&mut self.state, number, &transaction, template.base_fee, PRODUCER).ok())
                .flatten();
            let Some(outcome) = outcome else {
                left.push(transaction);
                continue;
            };
            let included = include(transaction, outcome, gas_used, template.base_fee);
            gas_used = gas_used.saturating_add(included.gas_used);
            chosen.push(included);
        }
        let header = Header {
            parent_hash,
            number,
            timestamp: template.time,
            gas_limit: self.config.gas_limit,
            base_fee_per_gas: Some(template.base_fee),
            mix_hash: template.salt,
            beneficiary: PRODUCER,
            state_root: self.state.root(parent_root, number),
            ..Header::default()
        };
        self.next_base_fee = None;
        let block = SimulatedBlock::seal(header, chosen);
        for (index, included) in block.transactions.iter().enumerate() {
            self.included.insert(included.transaction.hash, (number, index));
            self.pool.forget(included.transaction.hash);
        }
        self.numbers.insert(block.hash, number);
        self.orphans.remove(&block.hash);
        self.blocks.push(block);
        left
    }

    /// Takes all blocks after this one off the chain, oldest first. They can still be asked for by hash.
    pub(crate) fn unwind(&mut self, to: u64) -> Vec<SimulatedBlock> {
        let keep = usize::try_from(to).unwrap_or(usize::MAX).saturating_add(1);
        let removed = if keep < self.blocks.len() { self.blocks.split_off(keep) } else { Vec::new() };
        self.state.unwind(to);
        for block in &removed {
            self.numbers.remove(&block.hash);
            for included in &block.transactions {
                self.included.remove(&included.transaction.hash);
            }
            self.orphans.insert(block.hash, block.clone());
            self.orphaned.push_back(block.hash);
        }
        while self.orphaned.len() > ORPHANS_KEPT {
            self.orphaned.pop_front().and_then(|hash| self.orphans.remove(&hash));
        }
        removed
    }

    pub fn head(&self) -> &SimulatedBlock {
        self.blocks.last().expect("a chain has its first block")
    }

    /// The hash of the first block: with the chain's id, what the chain is known by.
    pub fn genesis(&self) -> B256 {
        self.blocks.first().expect("a chain has its first block").hash
    }

    /// The block at this height.
    pub fn block(&self, number: u64) -> Option<&SimulatedBlock> {
        self.blocks.get(usize::try_from(number).ok()?)
    }

    /// The block with this hash that is on the chain.
    pub fn block_with(&self, hash: B256) -> Option<&SimulatedBlock> {
        self.numbers.get(&hash).and_then(|number| self.block(*number))
    }

    /// A block that is no longer on the chain.
    pub fn orphan(&self, hash: B256) -> Option<&SimulatedBlock> {
        self.orphans.get(&hash)
    }

    /// Where a transaction is on the chain, and its place in that block.
    pub fn find(&self, transaction: B256) -> Option<(&SimulatedBlock, usize)> {
        let (number, index) = self.included.get(&transaction)?;
        self.block(*number).map(|block| (block, *index))
    }

    /// A transaction that waits to be included.
    pub fn waiting(&self, transaction: B256) -> Option<&SimulatedTransaction> {
        self.pool.get(transaction)
    }

    /// How many transactions wait.
    pub fn waiting_count(&self) -> usize {
        self.pool.len()
    }

    /// What an account has at the head.
    pub fn balance(&self, address: Address) -> U256 {
        self.state.coins.get(address)
    }

    /// What an account has of a token at the head.
    pub fn token_balance(&self, token: Address, holder: Address) -> U256 {
        self.state.tokens.get((token, holder))
    }

    /// The number of an account's next transaction, after those on the chain.
    pub fn nonce(&self, address: Address) -> u64 {
        self.state.nonces.get(address)
    }

    pub fn config(&self) -> &SimulatedConfig {
        &self.config
    }
}
