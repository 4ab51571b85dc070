//! The checks of the chain, the indexer and the signer, with `chain.rpc` set.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use bankroll_roles::{config::LoadedConfig, flows::ProbeTrouble};
use bankroll_signer::config::{CONFIG_FILE, SignerConfig};
use bankroll_store::{Clock, Reader};

use super::Check;
use crate::location::LocationArgs;

/// Nothing without a chain. Each RPC node and the signer have a few seconds to answer.
pub fn all(location: &LocationArgs, loaded: &LoadedConfig, reader: Option<&Reader>) -> Vec<Check> {
    let Some(setup) = loaded.chain() else { return Vec::new() };
    let folder = location.base().display().to_string();
    let probed = setup.probe(reader, Clock::machine().now(), &folder);
    let mut checks: Vec<Check> = probed
        .into_iter()
        .map(|(name, found)| match found {
            Ok(found) => Check::green(name, found),
            Err(ProbeTrouble { found, fix }) => Check::red(name, found, fix),
        })
        .collect();
    checks.extend(setup.signer.parent().and_then(keys));
    checks
}

/// Whether other users could read the signer's keys or replace its files; `None` if the signer is in another place.
fn keys(folder: &Path) -> Option<Check> {
    const NAME: &str = "keys";
    if !folder.join(CONFIG_FILE).is_file() {
        return None;
    }
    let config = match SignerConfig::read(folder) {
        Ok(config) => config,
        Err(error) => {
            let fix = format!("correct it: without its configuration the signer does not start ({CONFIG_FILE})");
            return Some(Check::red(NAME, format!("{:#}", anyhow::Error::from(error)), fix));
        }
    };
    let key_files = config.wallets.iter().map(|(_, file)| (file.as_path(), 0o077, "600", "is readable"));
    // The socket's user may be another one, and needs the folder; no other user may change what is in it.
    let around =
        [(folder, 0o022, "go-w", "can be changed"), (config.memory.as_path(), 0o022, "go-w", "can be changed")];
    for (path, forbidden, mode, what) in key_files.chain(around) {
        let Ok(found) = fs::metadata(path) else { continue };
        if found.permissions().mode() & forbidden != 0 {
            let found = format!("{} {what} by other users of this machine", path.display());
            return Some(Check::red(NAME, found, format!("chmod {mode} {}", path.display())));
        }
    }
    let folder = folder.display();
    Some(Check::green(NAME, format!("the files in {folder} are the signer's alone")))
}
