//! A chain that is served: every call and every block passes through here, is stored if there is a file, and is
//! reported to an observer if there is one.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bankroll_chains_simulated::{B256, RpcReply, SimulatedBlock, SimulatedChain};
use serde_json::Value;
use tokio::sync::{Notify, Semaphore, watch};

use crate::{BlockFile, RpcCall, block_tracker::BlockTracker, rpc_call, websocket::CONNECTIONS_MAX};

/// The chain, shared by the server and the miner.
pub type SharedChain = Arc<Mutex<SimulatedChain>>;

#[derive(Clone, Copy, Debug)]
pub enum ChainHostEvent<'a> {
    Call(&'a RpcCall),
    Block(&'a SimulatedBlock),
    /// Blocks were replaced.
    Reorganised {
        /// The last block that stayed.
        after: u64,
        removed: u64,
    },
}

pub type ChainObserver = Box<dyn FnMut(ChainHostEvent<'_>) + Send>;

pub struct ChainHost {
    chain: SharedChain,
    /// Locked after the chain, never before it.
    followers: Mutex<Followers>,
    failure: Mutex<Option<anyhow::Error>>,
    failed: Notify,
    /// Wakes connections that follow the head, after everything that may have moved it.
    pub(crate) changes: watch::Sender<()>,
    /// A permit for each connection by WebSocket.
    pub(crate) sockets: Arc<Semaphore>,
}

struct Followers {
    file: Option<BlockFile>,
    /// A change was not stored: what comes later is not stored, answered or reported.
    is_broken: bool,
    observer: Option<(BlockTracker, ChainObserver)>,
}

impl ChainHost {
    pub fn new(chain: SharedChain, file: Option<BlockFile>, observer: Option<ChainObserver>) -> Self {
        let observer = observer.map(|observer| (BlockTracker::new(&lock(&chain)), observer));
        Self {
            chain,
            followers: Mutex::new(Followers { file, is_broken: false, observer }),
            failure: Mutex::default(),
            failed: Notify::new(),
            changes: watch::Sender::new(()),
            sockets: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
        }
    }

    /// Answers a request. A change that could not be stored is not answered: the host has failed.
    pub(crate) fn answer(&self, node: usize, request: &[u8]) -> RpcReply {
        let mut chain = lock(&self.chain);
        let reply = chain.answer(node, request);
        if self.follow(&chain, Some((node, request, &reply))) { reply } else { RpcReply::Unreachable }
    }

    pub(crate) fn mine(&self, time: u64) {
        let mut chain = lock(&self.chain);
        chain.mine(time);
        self.follow(&chain, None);
    }

    /// The head that a node shows; `None` if it is down, or a change could not be stored.
    pub(crate) fn shown_head(&self, node: usize) -> Option<B256> {
        let chain = lock(&self.chain);
        chain.shown_head(node).filter(|_| !lock(&self.followers).is_broken)
    }

    /// The head that a node shows, and the headers that are new since it showed another one.
    pub(crate) fn new_heads(&self, node: usize, after: B256) -> Option<(B256, Vec<Value>)> {
        let chain = lock(&self.chain);
        let head = chain.shown_head(node).filter(|_| !lock(&self.followers).is_broken)?;
        let headers = if head == after { Vec::new() } else { chain.new_heads(node, after) };
        Some((head, headers))
    }

    /// Completes when a change could not be stored.
    pub(crate) async fn failure(&self) -> anyhow::Error {
        loop {
            let failed = self.failed.notified();
            if let Some(error) = lock(&self.failure).take() {
                return error;
            }
            failed.await;
        }
    }

    fn follow(&self, chain: &SimulatedChain, call: Option<(usize, &[u8], &RpcReply)>) -> bool {
        let followed = self.store_and_report(chain, call);
        self.changes.send_replace(());
        followed
    }

    fn store_and_report(&self, chain: &SimulatedChain, call: Option<(usize, &[u8], &RpcReply)>) -> bool {
        let mut followers = lock(&self.followers);
        if followers.is_broken {
            return false;
        }
        if let Some(Err(error)) = followers.file.as_mut().map(|file| file.save(chain)) {
            followers.is_broken = true;
            *lock(&self.failure) = Some(error);
            self.failed.notify_one();
            return false;
        }
        if let Some((tracker, observer)) = &mut followers.observer {
            if let Some((node, request, reply)) = call {
                rpc_call::calls(node, request, reply).iter().for_each(|call| observer(ChainHostEvent::Call(call)));
            }
            if let Some(change) = tracker.look(chain) {
                if change.removed > 0 {
                    observer(ChainHostEvent::Reorganised { after: change.after, removed: change.removed });
                }
                change.blocks(chain).for_each(|block| observer(ChainHostEvent::Block(block)));
            }
        }
        true
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for ChainHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainHost").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use bankroll_chains_simulated::SimulatedConfig;

    use super::*;
    use crate::block_file;

    #[test]
    fn a_block_that_cannot_be_stored_is_never_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("chain.jsonl");
        let mut chain = SimulatedChain::new(SimulatedConfig::new(1));
        let file = block_file::broken(&path, &mut chain).expect("a file");
        let host = ChainHost::new(Arc::new(Mutex::new(chain)), Some(file), None);
        let ask =
            |method: &str| host.answer(0, format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#).as_bytes());
        let height = RpcReply::Body(br#"{"id":1,"jsonrpc":"2.0","result":"0x0"}"#.to_vec());
        assert_eq!(ask("eth_blockNumber"), height);
        assert_eq!(ask("evm_mine"), RpcReply::Unreachable);
        assert_eq!(ask("eth_blockNumber"), RpcReply::Unreachable);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let error = runtime.block_on(host.failure()).to_string();
        assert_eq!(error, format!("cannot write to {}", path.display()));
    }
}
