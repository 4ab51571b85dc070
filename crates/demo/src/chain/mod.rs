//! The demo's chain: the simulated one, with a block every few milliseconds, kept in the demo's folder.
//!
//! Guarantees: a block is on disk before any client sees it, so that the books never know a block that a killed demo
//! lost. Pending transactions are lost then, as when a node restarts: their senders send them again.
//!
//! Its gas price is constant, so that the cost of payouts does not depend on the speed of the machine.

mod chain_server;

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Context, anyhow};
use bankroll_chains_evm::ChainIdentity;
use bankroll_chains_server::BlockFile;
use bankroll_chains_simulated::{SimulatedChain, SimulatedConfig, SimulatedKey, U256};
use bankroll_roles::flows::StopFlag;
use bankroll_store::Clock;

pub use chain_server::ChainServer;

/// In the demo's folder.
pub const FILE: &str = "chain.jsonl";
pub const CHAIN_ID: u64 = 31_337;
/// The same, as the books name it.
pub const CHAIN: &str = "eip155:31337";
/// Seed of the keys of the exchange and the treasury.
const SEED: u64 = CHAIN_ID;
/// Enough for every player's payment in one block.
const GAS_LIMIT: u64 = 3_000_000_000;
const POOL_LIMIT: usize = 1_000_000;
/// What a unit of gas costs in every block, before any tip.
const BASE_FEE: u64 = 1_000_000_000;

pub use bankroll_chains_server::SharedChain;

#[derive(Debug)]
pub struct DemoChain {
    pub shared: SharedChain,
    pub identity: ChainIdentity,
    stop: StopFlag,
    miner: JoinHandle<()>,
    /// Why the miner stopped, until it is reported.
    failure: Arc<Mutex<Option<anyhow::Error>>>,
}

/// Players get their coins here.
pub fn exchange() -> SimulatedKey {
    SimulatedKey::derived(SEED, 0)
}

/// Pays the house's own capital.
pub fn treasury() -> SimulatedKey {
    SimulatedKey::derived(SEED, 1)
}

/// The wallet of the game's developer, which gets a share of each buy-in.
pub fn developer() -> SimulatedKey {
    SimulatedKey::derived(SEED, 2)
}

impl DemoChain {
    /// Restores the chain of this folder, and starts its miner.
    pub fn open(folder: &Path, block_every: Duration) -> anyhow::Result<Self> {
        let mut chain = SimulatedChain::new(config());
        let blocks = BlockFile::open(&folder.join(FILE), &mut chain)
            .context("the demo's chain cannot be opened; delete the folder, or use --fresh")?;
        chain.set_base_fee(BASE_FEE);
        let identity = ChainIdentity { chain_id: chain.config().chain_id, genesis: chain.genesis() };
        let (shared, stop) = (Arc::new(Mutex::new(chain)), StopFlag::default());
        let (mined, over, failure) = (Arc::clone(&shared), stop.clone(), Arc::default());
        let failed: Arc<Mutex<Option<anyhow::Error>>> = Arc::clone(&failure);
        let miner = thread::spawn(move || {
            if let Err(error) = mine(&mined, blocks, block_every, &over) {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        });
        Ok(Self { shared, identity, stop, miner, failure })
    }

    pub fn height(&self) -> u64 {
        lock(&self.shared).head().number()
    }

    /// Fails if the miner has stopped: there will be no more blocks.
    pub fn check(&self) -> anyhow::Result<()> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.map_or(Ok(()), |error| Err(error.context("the simulated chain has stopped")))
    }

    /// Stops the miner.
    pub fn stop(self) -> anyhow::Result<()> {
        self.stop.request();
        let Self { miner, failure, .. } = self;
        miner.join().map_err(|_| anyhow!("the miner panicked; its message is above"))?;
        failure.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

pub fn lock(chain: &Mutex<SimulatedChain>) -> MutexGuard<'_, SimulatedChain> {
    chain.lock().unwrap_or_else(PoisonError::into_inner)
}

fn config() -> SimulatedConfig {
    let coins = U256::from(1_000_000_000_000_000_000_000_000_000_u128);
    SimulatedConfig {
        chain_id: CHAIN_ID,
        gas_limit: GAS_LIMIT,
        pool_limit: POOL_LIMIT,
        base_fee: BASE_FEE,
        funded: [exchange(), treasury()].map(|key| (key.address(), coins)).into(),
        ..SimulatedConfig::new(SEED)
    }
}

fn mine(chain: &SharedChain, mut blocks: BlockFile, every: Duration, stop: &StopFlag) -> anyhow::Result<()> {
    let clock = Clock::machine();
    while !stop.is_requested() {
        let mut locked = lock(chain);
        locked.mine(clock.now().0 / 1_000_000);
        // Clients ask for the price of the next block before it exists.
        locked.set_base_fee(BASE_FEE);
        if let Err(error) = blocks.save(&locked) {
            // The block is not on disk, so no client may see it: the books would know a block that is lost.
            locked.crash(0, false);
            return Err(error);
        }
        drop(locked);
        stop.rest(every);
    }
    Ok(())
}
