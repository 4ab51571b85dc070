//! What the registry in the books says about a game server, as far as a command needs it to sign for the server or for
//! one of its players.

use bankroll_ledger::{AssetId, Name};
use bankroll_orders::ChainId;
use bankroll_registry::{Registry, RegistryError};
use bankroll_store::Reader;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownServer {
    /// Signatures for the server name this chain.
    pub chain: ChainId,
    pub asset: AssetId,
    pub decimals: u8,
    pub symbol: String,
}

impl KnownServer {
    /// `None` if the registry does not have the server.
    ///
    /// # Errors
    /// If the registry cannot be read.
    pub fn read(reader: &Reader, server: &Name) -> Result<Option<Self>, RegistryError> {
        let registry = Registry::load_for_flows(reader)?;
        let Some(server) = registry.server(server) else { return Ok(None) };
        let (chain, asset) = (registry.chain(&server.chain), registry.asset(server.asset));
        Ok(chain.zip(asset).map(|(chain, asset)| Self {
            chain: chain.id,
            asset: asset.asset,
            decimals: asset.decimals,
            symbol: asset.symbol.clone(),
        }))
    }
}
