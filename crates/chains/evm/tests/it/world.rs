//! A simulated chain with players, and clients of its nodes.

use std::sync::{Arc, Mutex, MutexGuard};

use bankroll_chains_evm::{Address, B256, Block, BlockTag, ChainIdentity, InProcessRpc, RpcNode, U256};
use bankroll_chains_simulated::{Address as SimulatedAddress, Payment, SimulatedChain, SimulatedConfig, SimulatedKey};

pub struct World {
    chain: Arc<Mutex<SimulatedChain>>,
    identity: ChainIdentity,
    seed: u64,
}

/// The recipient in most tests.
pub const HOUSE: Address = Address([0xaa; 20]);

/// An address of the simulated chain, as the client has it.
pub fn from_simulated(address: SimulatedAddress) -> Address {
    Address(address.into_array())
}

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

    pub fn address(&self, player: u64) -> Address {
        from_simulated(self.player(player).address())
    }

    /// The next payment of a player, after the pending ones.
    pub fn payment(&self, player: u64, to: Address, wei: u64) -> Payment {
        let nonce = self.node(9).pending_nonce(self.address(player)).unwrap();
        Payment::new(self.identity.chain_id, nonce, to.0.into(), U256::from(wei))
    }

    /// A player's payment that the chain accepts.
    pub fn pay(&self, player: u64, to: Address, wei: u64) -> B256 {
        let raw = self.player(player).sign(&self.payment(player, to, wei));
        self.chain().send(&raw).unwrap()
    }

    /// A player's contract call that the chain accepts.
    pub fn call(&self, player: u64, to: SimulatedAddress, wei: u64, input: bankroll_chains_evm::Bytes) -> B256 {
        let raw = self.player(player).sign(&self.payment(player, from_simulated(to), wei).calling(input));
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
