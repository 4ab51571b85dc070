//! How a chain begins: its identity, its limits, and who has coins in its first block.

use alloy_primitives::{Address, U256};

use crate::key::SimulatedKey;

/// What a chain is made from. Two chains of equal configurations and equal commands are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedConfig {
    /// What replay protection and clients know the chain by.
    pub chain_id: u64,
    /// What hashes of blocks, play keys and choices of commands follow from.
    pub seed: u64,
    /// The time of the first block, in seconds since 1970.
    pub genesis_time: u64,
    /// Seconds from one block to the next, where a command gives no time.
    pub block_seconds: u64,
    /// The most gas a block may use. Half of it is where the base fee stays as it is.
    pub gas_limit: u64,
    /// The base fee of the first block, in wei.
    pub base_fee: u64,
    /// How many blocks the mark `safe` is behind the head.
    pub safe_depth: u64,
    /// How many blocks the mark `finalized` is behind the head.
    pub finalized_depth: u64,
    /// The most transactions the mempool holds.
    pub pool_limit: usize,
    /// Who has coins in the first block.
    pub funded: Vec<(Address, U256)>,
}

impl SimulatedConfig {
    /// Ten play accounts with a million coins each, blocks every twelve seconds, marks 32 and 64 blocks deep.
    pub fn new(seed: u64) -> Self {
        let million = U256::from(1_000_000_000_000_000_000_000_000_u128);
        Self {
            chain_id: 1337,
            seed,
            genesis_time: 1_700_000_000,
            block_seconds: 12,
            gas_limit: 30_000_000,
            base_fee: 1_000_000_000,
            safe_depth: 32,
            finalized_depth: 64,
            pool_limit: 10_000,
            funded: (0..10).map(|number| (SimulatedKey::derived(seed, number).address(), million)).collect(),
        }
    }
}
