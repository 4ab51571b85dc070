//! The checks of a node's certificate, and of where the authority's key is.

use std::{fs, path::Path};

use bankroll_ledger::Time;
use bankroll_nodes::{CA_KEY, NodeIdentity, NodeRoles};
use bankroll_roles::config::LoadedConfig;
use bankroll_terminal::{counted, invocation};

use super::Check;

const DAY: u64 = 86_400_000_000;
/// A certificate that expires sooner needs a renewal.
const WARN_DAYS: u64 = 30;

pub fn all(loaded: &LoadedConfig, now: Time) -> Vec<Check> {
    let folder = loaded.certificates();
    if !folder.is_dir() {
        let name = &loaded.config.node.name;
        return vec![Check::green("node", format!("{name}, alone: no certificates in {}", folder.display()))];
    }
    [node(loaded, &folder, now)].into_iter().chain(authority(&folder)).collect()
}

/// Whether other nodes accept this one, and for how long.
fn node(loaded: &LoadedConfig, folder: &Path, now: Time) -> Check {
    let node = &loaded.config.node;
    let renew = format!(
        "run `{} nodes renew {}` where ca.key is, and copy {}.pem to {}",
        invocation(),
        node.name,
        node.name,
        folder.display()
    );
    match NodeIdentity::load(folder, &node.name, now) {
        Ok(identity) if node.roles.is_within(identity.roles()) || node.roles == NodeRoles::ALL => {
            let days = identity.expires().0.saturating_sub(now.0) / DAY;
            let left = counted(days, "day", "days");
            let found = format!("{}, with a certificate for the roles {}: {left} left", node.name, identity.roles());
            if days < WARN_DAYS {
                Check::warned("node", found, format!("{renew}: a running node uses it without a restart"))
            } else {
                Check::green("node", found)
            }
        }
        Ok(identity) => {
            let found = format!("its certificate is for {}, and node.roles is {}", identity.roles(), node.roles);
            Check::red("node", found, "change node.roles, or create a certificate with `bankroll nodes add`")
        }
        Err(error) => {
            let fix = if error.is_expired() {
                renew
            } else if error.is_revoked() {
                format!("remove its two files, and give it a new key with `{} nodes add {}`", invocation(), node.name)
            } else {
                format!("{} nodes add {} --roles {}", invocation(), node.name, node.roles)
            };
            Check::red("node", format!("{:#}", anyhow::Error::from(error)), fix)
        }
    }
}

/// Red if the authority's key lies where a node runs: an attacker who takes over the node could create any other.
fn authority(folder: &Path) -> Option<Check> {
    let key = folder.join(CA_KEY);
    if !key.exists() {
        return None;
    }
    let names = fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut others: Vec<String> = names.filter(|name| name.ends_with(".key") && name != CA_KEY).collect();
    others.sort();
    let first = others.first()?;
    let found = format!("{CA_KEY} lies with {first}: who takes over this machine can create a node with any role");
    let fix = format!("move {} to a machine that runs no node; only `nodes add|renew|revoke` need it", key.display());
    Some(Check::red("authority", found, fix))
}
