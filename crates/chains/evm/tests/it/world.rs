//! A simulated chain with players, and clients of its nodes.

use std::sync::{Arc, Mutex, MutexGuard};

use bankroll_chains_evm::{Address, B256, Block, BlockTag, ChainIdentity, InProcessRpc, RpcNode, U256};
use bankroll_chains_simulated::{Payment, SimulatedChain, SimulatedConfig, SimulatedKey};

pub struct World {
    chain: Arc<Mutex<SimulatedChain>>,
    identity: ChainIdentity,
    seed: u64,
}

/// The recipient in most tests.
pub const HOUSE: Address = Address::repeat_byte(0xaa);

impl World {
    pub fn new() -> Self {
        Self::with(SimulatedConfig::new(7))
    }

    pub fn with(config: SimulatedConfig) -> Self {
        let (seed, chain) = (config.seed, SimulatedChain::new(config));
        let identity = ChainIdentity { chain_id: chain.config().chain_id, genesis: chain.genesis() };
        Self { chain: Arc::new(Mutex::new(chain)), identity, seed }
    }

    pub fn chain(&self) -> MutexGuard<'_, SimulatedChain> {
        self.chain.lock().unwrap()
    }

    pub fn shared(&self) -> Arc<Mutex<SimulatedChain>> {
        Arc::clone(&self.chain)
    }

    pub fn identity(&self) -> ChainIdentity {
        self.identity
    }

    pub fn node(&self, number: usize) -> RpcNode {
        RpcNode::in_process(InProcessRpc::new(SimulatedChain::in_process(self.shared(), number)), self.identity)
    }

    pub fn player(&self, number: u64) -> SimulatedKey {
        SimulatedKey::derived(self.seed, number)
    }

    /// The next payment of a player, after the pending ones.
    pub fn payment(&self, player: u64, to: Address, wei: u64) -> Payment {
        let address = self.player(player).address();
        let nonce = self.node(9).pending_nonce(address).unwrap();
        Payment::new(self.identity.chain_id, nonce, to, U256::from(wei))
    }

    /// A player's payment that the chain accepts.
    pub fn pay(&self, player: u64, to: Address, wei: u64) -> B256 {
        let raw = self.player(player).sign(&self.payment(player, to, wei));
        self.chain().send(&raw).unwrap()
    }

    /// A player's contract call that the chain accepts.
    pub fn call(&self, player: u64, to: Address, wei: u64, input: bankroll_chains_evm::Bytes) -> B256 {
        let raw = self.player(player).sign(&self.payment(player, to, wei).calling(input));
        self.chain().send(&raw).unwrap()
    }

    pub fn mine(&self) -> B256 {
        let mut chain = self.chain();
        let time = chain.next_time();
        chain.mine(time).hash
    }

    pub fn mine_many(&self, blocks: u64) {
        for _ in 0..blocks {
            self.mine();
        }
    }

    /// The newest block, read through a node without faults.
    pub fn head(&self) -> Block {
        self.node(9).block(BlockTag::Latest).unwrap().unwrap()
    }
}
