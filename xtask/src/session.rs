//! The session from the README, run as a reader would and checked by its own report.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::program;
use crate::workspace::Workspace;

pub fn run(workspace: &Workspace) -> Result<()> {
    let folder = fresh_folder()?;
    let figures = demo(workspace, &folder).with_context(|| format!("its files are in {}", folder.display()))?;
    println!("{figures}");
    fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))
}

fn demo(workspace: &Workspace, folder: &Path) -> Result<String> {
    let mut demo = workspace.cargo(["run", "--release", "--locked", "--", "demo", "--exit", "--json", "--dir"]);
    judge(&program::stdout(demo.arg(folder))?)
}

fn judge(report: &str) -> Result<String> {
    let value: Value = serde_json::from_str(report).with_context(|| format!("not one JSON object: {report:?}"))?;
    let object = value.as_object().with_context(|| format!("not a JSON object: {report:?}"))?;
    ensure!(value["audit"]["ok"] == true, "the audit is not ok: {}", value["audit"]);
    let transfers = value["transfers"].as_u64().context("the report has no whole number `transfers`")?;
    ensure!(transfers > 0, "no transfer was made");
    let figures = object.iter().filter(|(_, figure)| figure.is_number());
    let figures: Vec<_> = figures.map(|(name, figure)| format!("{name} {figure}")).collect();
    Ok(format!("audit ok; {}", figures.join(", ")))
}

/// A new folder, so that nothing from an earlier run can help. A failed run leaves its folder, and process ids are
/// reused, hence the second number.
fn fresh_folder() -> Result<PathBuf> {
    let numbered = |number: u32| env::temp_dir().join(format!("bankroll-session-{}-{number}", process::id()));
    let folder = (0..).map(numbered).find(|folder| !folder.exists()).context("no free folder name")?;
    fs::create_dir(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(report: &str, expected: &str) {
        let verdict = judge(report).unwrap_or_else(|error| format!("error: {error}"));
        assert_eq!(verdict, expected);
    }

    #[test]
    fn a_good_session_is_one_line_of_figures() {
        check(
            r#"{"audit": {"ok": true}, "transfers": 1200, "seconds": 1.5, "currency": "USDC"}"#,
            "audit ok; seconds 1.5, transfers 1200",
        );
    }

    #[test]
    fn a_failed_audit_or_an_incomplete_report_fails() {
        check(
            r#"{"audit": {"ok": false, "why": "x"}, "transfers": 1}"#,
            r#"error: the audit is not ok: {"ok":false,"why":"x"}"#,
        );
        check(r#"{"transfers": 1}"#, "error: the audit is not ok: null");
        check(r#"{"audit": {"ok": true}, "transfers": 0}"#, "error: no transfer was made");
        check(r#"{"audit": {"ok": true}}"#, "error: the report has no whole number `transfers`");
        check("ready", r#"error: not one JSON object: "ready""#);
    }
}
