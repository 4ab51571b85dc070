//! ethers, the independent referee of what the signer signs: a JavaScript library in a folder of its own.

use std::fs;

use anyhow::{Context, Result};

use crate::program;
use crate::workspace::Workspace;

/// The tests name the same version and refuse another.
const VERSION: &str = "6.17.0";

/// In the tree but ignored by git; the tests look for it here.
const FOLDER: &str = ".tools/ethers";

pub fn ensure(workspace: &Workspace) -> Result<()> {
    if is_current(workspace) {
        return Ok(());
    }
    println!("installing ethers {VERSION} into {FOLDER}");
    let folder = workspace.root().join(FOLDER);
    if folder.exists() {
        // Of another version, or left half made.
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let package = format!("ethers@{VERSION}");
    // Nobody's scripts run on this machine: the library needs none.
    let install = ["install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", FOLDER, &package];
    program::succeed(workspace.command("npm").args(install))
}

fn is_current(workspace: &Workspace) -> bool {
    let manifest = workspace.root().join(FOLDER).join("node_modules/ethers/package.json");
    fs::read_to_string(manifest).is_ok_and(|text| text.contains(&format!("\"version\": \"{VERSION}\"")))
}
