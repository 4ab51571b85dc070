//! The chain: its blocks, its mempool, and the commands that change them.
//!
//! Guarantees: blocks form an unbroken line by parent hash; the state follows from the genesis and the blocks; a
//! refused command changes nothing. All blocks are kept in memory.

use std::collections::{BTreeMap, VecDeque};

use alloy_consensus::Header;
use alloy_eips::{eip1559::BaseFeeParams, eip4895::Withdrawal};
use alloy_primitives::{Address, B256, U256, address};

use crate::{
    block::{BlockExtras, IncludedTransaction, SimulatedBlock, include},
    config::SimulatedConfig,
    contracts,
    dice::{Dice, derived},
    execute::{BlockContext, execute},
    nodes::SimulatedNodes,
    pool::{Pool, PoolLimits, PoolRefusal},
    state::State,
    transaction::SimulatedTransaction,
};

pub const PRODUCER: Address = address!("00000000000000000000000000000000000d0000");

/// Far above every real fee, and far below the overflow of the fee rule.
const BASE_FEE_MAX: u64 = 1_000_000_000_000_000;

/// The number of orphaned blocks that stay available.
const ORPHANS_KEPT: usize = 4_096;

/// A chain and its nodes.
#[derive(Clone, Debug)]
pub struct SimulatedChain {
    pub(crate) config: SimulatedConfig,
    pub(crate) state: State,
    pub(crate) pool: Pool,
    pub(crate) nodes: SimulatedNodes,
    pub(crate) dice: Dice,
    /// From the genesis on.
    pub(crate) blocks: Vec<SimulatedBlock>,
    numbers: BTreeMap<B256, u64>,
    included: BTreeMap<B256, (u64, usize)>,
    orphans: BTreeMap<B256, SimulatedBlock>,
    orphaned: VecDeque<B256>,
    /// The number of blocks ever made; makes each block unique.
    pub(crate) made: u64,
    next_base_fee: Option<u64>,
    /// Who gets the tips of the next blocks.
    producer: Address,
    /// What the next block does besides its transactions.
    pub(crate) next_extras: BlockExtras,
    /// The number of withdrawals ever planned.
    withdrawn: u64,
    /// The chains of nodes that do not follow this one.
    pub(crate) branches: BTreeMap<usize, Self>,
    pub(crate) branched: u64,
}

/// The fields of a new block besides its transactions.
#[derive(Clone, Debug)]
pub(crate) struct BlockTemplate {
    pub time: u64,
    pub base_fee: u64,
    /// Makes otherwise equal blocks differ.
    pub salt: B256,
    pub producer: Address,
    pub extras: BlockExtras,
}

impl SimulatedChain {
    /// A chain with its genesis block.
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
        let genesis = SimulatedBlock::seal(header, Vec::new(), BlockExtras::default());
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
            producer: PRODUCER,
            next_extras: BlockExtras::default(),
            withdrawn: 0,
            branches: BTreeMap::new(),
            branched: 0,
        }
    }

    /// Adds a signed transaction to the mempool, as any node would.
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

    /// Makes the next block from the mempool, highest tips first. A time before the head's is raised to just after it.
    pub fn mine(&mut self, time: u64) -> &SimulatedBlock {
        self.mine_if(time, |_| true)
    }

    /// As [`Self::mine`], with those transactions only that the producer accepts; the others wait on.
    pub fn mine_if(&mut self, time: u64, accepts: impl Fn(&SimulatedTransaction) -> bool) -> &SimulatedBlock {
        let template = self.template(time);
        let mut candidates = self.pool.best(&self.state, template.base_fee);
        candidates.retain(accepts);
        self.append(candidates, template);
        self.pool.drop_used(&self.state);
        self.head()
    }

    /// Sets the base fee of the next block, to simulate demand: at most a million gwei.
    pub fn set_base_fee(&mut self, base_fee: u64) {
        self.next_base_fee = Some(base_fee.min(BASE_FEE_MAX));
    }

    /// Lets tips of later blocks go to this address.
    pub fn set_producer(&mut self, producer: Address) {
        self.producer = producer;
    }

    /// Pays an address from the consensus layer in the next block (EIP-4895): no transaction, no log, no trace.
    pub fn withdraw(&mut self, address: Address, gwei: u64) {
        let index = self.withdrawn;
        self.withdrawn = index.saturating_add(1);
        let withdrawal = Withdrawal { index, validator_index: index, address, amount: gwei };
        self.next_extras.withdrawals.push(withdrawal);
    }

    /// So that the next withdrawal has an index of its own after a replay, too.
    pub(crate) fn count_withdrawals(&mut self, extras: &BlockExtras) {
        let next = extras.withdrawals.iter().map(|withdrawal| withdrawal.index.saturating_add(1)).max();
        self.withdrawn = self.withdrawn.max(next.unwrap_or(0));
    }

    /// Makes coins in the next block, as second layers do: nothing in the block shows it.
    pub fn mint_coins(&mut self, address: Address, wei: U256) {
        self.next_extras.minted.push((address, wei));
    }

    /// Sets the distances of `safe` and `finalized` from the head.
    pub fn set_finality(&mut self, safe_depth: u64, finalized_depth: u64) {
        (self.config.safe_depth, self.config.finalized_depth) = (safe_depth, finalized_depth);
    }

    pub(crate) fn template(&mut self, time: u64) -> BlockTemplate {
        self.count_block();
        let salt = derived(self.config.seed, b"block", self.made);
        let time = time.max(self.head().time().saturating_add(1));
        let extras = std::mem::take(&mut self.next_extras);
        BlockTemplate { time, base_fee: self.coming_base_fee(), salt, producer: self.producer, extras }
    }

    pub(crate) const fn count_block(&mut self) {
        self.made = self.made.saturating_add(1);
    }

    /// The base fee of the block after the head.
    pub fn coming_base_fee(&self) -> u64 {
        let by_rule = self.head().header.next_block_base_fee(BaseFeeParams::ethereum());
        self.next_base_fee.or(by_rule).unwrap_or(self.config.base_fee)
    }

    /// The default time of the next block.
    pub fn next_time(&self) -> u64 {
        self.head().time().saturating_add(self.config.block_seconds)
    }

    /// Appends a block with these transactions in this order. Returns those that did not fit.
    pub(crate) fn append(
        &mut self,
        candidates: Vec<SimulatedTransaction>,
        template: BlockTemplate,
    ) -> Vec<SimulatedTransaction> {
        let parent = self.head();
        let number = parent.number().saturating_add(1);
        let (parent_hash, parent_root) = (parent.hash, parent.header.state_root);
        let BlockTemplate { time, base_fee, salt, producer, extras } = template;
        let logs_coins = self.config.transfer_logs_from.is_some_and(|from| number >= from);
        let context = BlockContext { number, base_fee, producer, logs_coins };
        let (mut chosen, mut left, mut gas_used) = (Vec::<IncludedTransaction>::new(), Vec::new(), 0_u64);
        for transaction in candidates {
            let fits = self.config.gas_limit.saturating_sub(gas_used) >= transaction.gas_limit();
            let outcome = fits.then(|| execute(&mut self.state, context, &transaction).ok()).flatten();
            let Some(outcome) = outcome else {
                left.push(transaction);
                continue;
            };
            let included = include(transaction, outcome, gas_used, base_fee);
            gas_used = gas_used.saturating_add(included.gas_used);
            chosen.push(included);
        }
        let withdrawn = extras.withdrawals.iter().map(|withdrawal| (withdrawal.address, withdrawal.amount_wei()));
        for (address, wei) in withdrawn.chain(extras.minted.iter().copied()) {
            // Coins that 256 bits cannot count are not made.
            let _ = self.state.give(number, address, wei);
        }
        let header = Header {
            parent_hash,
            number,
            timestamp: time,
            gas_limit: self.config.gas_limit,
            base_fee_per_gas: Some(base_fee),
            mix_hash: salt,
            beneficiary: producer,
            state_root: self.state.root(parent_root, number),
            ..Header::default()
        };
        self.next_base_fee = None;
        let block = SimulatedBlock::seal(header, chosen, extras);
        for (index, included) in block.transactions.iter().enumerate() {
            self.included.insert(included.transaction.hash, (number, index));
            self.pool.forget(included.transaction.hash);
        }
        self.numbers.insert(block.hash, number);
        self.orphans.remove(&block.hash);
        self.blocks.push(block);
        left
    }

    /// Removes all blocks after this one and returns them, oldest first. They stay available by hash.
    pub(crate) fn unwind(&mut self, to: u64) -> Vec<SimulatedBlock> {
        let keep = usize::try_from(to).unwrap_or(usize::MAX).saturating_add(1);
        let removed = if keep < self.blocks.len() { self.blocks.split_off(keep) } else { Vec::new() };
        self.state.unwind(to);
        for block in &removed {
            self.numbers.remove(&block.hash);
            for included in &block.transactions {
                self.included.remove(&included.transaction.hash);
            }
            self.keep_orphan(block.clone());
        }
        removed
    }

    pub(crate) fn keep_orphan(&mut self, block: SimulatedBlock) {
        let hash = block.hash;
        if self.orphans.insert(hash, block).is_none() {
            self.orphaned.push_back(hash);
        }
        while self.orphaned.len() > ORPHANS_KEPT {
            self.orphaned.pop_front().and_then(|hash| self.orphans.remove(&hash));
        }
    }

    pub fn head(&self) -> &SimulatedBlock {
        self.blocks.last().expect("a chain has its genesis block")
    }

    /// The hash of the genesis block.
    pub fn genesis(&self) -> B256 {
        self.blocks.first().expect("a chain has its genesis block").hash
    }

    pub fn block(&self, number: u64) -> Option<&SimulatedBlock> {
        self.blocks.get(usize::try_from(number).ok()?)
    }

    /// The block on the chain with this hash.
    pub fn block_with(&self, hash: B256) -> Option<&SimulatedBlock> {
        self.numbers.get(&hash).and_then(|number| self.block(*number))
    }

    /// A block that is no longer on the chain.
    pub fn orphan(&self, hash: B256) -> Option<&SimulatedBlock> {
        self.orphans.get(&hash)
    }

    /// The block of a transaction, and its index there.
    pub fn find(&self, transaction: B256) -> Option<(&SimulatedBlock, usize)> {
        let (number, index) = self.included.get(&transaction)?;
        self.block(*number).map(|block| (block, *index))
    }

    /// A transaction in the mempool.
    pub fn waiting(&self, transaction: B256) -> Option<&SimulatedTransaction> {
        self.pool.get(transaction)
    }

    /// The size of the mempool.
    pub fn waiting_count(&self) -> usize {
        self.pool.len()
    }

    pub fn balance(&self, address: Address) -> U256 {
        self.state.coins.get(address)
    }

    /// The coins of an account after this block.
    pub fn balance_at(&self, address: Address, number: u64) -> U256 {
        self.state.coins.at(address, number)
    }

    /// What `balanceOf` of a token returns at the head.
    pub fn token_balance(&self, token: Address, holder: Address) -> U256 {
        contracts::token_balance(&self.state, self.head().number(), token, holder)
    }

    /// The next nonce of an account at the head.
    pub fn nonce(&self, address: Address) -> u64 {
        self.state.nonces.get(address)
    }

    pub fn config(&self) -> &SimulatedConfig {
        &self.config
    }
}
