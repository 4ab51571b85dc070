//! Referees that are Python packages, each in an environment of its own.

use std::path::PathBuf;

use anyhow::Result;

use super::Referee;
use crate::workspace::Workspace;
use crate::{needed_tools, program};

impl Referee {
    /// Whether this package is there in the referee's version.
    pub(super) fn has_python_package(&self, workspace: &Workspace, package: &str) -> bool {
        let ask = format!("from importlib.metadata import version; print(version('{package}'))");
        let python = self.python(workspace);
        program::is_executable(&python)
            && program::stdout(workspace.command(python).args(["-c", &ask]))
                .is_ok_and(|answer| answer.trim() == self.version)
    }

    /// Exactly these packages: the list has what they need, too, so that every machine tests with the same.
    pub(super) fn install_by_pip(&self, workspace: &Workspace, packages: &[&str]) -> Result<()> {
        let make = || program::succeed(workspace.command("python3").args(["-m", "venv", self.folder]));
        if make().is_err() {
            // Debian ships what `venv` needs in a separate package.
            needed_tools::install_package("python3-venv")?;
            make()?;
        }
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];
        program::succeed(workspace.command(self.python(workspace)).args(install).args(packages))
    }

    fn python(&self, workspace: &Workspace) -> PathBuf {
        self.place(workspace).join("bin").join("python3")
    }
}
