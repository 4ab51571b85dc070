//! The configuration of a chain: identity, limits and genesis balances.

use alloy_primitives::{Address, U256};

use crate::key::SimulatedKey;

/// Chains with equal configurations and equal commands are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedConfig {
    pub chain_id: u64,
    /// Determines block hashes, play keys and random choices.
    pub seed: u64,
    /// In seconds since 1970.
    pub genesis_time: u64,
    /// The default time between blocks.
    pub block_seconds: u64,
    /// The gas limit of a block. At half of it the base fee stays the same.
    pub gas_limit: u64,
    /// The base fee of the genesis block, in wei.
    pub base_fee: u64,
    /// The distance of the `safe` block from the head.
    pub safe_depth: u64,
    /// The distance of the `finalized` block from the head.
    pub finalized_depth: u64,
    /// The most transactions in the mempool.
    pub pool_limit: usize,
    /// The first block in which each move of coins has a log from the system address (EIP-7708), if there is one.
    pub transfer_logs_from: Option<u64>,
    /// Genesis balances.
    pub funded: Vec<(Address, U256)>,
}

impl SimulatedConfig {
    /// Ten play accounts with a million coins each, blocks every twelve seconds, `safe` and `finalized` 32 and 64
    /// blocks deep.
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
            transfer_logs_from: None,
            funded: (0..10).map(|number| (SimulatedKey::derived(seed, number).address(), million)).collect(),
        }
    }
}
