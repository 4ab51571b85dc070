//! anvil, the independent referee of the chain tests: Foundry's node, distributed as an npm package.

use std::path::PathBuf;

use super::Referee;
use crate::program;
use crate::workspace::Workspace;

pub const REFEREE: Referee = Referee {
    name: "anvil",
    version: "1.7.1",
    folder: ".tools/anvil",
    is_current: |workspace| {
        let version = |binary: PathBuf| program::stdout(workspace.command(binary).arg("--version")).ok();
        let is_ours = |answer: String| answer.starts_with(&format!("anvil Version: {}", REFEREE.version));
        binary(workspace).and_then(version).is_some_and(is_ours)
    },
    install: |workspace| REFEREE.install_by_npm(workspace, "@foundry-rs/anvil", &[]),
};

/// Each platform has a package of its own.
fn binary(workspace: &Workspace) -> Option<PathBuf> {
    let packages = REFEREE.place(workspace).join("node_modules").join("@foundry-rs").read_dir().ok()?;
    let platforms = packages.flatten().filter(|package| package.file_name().to_string_lossy().starts_with("anvil-"));
    platforms.map(|package| package.path().join("bin").join("anvil")).find(|binary| program::is_executable(binary))
}
