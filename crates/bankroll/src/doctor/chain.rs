//! The checks of each chain that has `rpc`: its providers, the indexer and the signer.

use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt, path::Path};

use bankroll_roles::{
    config::LoadedConfig,
    flows::{ChainFinding, ProbeTrouble},
};
use bankroll_signer::config::{CONFIG_FILE, SignerConfig};
use bankroll_store::{Clock, Reader};

use super::Check;
use crate::location::LocationArgs;

/// Nothing without a chain. Each RPC node and the signer have a few seconds to answer. With several chains each line
/// names its own.
pub fn all(location: &LocationArgs, loaded: &LoadedConfig, reader: Option<&Reader>) -> Vec<Check> {
    let (chains, folder) = (loaded.chains(), location.base().display().to_string());
    let mut checks = Vec::new();
    for setup in &chains {
        let chain = setup.chain().as_str();
        let named = |found: String| {
            let is_named = chains.len() == 1 || found.starts_with(&format!("{chain} "));
            if is_named { found } else { format!("{chain}: {found}") }
        };
        let probed = setup.probe(reader, Clock::machine().now(), &folder);
        checks.extend(probed.into_iter().map(|(name, found)| match found {
            ChainFinding::Works(found) => Check::green(name, named(found)),
            ChainFinding::Better(ProbeTrouble { found, fix }) => Check::warned(name, named(found), fix),
            ChainFinding::Broken(ProbeTrouble { found, fix }) => Check::red(name, named(found), fix),
        }));
    }
    let signers: BTreeSet<&Path> =
        chains.iter().filter_map(|setup| setup.signer.as_deref().and_then(Path::parent)).collect();
    checks.extend(signers.into_iter().filter_map(keys));
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
