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

#[test]
fn the_next_step_of_init_works_as_it_is_printed() {
    let folder = folder();
    std::fs::write(folder.path().join("my secret"), "correct horse\n").unwrap();
    let args = ["signer", "init", "--dir", "a signer", "--light", "--password-file", "my secret"];
    let printed = run(folder.path(), &args).ok();
    let next = printed.lines().last().unwrap().trim();
    assert!(next.ends_with("signer run --dir 'a signer' --password-file 'my secret'"), "{printed}");
    let mut shell = std::process::Command::new("/bin/sh");
    shell.current_dir(folder.path()).args(["-c", &format!("exec {next} --until-input-ends")]);
    let mut signer = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(signer.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("signing for 0x"), "{line}");
    drop(signer.stdin.take());
    assert!(signer.wait().unwrap().success());
}

#[test]
fn a_password_from_the_environment_is_named_in_the_next_step() {
    let folder = folder();
    let printed = run_with(folder.path(), &[PASSWORD], &["signer", "init", "--light"]).ok();
    assert!(printed.ends_with("signer run --dir signer    with BANKROLL_SIGNER_PASSWORD set\n"), "{printed}");
    assert!(!printed.contains(PASSWORD.1), "{printed}");
}

#[test]
fn show_warns_of_a_key_file_that_other_users_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    run_with(folder.path(), &[PASSWORD], &["signer", "init", "--light"]).ok();
    let key = folder.path().join("signer/wallet.json");
    assert!(!run(folder.path(), &["signer", "show"]).ok().contains("warning"));
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let shown = run(folder.path(), &["signer", "show"]).ok();
    let warning = "the key file signer/wallet.json is open to other users; run `chmod 600 signer/wallet.json`";
    assert!(shown.starts_with(&format!("warning {warning}\nwallet  0x")), "{shown}");
    assert_eq!(run(folder.path(), &["signer", "show", "--json"]).json()["warnings"][0], warning);
}

#[test]
fn its_errors_name_the_next_command_of_this_program() {
    let folder = folder();
    let missing = run(folder.path(), &["signer", "run"]);
    let next = format!("`{} signer init --dir signer --password-file FILE`", env!("CARGO_BIN_EXE_bankroll"));
    assert!(missing.stderr.contains(&next), "{}", missing.stderr);
    missing.fails(3, &["error: no signer in signer; create one with", "because: there is no signer/signer.toml"]);
}
