//! PokerKit, the independent referee of the poker tests: a Python package in an environment of its own.

use std::path::PathBuf;

use anyhow::Result;

use super::Referee;
use crate::workspace::Workspace;
use crate::{needed_tools, program};

pub const REFEREE: Referee =
    Referee { name: "PokerKit", version: "0.7.7", folder: ".tools/pokerkit", is_current, install };

fn is_current(workspace: &Workspace) -> bool {
    let ask = ["-c", "from importlib.metadata import version; print(version('pokerkit'))"];
    let python = python(workspace);
    program::is_executable(&python)
        && program::stdout(workspace.command(python).args(ask)).is_ok_and(|answer| answer.trim() == REFEREE.version)
}

fn install(workspace: &Workspace) -> Result<()> {
    let make = || program::succeed(workspace.command("python3").args(["-m", "venv", REFEREE.folder]));
    if make().is_err() {
        // Debian ships what `venv` needs in a separate package.
        needed_tools::install_package("python3-venv")?;
        make()?;
    }
    let package = format!("pokerkit=={}", REFEREE.version);
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", &package];
    program::succeed(workspace.command(python(workspace)).args(install))
}

fn python(workspace: &Workspace) -> PathBuf {
    REFEREE.place(workspace).join("bin").join("python3")
}
