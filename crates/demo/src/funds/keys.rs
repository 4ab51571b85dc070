//! The keys in the demo's folder: the owner's, as `bankroll init` makes it, and the game server's.

use std::path::Path;

use anyhow::{Context, ensure};
use bankroll_registry::Registry;
use bankroll_roles::{AuthKey, AuthKeyError, OWNER_KEY_FILE, registry::record_owner};
use bankroll_store::{Clock, Ledger, Reader};

/// In the demo's folder.
pub const SERVER_KEY_FILE: &str = "arena.key";

#[derive(Debug)]
pub struct ArenaKeys {
    pub owner: AuthKey,
    pub server: AuthKey,
}

impl ArenaKeys {
    /// Reads the keys of an earlier demo, or makes new ones, and records the owner in new books.
    pub fn open(folder: &Path, ledger: &Ledger, reader: &Reader) -> anyhow::Result<Self> {
        let [owner, server] = [OWNER_KEY_FILE, SERVER_KEY_FILE].map(|name| read_or_create(&folder.join(name)));
        let (owner, server) = (owner?, server?);
        let registry = Registry::load(reader, Clock::machine().now())?;
        if registry.operators().entries() == 0 {
            record_owner(ledger, owner.address()).context("cannot record the owner of the demo")?;
        } else {
            ensure!(
                registry.operators().person_with(owner.address()).is_some(),
                "{OWNER_KEY_FILE} in the demo's folder is not the key of the owner of these books; \
                 start over with --fresh or an empty database"
            );
        }
        Ok(Self { owner, server })
    }
}

fn read_or_create(path: &Path) -> Result<AuthKey, AuthKeyError> {
    match AuthKey::read(path) {
        Err(AuthKeyError::Missing { .. }) => AuthKey::create(path),
        read => read,
    }
}
