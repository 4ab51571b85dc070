//! Help, completions, versions: every command explains itself with an example.

use std::path::Path;

use crate::program::{folder, run, run_with};

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
        "nodes renew",
        "nodes revoke",
        "init",
        "migrate-books",
        "rebuild",
        "registry",
        "registry chains",
        "registry chains list",
        "registry chains add",
        "registry assets",
        "registry assets list",
        "registry assets add",
        "registry wallets",
        "registry wallets list",
        "registry wallets add",
        "registry custody-keys",
        "registry custody-keys list",
        "registry custody-keys add",
        "registry server-keys",
        "registry server-keys list",
        "registry server-keys add",
        "registry server-keys update",
        "registry server-keys revoke",
        "registry treasury",
        "registry treasury list",
        "registry treasury add",
        "registry treasury remove",
        "registry changes",
        "servers",
        "servers list",
        "servers show",
        "servers pause",
        "servers resume",
        "servers set",
        "servers register",
        "servers session",
        "players",
        "players open",
        "players sign-in",
        "players show",
        "players freeze",
        "players unfreeze",
        "operators",
        "operators list",
        "operators show",
        "operators add",
        "operators set-roles",
        "operators add-key",
        "operators revoke-key",
        "operators suspend",
        "operators reinstate",
        "operators quorum",
        "operators sessions",
        "operators revoke-session",
        "operators program-keys",
        "operators program-keys list",
        "operators program-keys create",
        "operators program-keys revoke",
        "proposals",
        "proposals list",
        "proposals show",
        "proposals create",
        "proposals create reverse",
        "proposals create transfer",
        "proposals confirm",
        "proposals reject",
        "audit-log",
        "audit-log list",
        "audit-log verify",
        "accounts",
        "accounts list",
        "accounts show",
        "balance",
        "statement",
        "deposits",
        "deposits list",
        "deposits show",
        "deposits hold",
        "deposits release",
        "deposits confirm",
        "deposits refuse",
        "deposits assign",
        "withdrawals",
        "withdrawals request",
        "withdrawals list",
        "withdrawals show",
        "transfer",
        "events",
        "events tail",
        "events list",
        "events resend",
        "webhooks",
        "webhooks create",
        "webhooks list",
        "webhooks show",
        "webhooks set",
        "webhooks rotate",
        "webhooks disable",
        "webhooks enable",
        "webhooks deliveries",
        "webhooks test",
        "webhooks listen",
        "search",
        "explain",
        "export",
        "receipt",
        "receipt check",
        "head",
        "audit",
        "reconcile",
        "accept-loss",
        "doctor",
        "alerts",
        "alerts list",
        "alerts show",
        "alerts acknowledge",
        "alerts close",
        "config",
        "config show",
        "config check",
        "bench",
        "bench ledger",
        "bench http",
        "bench events",
        "bench deposits",
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
        "signer address",
        "keys",
        "keys generate",
        "keys xpub",
        "keys auth",
        "chain",
        "chain pay",
        "chain key",
        "completions",
    ];
    assert_eq!(visited, expected);
}

/// What follows the options of a help text: exit codes, examples, paragraphs.
fn after_options(help: &str) -> Vec<&str> {
    let mut lines = help.lines().skip_while(|line| *line != "Options:");
    lines.by_ref().take_while(|line| !line.is_empty()).for_each(drop);
    lines.collect()
}

/// Every command that the program has, by their own lists.
fn visit_all(folder: &Path, path: &[String], see: &mut impl FnMut(&str)) {
    see(&path.join(" "));
    let args: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    for command in listed(&run(folder, &args).ok()) {
        visit_all(folder, &[path, &[command]].concat(), see);
    }
}

/// Also for commands that are new: what follows the options is laid out by the program (`help_layout.rs`).
#[test]
fn no_help_is_wider_than_the_terminal_or_broken_by_it() {
    let folder = folder();
    let help = |command: &str, columns: &str| {
        let args: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        run_with(folder.path(), &[("COLUMNS", columns)], &args).ok()
    };
    let mut wrong = Vec::new();
    visit_all(folder.path(), &[], &mut |command| {
        let narrow = help(command, "80");
        // The line of the usage is the parser's, which does not break it.
        let too_long = narrow.lines().filter(|line| line.chars().count() > 80 && !line.starts_with("Usage: "));
        wrong.extend(too_long.map(|line| format!("{command}: wider than 80 columns: {line}")));
        if after_options(&narrow) != after_options(&help(command, "200")) {
            wrong.push(format!("{command}: broken by a terminal of 80 columns: {narrow}"));
        }
        let wide = help(command, "200");
        let too_long = wide.lines().filter(|line| line.chars().count() > 100);
        wrong.extend(too_long.map(|line| format!("{command}: wider than 100 columns: {line}")));
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_benchmark_shows_its_own_examples() {
    for (command, others) in [
        ("ledger", ["http", "poker", "reading"]),
        ("http", ["ledger", "poker", "reading"]),
        ("poker", ["http", "ledger", "reading"]),
    ] {
        let help = run(folder().path(), &["bench", command, "--help"]).ok();
        assert!(others.iter().all(|other| !help.contains(&format!("bench {other}"))), "{help}");
    }
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
fn help_and_version_are_text_with_json_too() {
    let folder = folder();
    assert!(run(folder.path(), &["demo", "--help", "--json"]).ok().contains("Usage: bankroll demo"));
    assert!(run(folder.path(), &["--json", "--version"]).ok().starts_with("bankroll "));
    let nothing = run(folder.path(), &[]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (2, ""));
    assert!(nothing.stderr.contains("Usage: bankroll"), "{}", nothing.stderr);
}

#[test]
fn the_version_is_printed() {
    assert_eq!(run(folder().path(), &["--version"]).ok(), format!("bankroll {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_arguments_are_a_usage_error() {
    let folder = folder();
    run(folder.path(), &["acounts"]).fails(2, &["a similar subcommand exists: 'accounts'"]);
    let message = "unrecognized subcommand 'acounts'; tip: a similar subcommand exists: 'accounts'";
    let body = format!(r#"{{"error":{{"causes":[],"code":"usage","message":"{message}"}}}}"#);
    run(folder.path(), &["acounts", "--json"]).fails(2, &[&body]);
    // What follows `--` is no flag.
    run(folder.path(), &["accounts", "--", "--json"]).fails(2, &["error: "]);
    run(folder.path(), &["demo", "--players", "-1"]).fails(2, &["the number of players is a whole number from 1"]);
    run(folder.path(), &["demo", "--players", "0"])
        .fails(2, &["the number of players is a whole number from 1 to 100000"]);
}
