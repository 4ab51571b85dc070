//! `bankroll signer` is the signer.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
    time::Duration,
};

use bankroll_ledger::{Amount, Time};
use bankroll_orders::{Address, ChainId, Gas, IntentId, Meaning, Order, OrderId, Price, Slot};
use bankroll_signer_client::{SignOutcome, SignerClient};

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
fn what_it_signed_is_shown() {
    let folder = folder();
    let made = run_with(folder.path(), &[PASSWORD], &["signer", "init", "--light", "--json"]).json();
    let wallet = made["wallet"].as_str().unwrap();
    assert_eq!(run(folder.path(), &["signer", "address"]).ok(), format!("{wallet}\n"));
    assert_eq!(run(folder.path(), &["signer", "address", "--json"]).json()["wallets"][0], wallet);

    let mut signer = command(folder.path());
    let signer = signer.env(PASSWORD.0, PASSWORD.1).args(["signer", "run", "--until-input-ends"]);
    let mut signer = signer.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    BufReader::new(signer.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let mut client = SignerClient::new(&folder.path().join("signer/signer.sock"), Duration::from_secs(20));
    let order = Order {
        id: OrderId("order-1".parse().unwrap()),
        intent: IntentId("wd-1".parse().unwrap()),
        slot: Slot { chain: ChainId(31337), wallet: wallet.parse().unwrap(), nonce: 0 },
        meaning: Meaning::NativePayout { to: Address([0xab; 20]), amount: Amount::new(100) },
        gas: Gas { limit: 21_000, price: Price::Dynamic { max: 40_000_000_000, priority: 2_000_000_000 } },
        expires: Time(u64::MAX),
    };
    let head = client.status(order.slot.wallet, None).unwrap().head;
    let SignOutcome::Signed(signed) = client.sign(&order, head).unwrap() else { panic!("refused") };

    // While it runs.
    let shown = run(folder.path(), &["signer", "show"]).ok();
    let hash = hex::encode(signed.hash);
    assert!(shown.contains("memory  3 entries, verified"), "{shown}");
    assert!(shown.contains("pay 100 base units of the coin of chain 31337\nto 0xABaB"), "{shown}");
    assert!(shown.ends_with(&format!("signed\nthe promise of entry 2: transaction 0x{hash}\n")), "{shown}");
    let newest = run(folder.path(), &["signer", "show", "--json", "--entries", "1"]).json()["newest"].clone();
    assert_eq!((newest.as_array().unwrap().len(), &newest[0]["kind"]), (1, &"signed".into()));
    drop(signer.stdin.take());
    assert!(signer.wait().unwrap().success());
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
