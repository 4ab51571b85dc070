//! The commands init and run, and their errors.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Stdio,
};

use bankroll_money::Time;
use bankroll_orders::{Order, Slot};
use bankroll_signer::memory::{MemoryEntry, MemorySnapshot};
use bankroll_signer_client::{SignOutcome, SignerClient};

use crate::{
    process::{PATIENCE, Running, command, config, folder, memory_of, run},
    world::{pay, wallet},
};

#[track_caller]
fn fails(args: &[&str], folder: &Path, code: i32, says: &str) {
    let (found, out, said) = run(args, folder);
    assert_eq!((found, out.as_str()), (code, ""), "{said}");
    assert!(said.contains(says), "{says:?} is not in: {said}");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn init_and_run_sign_a_payout() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("signer");
    let (code, out, said) = run(&["init", "--light", "--json"], &folder);
    assert_eq!(code, 0, "{said}");
    let address = out.split("\"wallet\":\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    assert_eq!(mode(&folder), 0o700);
    for file in ["wallet.json", "memory.db", "signer.toml"] {
        assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
    }
    fails(&["init", "--light"], &folder, 1, "exists already; nothing was changed");

    let running = Running::start(&folder);
    let mut client = SignerClient::new(running.socket(), PATIENCE);
    let head = client.status(address, None).unwrap().head;
    let order = pay("wd-1", 0, 100);
    let order = Order { slot: Slot { wallet: address, ..order.slot }, expires: Time(u64::MAX), ..order };
    let SignOutcome::Signed(signed) = client.sign(&order, head).unwrap() else { panic!("refused") };
    assert!(running.end().success());
    assert!(!folder.join("signer.sock").exists(), "the socket is left");

    let memory = MemorySnapshot::read(&memory_of(&folder), 2).unwrap();
    let [
        (2, _, MemoryEntry::Promised { order: promised, .. }),
        (3, _, MemoryEntry::Signed { promise: 2, transaction }),
    ] = &memory.newest[..]
    else {
        panic!("{memory:?}")
    };
    assert_eq!((promised, transaction.hash, &transaction.raw), (&order, signed.hash, &signed.raw));
}

#[test]
fn it_stops_cleanly_when_its_parent_process_ends() {
    let folder = folder();
    let mut signer = command(&["run", "--until-input-ends"], folder.path());
    let mut signer = signer.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(signer.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("signing for") && folder.path().join("signer.sock").exists(), "{line}");
    drop(signer.stdin.take());
    assert!(signer.wait().unwrap().success());
    assert!(!folder.path().join("signer.sock").exists(), "the socket is left");
}

#[test]
fn it_does_not_start_without_the_history_of_its_key() {
    let folder = folder();
    fs::remove_file(memory_of(folder.path())).unwrap();
    fails(&["run"], folder.path(), 3, "start it with --new-memory");
    assert!(!memory_of(folder.path()).exists(), "it began one by itself");
    assert!(Running::start_under(None, folder.path(), &["--new-memory"]).unwrap().end().success());
    assert!(Running::start(folder.path()).end().success());
    fails(&["run", "--new-memory"], folder.path(), 1, "exists already");
}

#[test]
fn it_does_not_start_on_a_memory_of_other_keys_or_a_damaged_one() {
    let folder = folder();
    let sound = fs::read(memory_of(folder.path())).unwrap();
    let other = tempfile::tempdir().unwrap();
    let stranger = other.path().join("signer");
    run(&["init", "--light"], &stranger);
    fs::copy(memory_of(&stranger), memory_of(folder.path())).unwrap();
    fails(&["run"], folder.path(), 4, &format!("does not have the history of {}", wallet()));

    let mut torn = sound;
    let length = torn.len();
    torn[length / 2..].fill(0xff);
    fs::write(memory_of(folder.path()), torn).unwrap();
    fails(&["run"], folder.path(), 4, "is damaged");
}

#[test]
fn a_password_is_required_and_never_printed() {
    let folder = folder();
    let wrong = command(&["run"], folder.path()).env("BANKROLL_SIGNER_PASSWORD", "hunter2").output().unwrap();
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert_eq!(wrong.status.code(), Some(2), "{said}");
    assert!(said.contains("the password is wrong") && !said.contains("hunter2"), "{said}");
    let none = command(&["run"], folder.path()).env_remove("BANKROLL_SIGNER_PASSWORD").output().unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8(none.stderr).unwrap().contains("no password: give --password-file"));
    // The newline at the end of the file is not part of the password.
    let file = folder.path().join("password");
    fs::write(&file, format!("{}\n", crate::process::PASSWORD)).unwrap();
    let args = ["--password-file", file.to_str().unwrap()];
    assert!(Running::start_under(None, folder.path(), &args).unwrap().end().success());
}

#[test]
fn a_wrong_configuration_is_refused() {
    let folder = folder();
    let write = |text: &str| fs::write(folder.path().join("signer.toml"), text).unwrap();
    let cases = [
        ("per_window = \"9000\"", "per_windov = \"9000\"", "unknown key `per_windov`"),
        ("per_payout = \"1000000\"", "per_payout = 1000000", "found integer"),
        ("window_seconds = 86400", "window_seconds = 0", "window_seconds must be positive"),
        ("token = ", "# ", "an asset of chain 31337 is listed twice"),
        (&wallet().to_string(), "0x17c5185167401eD00cF5F5b2fc97D9BBfDb7D026", "mistyped"),
        ("eip1559", "eip4844", "unknown value `eip4844`"),
    ];
    for (from, to, says) in cases {
        write(&config("").replace(from, to));
        fails(&["run"], folder.path(), 2, says);
    }
    write(&config("").replace(&wallet().to_string(), "0x1111111111111111111111111111111111111111"));
    fails(&["run"], folder.path(), 1, "has the key of");
    fs::remove_file(folder.path().join("signer.toml")).unwrap();
    fails(&["run"], folder.path(), 3, "bankroll-signer init --dir");
}

#[test]
fn errors_are_json_if_that_is_asked_for() {
    let folder = folder();
    let check = |args: &[&str], code: i32, name: &str, message: &str| {
        let (found, out, said) = run(args, folder.path());
        let body = format!(r#"{{"error":{{"causes":[],"code":"{name}","message":"{message}"}}}}"#);
        assert_eq!((found, out.as_str(), said.trim_end()), (code, "", body.as_str()));
    };
    let message = "invalid value 'many' for '--chain <ID>': a chain id is a whole number from 1 to 4294967295";
    check(&["init", "--json", "--chain", "many"], 2, "usage", message);
    let missing = folder.path().join("nope");
    let file = missing.to_str().unwrap();
    let message = format!("there is no password file {file}");
    check(&["run", "--json", "--password-file", file], 3, "not_found", &message);
}

fn help(args: &[&str]) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_bankroll-signer")).args(args).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn its_examples_have_its_own_name() {
    for command in [&["--help"][..], &["init", "--help"], &["run", "--help"]] {
        let help = help(command).replace("\n  bankroll signer show ", "\n");
        assert!(help.contains("\n  bankroll-signer ") && !help.contains("\n  bankroll signer "), "{help}");
    }
}

/// What only looks at a signer is no part of the process that has the keys.
#[test]
fn it_is_shown_by_the_other_program() {
    let folder = folder();
    for command in ["show", "address"] {
        fails(&[command], folder.path(), 2, &format!("unrecognized subcommand '{command}'"));
    }
    fails(&["init", "--light"], folder.path(), 1, "See it with `bankroll signer show --dir ");
    assert!(help(&["--help"]).contains("\n  bankroll signer show --dir signer "));
}
