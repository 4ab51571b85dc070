//! Every check that does not run the product, in order; stops at the first failure.

mod banned;
mod deny;
mod direction;
mod ownership;
mod pages;
mod purity;
mod root;
mod sizes;
mod tiers;
mod tree;
mod type_names;

pub use deny::advisories;

use anyhow::Result;

use crate::stage::{Stages, verdict};
use crate::workspace::Workspace;
use crate::{metadata, program};

pub fn run(workspace: &Workspace) -> Result<()> {
    let mut stages = Stages::default();
    stages.run("formatting", || program::succeed(&mut workspace.cargo(["fmt", "--all", "--check"])))?;
    stages.run("clippy", || {
        let lint = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
        program::succeed(&mut workspace.cargo(lint))
    })?;
    stages.run("documentation", || {
        let mut doc = workspace.cargo(["doc", "--workspace", "--no-deps", "--locked"]);
        program::succeed(doc.env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    stages.run("dependency direction", || verdict(&direction::findings(&metadata::of(workspace)?)))?;
    stages.run("file sizes", || verdict(&sizes::findings(&tree::files(workspace)?)))?;
    stages.run("pages", || verdict(&pages::findings(&tree::files(workspace)?)))?;
    stages.run("root of the repository", || verdict(&root::findings(&tree::files(workspace)?)))?;
    stages.run("banned names and text", || verdict(&banned::findings(&tree::files(workspace)?)))?;
    stages.run("binary files", || verdict(&tree::binaries(workspace)?))?;
    stages.run("who names which table", || verdict(&ownership::findings(&tree::files(workspace)?)))?;
    stages.run("one public type, one name", || verdict(&type_names::findings(&tree::files(workspace)?)))?;
    stages.run("lints of pure crates", || verdict(&purity::findings(&metadata::of(workspace)?)?))?;
    stages.run("bans, licences, sources", || deny::run(workspace))?;
    stages.print_times();
    Ok(())
}
