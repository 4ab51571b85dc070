//! What a game server asks for.

use bankroll_ledger::{AssetId, Fact, IdempotencyKey, Name, Namespace, Scope};

use crate::{SpawnId, SpawnView};

/// A place in the world that a game server reserves for a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpawnOrder {
    pub server: Name,
    /// The game server's own idempotency key.
    pub request_key: String,
    /// The player.
    pub wallet: Name,
    pub asset: AssetId,
    /// The deposit that the place is paid with; without one it is paid from the balance.
    pub deposit: Option<ConsumedDeposit>,
}

/// A deposit that a spawn consumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumedDeposit {
    pub id: String,
    /// The condition that it is the player's and credited as a buy-in, as the flow of deposits states it.
    pub is_credited: Fact,
}

impl SpawnOrder {
    #[must_use]
    pub fn id(&self) -> SpawnId {
        SpawnId::new(&self.server, &self.request_key)
    }

    /// Whether a spawn is what this order asked for. Price and time are not compared: they may have changed since.
    pub(crate) fn is_for(&self, spawn: &SpawnView) -> bool {
        let deposit = self.deposit.as_ref().map(|deposit| deposit.id.as_str());
        (&self.wallet, self.asset, deposit) == (&spawn.wallet, spawn.asset, spawn.deposit.as_deref())
    }
}

/// The ledger's key of a game server's request under one of its own keys.
pub(crate) fn server_key(server: &Name, request_key: &str) -> IdempotencyKey {
    let scope = Scope::Server(server.clone());
    IdempotencyKey { namespace: Namespace::Client, scope, text: format!("key/{request_key}") }
}
