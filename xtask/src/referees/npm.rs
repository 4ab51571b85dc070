//! Referees that are npm packages.

use std::fs;

use anyhow::Result;

use super::Referee;
use crate::program;
use crate::workspace::Workspace;

impl Referee {
    /// Whether this package is there in the referee's version.
    pub(super) fn has_npm_package(&self, workspace: &Workspace, package: &str) -> bool {
        let manifest = self.place(workspace).join("node_modules").join(package).join("package.json");
        fs::read_to_string(manifest).is_ok_and(|text| text.contains(&format!("\"version\": \"{}\"", self.version)))
    }

    /// The package in the referee's version; `others` are what it needs of its user, with their versions.
    pub(super) fn install_by_npm(&self, workspace: &Workspace, package: &str, others: &[&str]) -> Result<()> {
        let package = format!("{package}@{}", self.version);
        // No install scripts run on this machine: none of the packages needs one.
        let options = ["--silent", "--ignore-scripts", "--no-audit", "--no-fund"];
        let mut npm = workspace.command("npm");
        program::succeed(npm.args(["install", "--prefix", self.folder]).args(options).arg(package).args(others))
    }
}
