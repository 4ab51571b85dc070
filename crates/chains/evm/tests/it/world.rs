//! A simulated chain with people on it, and nodes to see it through.

use std::sync::{Arc, Mutex, MutexGuard};

use bankroll_chains_evm::{Address, B256, Block, BlockTag, ChainIdentity, InProcessRpc, RpcNode, U256};
use bankroll_chains_simulated::{Payment, SimulatedChain, SimulatedConfig, SimulatedKey};

pub struct World {
    chain: Arc<Mutex<SimulatedChain>>,
    identity: ChainIdentity,
    seed: u64,
}

/// Where coins go that the stories are about.
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

    /// The next payment of a player, behind those that wait.
    pub fn payment(&self, player: u64, to: Address, wei: u64) -> Payment {
        let address = self.player(player).address();
        let nonce = self.node(9).pending_nonce(address).unwrap();
        Payment::new(self.identity.chain_id, nonce, to, U256::from(wei))
    }

    /// A player's payment that the chain takes.
    pub fn pay(&self, player: u64, to: Address, wei: u64) -> B256 {
        let raw = self.player(player).sign(&self.payment(player, to, wei));
        self.chain().send(&raw).unwrap()
    }

    /// A player's call of a contract that the chain takes.
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

    /// The newest block, read by a node that does not lie.
    pub fn head(&self) -> Block {
        self.node(9).block(BlockTag::Latest).unwrap().unwrap()
    }
}
