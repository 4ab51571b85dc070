//! The service that the games call: one node in this process, or a deployment of several. A game cannot tell which.

use bankroll_store::{DatabaseUrl, Location};

use super::{
    DemoArgs,
    environment::Environment,
    node_thread::NodeThread,
    nodes::{ChainSettings, NodeProcesses},
    settings::DemoSettings,
};

#[derive(Debug)]
pub enum DemoService {
    /// All roles in this process.
    Here(NodeThread),
    /// Each role in a process of its own.
    Nodes(Box<NodeProcesses>),
}

impl DemoService {
    /// Starts it, and waits until it answers. The books are prepared; from now on it holds them.
    pub fn start(
        args: &DemoArgs,
        settings: DemoSettings,
        location: &Location,
        environment: &mut Environment,
    ) -> anyhow::Result<Self> {
        match location {
            Location::Folder(_) => Ok(Self::Here(NodeThread::start(settings.loaded, environment.setup.clone())?)),
            Location::Postgres(url) => Self::start_nodes(args, &settings, url, environment),
        }
    }

    fn start_nodes(
        args: &DemoArgs,
        settings: &DemoSettings,
        url: &DatabaseUrl,
        environment: &mut Environment,
    ) -> anyhow::Result<Self> {
        let rpc = environment.serve_chain()?;
        let (identity, signer) = (environment.chain.identity, &environment.signer);
        let chain = ChainSettings { rpc: &rpc, identity, signer, api: &settings.loaded.config.api };
        let nodes = NodeProcesses::start(&args.dir, url, &chain, args.kill_books)?;
        Ok(Self::Nodes(Box::new(nodes)))
    }

    /// `http://127.0.0.1:8640`.
    pub fn url(&self) -> &str {
        match self {
            Self::Here(node) => node.url(),
            Self::Nodes(nodes) => nodes.url(),
        }
    }

    /// The game is half over.
    pub fn half_time(&self) -> anyhow::Result<()> {
        match self {
            Self::Here(_) => Ok(()),
            Self::Nodes(nodes) => nodes.half_time(),
        }
    }

    /// What nodes have reported since the last call.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::Here(node) => node.notes(),
            Self::Nodes(nodes) => nodes.notes(),
        }
    }

    /// Fails if no node can answer any more.
    pub fn check(&self) -> anyhow::Result<()> {
        match self {
            Self::Here(node) => node.check(),
            Self::Nodes(nodes) => nodes.check(),
        }
    }

    /// Stops every node; returns which of them had ended before, and how.
    pub fn stop(self) -> anyhow::Result<Vec<String>> {
        match self {
            Self::Here(node) => node.stop().map(|()| Vec::new()),
            Self::Nodes(nodes) => nodes.stop(),
        }
    }
}
