//! Serves the demo's chain to other processes on this machine, over HTTP.

use std::{
    net::Ipv4Addr,
    sync::Arc,
    thread::{self, JoinHandle},
};

use anyhow::{Context, anyhow};
use bankroll_chains_server::{self as server, ChainHost};
use tokio::{net::TcpListener, runtime::Builder, sync::oneshot};

use super::SharedChain;

#[derive(Debug)]
pub struct ChainServer {
    pub url: String,
    end: oneshot::Sender<()>,
    thread: JoinHandle<anyhow::Result<()>>,
}

impl ChainServer {
    /// Listens on any free port of loopback.
    pub fn start(chain: &SharedChain) -> anyhow::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build().context("cannot serve the chain")?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).context("cannot listen")?;
        let url = format!("http://{}", listener.local_addr().context("cannot listen")?);
        let (end, ended) = oneshot::channel();
        let host = Arc::new(ChainHost::new(Arc::clone(chain), None, None));
        let until = async move {
            // `stop` was called, or the owner was dropped.
            let _ = ended.await;
            Ok(())
        };
        let thread = thread::spawn(move || runtime.block_on(server::serve(listener, host, until)));
        Ok(Self { url, end, thread })
    }

    pub fn stop(self) -> anyhow::Result<()> {
        // If this fails, the server has ended already, and `join` returns why.
        let _ = self.end.send(());
        self.thread.join().map_err(|_| anyhow!("the chain's server panicked; its message is above"))?
    }
}
