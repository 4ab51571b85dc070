//! Which key signs the heads that this node publishes, and how far the public log is.

use bankroll_heads::views;
use bankroll_roles::{AuthKey, AuthKeyError, config::LoadedConfig};
use bankroll_store::Reader;

use super::Check;

const NAME: &str = "head key";

pub fn check(loaded: &LoadedConfig, reader: &Reader) -> Check {
    let newest = match views::latest(reader) {
        Ok(newest) => newest,
        Err(error) => {
            return Check::red(NAME, format!("{:#}", anyhow::Error::from(error)), "run `bankroll audit`");
        }
    };
    let key = match AuthKey::read(&loaded.head_settings().key_file) {
        Ok(key) => Some(key.address()),
        Err(AuthKeyError::Missing { .. }) => None,
        Err(error) => {
            return Check::red(NAME, error.to_string(), "put the key of this node back; readers know its address");
        }
    };
    match (newest, key) {
        (None, None) => Check::green(NAME, "no head is published yet: `bankroll serve` makes the key and publishes"),
        (None, Some(key)) => Check::green(NAME, format!("no head is published yet; {key} signs them")),
        (Some(newest), None) => {
            let found = format!(
                "heads are published up to batch {}, signed by {}, whose key is not here",
                newest.batch, newest.address
            );
            Check::warned(NAME, found, "put head.key back if this node is to publish; it makes a new one otherwise")
        }
        (Some(newest), Some(key)) if newest.address != key => {
            let found = format!(
                "heads are published up to batch {}, signed by {}; this node signs as {key}",
                newest.batch, newest.address
            );
            Check::warned(NAME, found, "publish the new address, or put the earlier head.key back")
        }
        (Some(newest), Some(key)) => {
            Check::green(NAME, format!("heads are published up to batch {}, signed by {key}", newest.batch))
        }
    }
}
