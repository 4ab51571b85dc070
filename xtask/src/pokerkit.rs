//! PokerKit, the independent referee of the poker tests: a Python package in an environment of its own.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::workspace::Workspace;
use crate::{needed_tools, program};

/// The tests name the same version and refuse another.
const VERSION: &str = "0.7.7";

/// In the tree but ignored by git; the tests look for it here.
const FOLDER: &str = ".tools/pokerkit";

pub fn ensure(workspace: &Workspace) -> Result<()> {
    if is_current(workspace) {
        return Ok(());
    }
    println!("installing PokerKit {VERSION} into {FOLDER}");
    let folder = workspace.root().join(FOLDER);
    if folder.exists() {
        // Of another version, or left half made.
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let make = || program::succeed(workspace.command("python3").args(["-m", "venv", FOLDER]));
    if make().is_err() {
        // Debian keeps what `venv` needs in a package of its own.
        needed_tools::install_package("python3-venv")?;
        make()?;
    }
    let package = format!("pokerkit=={VERSION}");
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", &package];
    program::succeed(workspace.command(python(workspace)).args(install))
}

fn is_current(workspace: &Workspace) -> bool {
    let ask = ["-c", "from importlib.metadata import version; print(version('pokerkit'))"];
    let python = python(workspace);
    program::is_executable(&python)
        && program::stdout(workspace.command(python).args(ask)).is_ok_and(|answer| answer.trim() == VERSION)
}

fn python(workspace: &Workspace) -> PathBuf {
    workspace.root().join(FOLDER).join("bin").join("python3")
}
