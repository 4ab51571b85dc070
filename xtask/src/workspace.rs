//! The root of the repository and the cargo that runs in it.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

pub struct Workspace {
    root: PathBuf,
    cargo: OsString,
}

impl Workspace {
    /// Reads the environment of this run, not of the compilation: several checkouts may share a target folder, and a
    /// compiled-in path would then name another checkout.
    pub fn of_this_run() -> Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").context("run it as `cargo xtask`")?;
        let root = Path::new(&manifest).parent().context("the xtask folder has no parent")?.to_owned();
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Ok(Self { root, cargo })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn cargo<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.command(&self.cargo);
        command.args(arguments);
        command
    }

    pub fn command(&self, program: impl Into<OsString>) -> Command {
        let mut command = Command::new(program.into());
        command.current_dir(&self.root);
        command
    }
}
