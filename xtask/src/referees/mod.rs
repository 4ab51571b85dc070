//! Independent implementations that the tests compare ours with: each in a folder of its own, in the version that its
//! tests require, installed when it is missing.

mod anvil;
mod npm;
mod pokerkit;
mod python;
mod schemathesis;
mod solc;
mod standard_webhooks;
mod wallet_libraries;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

struct Referee {
    name: &'static str,
    /// The tests require exactly this version.
    version: &'static str,
    /// Ignored by git; the tests look here.
    folder: &'static str,
    is_current: fn(&Workspace) -> bool,
    install: fn(&Workspace) -> Result<()>,
}

const ALL: [Referee; 8] = [
    pokerkit::REFEREE,
    schemathesis::REFEREE,
    wallet_libraries::ETHERS,
    wallet_libraries::VIEM,
    wallet_libraries::SIWE,
    standard_webhooks::REFEREE,
    anvil::REFEREE,
    solc::REFEREE,
];

/// Installs the missing ones.
pub fn ensure(workspace: &Workspace) -> Result<()> {
    ALL.iter().try_for_each(|referee| referee.ensure(workspace))
}

impl Referee {
    fn ensure(&self, workspace: &Workspace) -> Result<()> {
        if (self.is_current)(workspace) {
            return Ok(());
        }
        let Self { name, version, folder, .. } = self;
        println!("installing {name} {version} into {folder}");
        let place = self.place(workspace);
        if place.exists() {
            // Another version, or an incomplete installation.
            fs::remove_dir_all(&place).with_context(|| format!("cannot remove {}", place.display()))?;
        }
        fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
        (self.install)(workspace)?;
        ensure!((self.is_current)(workspace), "{name} {version} was installed, but is not usable");
        Ok(())
    }

    fn place(&self, workspace: &Workspace) -> PathBuf {
        workspace.root().join(self.folder)
    }
}
