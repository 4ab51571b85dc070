//! Bans, licences and sources of all dependencies, judged by cargo-deny after `deny.toml`.
//!
//! Advisories need a database from the network, and a check must mean the same every time: `cargo xtask advisories` asks
//! for them, before each release.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::program;
use crate::workspace::Workspace;

const VERSION: &str = "0.20.2";

/// In the tree but ignored by git, so that the check leaves the developer's own cargo alone.
const FOLDER: &str = ".tools";

pub fn run(workspace: &Workspace) -> Result<()> {
    judge(workspace, &["--locked", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"])
}

/// Fails if a dependency has a known vulnerability, is unmaintained or was withdrawn.
pub fn advisories(workspace: &Workspace) -> Result<()> {
    judge(workspace, &["--locked", "check", "--hide-inclusion-graph", "advisories"])
}

fn judge(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    let mut check = if program::is_installed("cargo-deny") {
        workspace.command("cargo-deny")
    } else {
        workspace.command(own_copy(workspace)?)
    };
    program::succeed(check.args(arguments))
}

fn own_copy(workspace: &Workspace) -> Result<PathBuf> {
    let binary = workspace.root().join(FOLDER).join("bin").join("cargo-deny");
    if !is_current(workspace, &binary) {
        println!("installing cargo-deny {VERSION} into {FOLDER} (about a minute)");
        let install = ["install", "cargo-deny", "--locked", "--version", VERSION, "--root", FOLDER, "--debug"];
        // Built for being built: it runs for a second, so optimising it would cost more than it ever saves.
        program::succeed(workspace.cargo(install).arg("--quiet").env("CARGO_PROFILE_DEV_DEBUG", "0"))?;
    }
    Ok(binary)
}

fn is_current(workspace: &Workspace, binary: &Path) -> bool {
    program::is_executable(binary)
        && program::stdout(workspace.command(binary).arg("--version"))
            .is_ok_and(|answer| answer.split_whitespace().last() == Some(VERSION))
}
