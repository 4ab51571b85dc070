//! The compiled tests of one build, run without Cargo.
//!
//! Cargo gives each set of packages that it is asked for features of its own, so that a call for one package compiles
//! its dependencies once more. One build for all, whose programs are then run directly, compiles them once.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::program;
use crate::workspace::Workspace;

/// Where tests are in their package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tests {
    /// In the binary `it`.
    Integration,
    /// In the library, because they need its private items.
    Unit,
}

#[derive(Debug, PartialEq, Eq)]
struct TestBinary {
    package: String,
    /// The package's folder: tests run there.
    folder: PathBuf,
    tests: Tests,
    program: PathBuf,
}

pub struct TestBinaries(Vec<TestBinary>);

impl TestBinaries {
    /// Compiles what these arguments of `cargo test` name, unless it is compiled already.
    pub fn build(workspace: &Workspace, arguments: &[&str]) -> Result<Self> {
        let mut cargo =
            workspace.cargo(["test", "--locked", "--no-run", "--message-format", "json-render-diagnostics"]);
        let messages = program::stdout(cargo.args(arguments))?;
        let binaries = messages.lines().filter_map(|line| binary(&serde_json::from_str(line).ok()?));
        Ok(Self(binaries.collect()))
    }

    /// Runs tests of a package, as Cargo does.
    pub fn command(&self, package: &str, tests: Tests) -> Result<Command> {
        let found = self.0.iter().find(|binary| binary.tests == tests && binary.package == package);
        let binary = found.with_context(|| format!("{package} has no {tests:?} tests"))?;
        let mut command = Command::new(&binary.program);
        command.current_dir(&binary.folder).env("CARGO_MANIFEST_DIR", &binary.folder);
        Ok(command)
    }
}

/// A compiled test binary, if that is what Cargo's message is about.
fn binary(message: &Value) -> Option<TestBinary> {
    let program = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
    let target = &message["target"];
    let tests = match (target["kind"][0].as_str()?, target["name"].as_str()?) {
        ("test", "it") => Tests::Integration,
        ("lib", _) => Tests::Unit,
        _ => return None,
    };
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let package = package_of(message["package_id"].as_str()?)?.to_owned();
    Some(TestBinary { package, folder, tests, program: program.into() })
}

/// The name in `path+file:///w/crates/store#bankroll-store@0.1.0`. Cargo leaves it out where it is the folder's name.
fn package_of(id: &str) -> Option<&str> {
    let (path, named) = id.rsplit_once('#')?;
    named.split_once('@').map_or_else(|| path.rsplit('/').next(), |(name, _)| Some(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_programs_with_tests_count() {
        let message = |kind: &str, name: &str, test: bool| {
            json!({ "package_id": "path+file:///w/crates/store#bankroll-store@0.1.0",
                    "manifest_path": "/w/crates/store/Cargo.toml", "executable": "/w/target/it-1",
                    "target": { "kind": [kind], "name": name }, "profile": { "test": test } })
        };
        let found = |tests| TestBinary {
            package: "bankroll-store".into(),
            folder: "/w/crates/store".into(),
            tests,
            program: "/w/target/it-1".into(),
        };
        assert_eq!(binary(&message("test", "it", true)), Some(found(Tests::Integration)));
        assert_eq!(binary(&message("lib", "bankroll_store", true)), Some(found(Tests::Unit)));
        assert_eq!(binary(&message("bin", "bankroll", false)), None);
        assert_eq!(binary(&json!({ "reason": "build-finished" })), None);
        assert_eq!(package_of("path+file:///w/crates/bankroll#0.1.0"), Some("bankroll"));
    }
}
