//! The demo's chain: the simulated one, with a block every few milliseconds, kept in the demo's folder.
//!
//! Guarantees: a block is on disk before anybody sees it, so that the books never know of a block that a killed demo took
//! with it. What only waited to be mined is gone then, as from a node that restarts: whoever sent it sends it again.
//!
//! Its price of gas does not move, so that what payouts cost does not depend on how fast the machine is.

mod blocks;
mod served;

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::anyhow;
use bankroll_chains_evm::Identity;
use bankroll_chains_simulated::{Chain, Config, Key, U256};
use bankroll_roles::flows::Stop;
use bankroll_store::Clock;

use blocks::Blocks;
pub use blocks::FILE;
pub use served::Served;

/// What wallets know the chain by.
pub const CHAIN_ID: u64 = 31_337;
/// The same, as the books name it.
pub const CHAIN: &str = "eip155:31337";
/// What the keys of the exchange and the treasury follow from.
const SEED: u64 = CHAIN_ID;
/// Room for every player's payment in one block.
const GAS_LIMIT: u64 = 3_000_000_000;
const POOL_LIMIT: usize = 1_000_000;

/// A chain that is shared by its miner, its players and the nodes it is seen through.
pub type Shared = Arc<Mutex<Chain>>;

#[derive(Debug)]
pub struct DemoChain {
    pub shared: Shared,
    pub identity: Identity,
    stop: Stop,
    miner: JoinHandle<anyhow::Result<()>>,
}

/// Where players get their coins.
pub fn exchange() -> Key {
    Key::derived(SEED, 0)
}

/// Where the house's own capital comes from.
pub fn treasury() -> Key {
    Key::derived(SEED, 1)
}

impl DemoChain {
    /// The chain of this folder as it was, and its miner at work.
    pub fn open(folder: &Path, block_every: Duration) -> anyhow::Result<Self> {
        let mut chain = Chain::new(config());
        let blocks = Blocks::open(folder, &mut chain)?;
        let identity = Identity { chain_id: chain.config().chain_id, genesis: chain.genesis() };
        let (shared, stop) = (Arc::new(Mutex::new(chain)), Stop::default());
        let (mined, over) = (Arc::clone(&shared), stop.clone());
        let miner = thread::spawn(move || mine(&mined, blocks, block_every, &over));
        Ok(Self { shared, identity, stop, miner })
    }

    /// The height now.
    pub fn height(&self) -> u64 {
        lock(&self.shared).head().number()
    }

    /// No more blocks.
    pub fn stop(self) -> anyhow::Result<()> {
        self.stop.ask();
        self.miner.join().map_err(|_| anyhow!("the miner panicked; its message is above"))?
    }
}

pub fn lock(chain: &Mutex<Chain>) -> MutexGuard<'_, Chain> {
    chain.lock().unwrap_or_else(PoisonError::into_inner)
}

fn config() -> Config {
    let coins = U256::from(1_000_000_000_000_000_000_000_000_000_u128);
    Config {
        chain_id: CHAIN_ID,
        gas_limit: GAS_LIMIT,
        pool_limit: POOL_LIMIT,
        base_fee: blocks::BASE_FEE,
        funded: [exchange(), treasury()].map(|key| (key.address(), coins)).into(),
        ..Config::new(SEED)
    }
}

fn mine(chain: &Shared, mut blocks: Blocks, every: Duration, stop: &Stop) -> anyhow::Result<()> {
    let clock = Clock::machine();
    while !stop.is_asked() {
        blocks.mine(&mut lock(chain), clock.now().0 / 1_000_000)?;
        stop.rest(every);
    }
    Ok(())
}
