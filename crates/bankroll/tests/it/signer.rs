//! `bankroll signer` is the signer.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use crate::program::{command, folder, run, run_with};

const PASSWORD: (&str, &str) = ("BANKROLL_SIGNER_PASSWORD", "correct horse");

#[test]
fn it_is_made_runs_and_shows_what_it_has() {
    let folder = folder();
    let made = run_with(folder.path(), &[PASSWORD], &["signer", "init", "--light", "--json"]).json();
    let shown = run(folder.path(), &["signer", "show", "--json"]).json();
    assert_eq!(shown["wallets"][0], made["wallet"]);
    assert_eq!(shown["memory"]["entries"], 1);
    // With its defaults it signs for the chain that `bankroll chain` serves by default.
    let help = run(folder.path(), &["chain", "--help"]).ok();
    let chain = help.split("--chain-id").nth(1).and_then(|of| of.split("[default: ").nth(1)).unwrap();
    assert_eq!(shown["chains"][0].to_string(), chain.split(']').next().unwrap());

    let mut signer = command(folder.path());
    let signer = signer.env(PASSWORD.0, PASSWORD.1).args(["signer", "run", "--json"]).stdout(Stdio::piped());
    let mut signer = signer.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(signer.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("\"socket\":\"signer/signer.sock\""), "{line}");
    run_with(folder.path(), &[PASSWORD], &["signer", "run"]).fails(1, &["in use by another process"]);
    signer.kill().unwrap();
    signer.wait().unwrap();
}

#[test]
fn its_endings_are_the_programs() {
    let folder = folder();
    run(folder.path(), &["signer", "show"]).fails(3, &["there is no signer/signer.toml"]);
    run(folder.path(), &["signer", "init"]).fails(2, &["no password"]);
    run_with(folder.path(), &[PASSWORD], &["signer", "init", "--light"]).ok();
    std::fs::remove_file(folder.path().join("signer/memory.db")).unwrap();
    run_with(folder.path(), &[PASSWORD], &["signer", "run"]).fails(3, &["start it with --new-memory"]);
    std::fs::write(folder.path().join("signer/memory.db"), "nothing like a memory".repeat(100)).unwrap();
    run_with(folder.path(), &[PASSWORD], &["signer", "run"]).fails(4, &["is damaged"]);
}
