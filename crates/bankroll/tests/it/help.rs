//! Help, completions, versions: every command explains itself with an example.

use std::path::Path;

use crate::program::{folder, run};

/// The commands that a help text lists.
fn listed(help: &str) -> Vec<String> {
    let after = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = after.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    commands.filter(|name| *name != "help").map(str::to_owned).collect()
}

fn visit(folder: &Path, path: &[String], visited: &mut Vec<String>) {
    let args: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let help = run(folder, &args).ok();
    let name = path.join(" ");
    assert!(help.contains("Examples:\n"), "`bankroll {name} --help` has no example: {help}");
    assert!(help.contains(&format!("bankroll {name}")), "`bankroll {name} --help` shows another command: {help}");
    assert!(help.contains("--json"), "`bankroll {name}` has no --json: {help}");
    visited.push(name);
    for command in listed(&help) {
        visit(folder, &[path, &[command]].concat(), visited);
    }
}

#[test]
fn every_command_has_an_example_and_json() {
    let mut visited = Vec::new();
    visit(folder().path(), &[], &mut visited);
    let expected = [
        "",
        "demo",
        "serve",
        "nodes",
        "nodes init",
        "nodes add",
        "init",
        "migrate-books",
        "accounts",
        "accounts list",
        "accounts show",
        "balance",
        "statement",
        "deposits",
        "deposits list",
        "deposits show",
        "withdrawals",
        "withdrawals list",
        "withdrawals show",
        "search",
        "explain",
        "export",
        "receipt",
        "receipt check",
        "audit",
        "doctor",
        "config",
        "config show",
        "config check",
        "bench",
        "bench ledger",
        "bench poker",
        "bench reading",
        "hand",
        "hand play",
        "hand verify",
        "hand show",
        "hand replay",
        "signer",
        "signer init",
        "signer run",
        "signer show",
        "chain",
        "completions",
    ];
    assert_eq!(visited, expected);
}

#[test]
fn the_exit_codes_are_documented() {
    let help = run(folder().path(), &["--help"]).ok();
    for code in ["0  done", "1  failed", "2  wrong arguments", "3  not found", "4  the books are unsound"] {
        assert!(help.contains(code), "{code:?} is not in: {help}");
    }
}

#[test]
fn there_are_completions_for_every_shell() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(folder.path(), &["completions", shell]).ok();
        assert!(script.contains("bankroll") && script.contains("accounts"), "{shell}");
    }
    assert_eq!(run(folder.path(), &["completions", "fish", "--json"]).json()["shell"], "fish");
}

#[test]
fn the_version_is_printed() {
    assert_eq!(run(folder().path(), &["--version"]).ok(), format!("bankroll {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_arguments_are_a_usage_error() {
    let folder = folder();
    run(folder.path(), &["acounts"]).fails(2, &["a similar subcommand exists: 'accounts'"]);
    run(folder.path(), &["demo", "--players", "0"]).fails(2, &["0 is not in 1..=100000"]);
}
