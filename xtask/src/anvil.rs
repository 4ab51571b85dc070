//! anvil, the independent referee of the chain tests: a node of Foundry's whose binary comes as an npm package.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::program;
use crate::workspace::Workspace;

/// The tests name the same version and refuse another.
const VERSION: &str = "1.7.1";

/// In the tree but ignored by git; the tests look for it here.
const FOLDER: &str = ".tools/anvil";

pub fn ensure(workspace: &Workspace) -> Result<()> {
    if is_current(workspace) {
        return Ok(());
    }
    println!("installing anvil {VERSION} into {FOLDER}");
    let folder = workspace.root().join(FOLDER);
    if folder.exists() {
        // Of another version, or left half made.
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let package = format!("@foundry-rs/anvil@{VERSION}");
    // The binary is a package of its own for each platform; no script has to run.
    let install = ["install", "--prefix", FOLDER, "--ignore-scripts", "--no-audit", "--no-fund", "--silent", &package];
    program::succeed(workspace.command("npm").args(install))?;
    ensure!(is_current(workspace), "there is no anvil {VERSION} for this platform");
    Ok(())
}

fn is_current(workspace: &Workspace) -> bool {
    let answer = binary(workspace).and_then(|binary| program::stdout(workspace.command(binary).arg("--version")).ok());
    answer.is_some_and(|answer| answer.starts_with(&format!("anvil Version: {VERSION}")))
}

fn binary(workspace: &Workspace) -> Option<PathBuf> {
    let packages = workspace.root().join(FOLDER).join("node_modules").join("@foundry-rs").read_dir().ok()?;
    let platforms = packages.flatten().filter(|package| package.file_name().to_string_lossy().starts_with("anvil-"));
    platforms.map(|package| package.path().join("bin").join("anvil")).find(|binary| program::is_executable(binary))
}
