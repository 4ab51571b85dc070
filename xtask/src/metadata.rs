//! Cargo's metadata of the workspace's own packages, reduced to what the checks need.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::program;
use crate::workspace::Workspace;

#[derive(Debug)]
pub struct Package {
    pub name: String,
    pub library: Option<PathBuf>,
    pub dependencies: Vec<Dependency>,
}

#[derive(Debug)]
pub struct Dependency {
    pub name: String,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Becomes part of the crate, or of its build script.
    Shipped,
    Dev,
}

pub fn of(workspace: &Workspace) -> Result<Vec<Package>> {
    let json = program::stdout(&mut workspace.cargo(["metadata", "--format-version", "1", "--no-deps", "--locked"]))?;
    parse(&serde_json::from_str(&json)?)
}

pub fn parse(metadata: &Value) -> Result<Vec<Package>> {
    list(metadata, "packages")?.iter().map(package).collect()
}

fn package(value: &Value) -> Result<Package> {
    let library = list(value, "targets")?.iter().find(|target| is_library(target));
    Ok(Package {
        name: text(value, "name")?,
        library: library.map(|target| text(target, "src_path")).transpose()?.map(PathBuf::from),
        dependencies: list(value, "dependencies")?.iter().map(dependency).collect::<Result<_>>()?,
    })
}

fn is_library(target: &Value) -> bool {
    let kinds = target["kind"].as_array().map(Vec::as_slice).unwrap_or_default();
    kinds.iter().any(|kind| matches!(kind.as_str(), Some("lib" | "rlib" | "proc-macro")))
}

fn dependency(value: &Value) -> Result<Dependency> {
    let kind = if value["kind"] == "dev" { Kind::Dev } else { Kind::Shipped };
    // A renamed dependency keeps its package name here, so a rename hides nothing.
    Ok(Dependency { name: text(value, "name")?, kind })
}

fn list<'a>(value: &'a Value, field: &str) -> Result<&'a Vec<Value>> {
    value[field].as_array().with_context(|| format!("cargo metadata has no list `{field}`"))
}

fn text(value: &Value, field: &str) -> Result<String> {
    Ok(value[field].as_str().with_context(|| format!("cargo metadata has no text `{field}`"))?.to_owned())
}
