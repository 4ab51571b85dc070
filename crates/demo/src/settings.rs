//! The settings of the demo's service: the configuration's, but for what would leave this machine or hold up the game.

use std::{io::ErrorKind, net::TcpListener};

use bankroll_roles::config::{LoadedConfig, SetFlag};
use bankroll_terminal::UsageError;

use super::{DemoArgs, chain::CHAIN_ID, funds::ServiceNames};

/// For a port that is taken: any free one.
const ANY_PORT: &str = "127.0.0.1:0";
/// The demo's players all have the same address.
const NO_LIMIT: &str = "1000000";

#[derive(Debug)]
pub struct DemoSettings {
    pub loaded: LoadedConfig,
    /// What the reader should know.
    pub note: Option<String>,
}

impl DemoSettings {
    pub fn load(args: &DemoArgs) -> anyhow::Result<Self> {
        let configured = LoadedConfig::load(args.dir.clone(), None, &[])?.config.api.listen;
        let (listen, note) = match TcpListener::bind(&configured) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                (ANY_PORT.to_owned(), Some(format!("{configured} is taken; the Funds API uses another port")))
            }
            // Any other problem is reported when the service listens.
            _ => (configured, None),
        };
        let set = [
            // The arguments alone decide where the books are: a demo must not play in real books.
            "books.folder=.".to_owned(),
            "books.database=".into(),
            "books.scrub_percent=0".into(),
            "chain.rpc=".into(),
            format!("chain.id={CHAIN_ID}"),
            format!("api.listen={listen}"),
            "api.metrics=".into(),
            "api.tls_certificate=".into(),
            "api.tls_key=".into(),
            "api.behind_proxy=false".into(),
            format!("api.requests_per_s={NO_LIMIT}"),
            format!("api.sign_ins_per_s={NO_LIMIT}"),
        ];
        let set: Vec<SetFlag> = set.iter().map(|set| set.parse()).collect::<Result<_, _>>().map_err(UsageError)?;
        let loaded = LoadedConfig::load(args.dir.clone(), None, &set)?;
        Ok(Self { loaded, note })
    }

    /// The names by which callers sign for the service.
    pub fn names(&self) -> ServiceNames {
        let api = &self.loaded.config.api;
        // The last one is that without TLS, if there is one.
        ServiceNames { audience: api.audience.clone(), sign_in: api.sign_in_uris().pop().unwrap_or_default() }
    }
}
