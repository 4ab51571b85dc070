//! `bankroll keys`: a seed, the wallets and public keys that follow from it, and keys of game servers.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use bankroll_orders::typed_data;
use bankroll_roles::AuthKey;
use serde_json::Value;

use crate::program::{Run, folder, run, run_with};

const PASSWORD: (&str, &str) = ("BANKROLL_SIGNER_PASSWORD", "correct horse");

fn keys(folder: &Path, args: &str) -> Run {
    run_with(folder, &[PASSWORD], &args.split(' ').collect::<Vec<_>>())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_seed_shows_its_words_once_and_they_restore_it() {
    let folder = folder();
    let made = keys(folder.path(), "keys generate --light --json").json();
    let words = made["mnemonic"].as_str().unwrap();
    assert_eq!(words.split(' ').count(), 24);
    assert_eq!((mode(&folder.path().join("signer/seed.json")), mode(&folder.path().join("signer"))), (0o600, 0o700));
    keys(folder.path(), "keys generate --light").fails(1, &["signer/seed.json exists already; nothing was changed"]);
    let before = keys(folder.path(), "keys xpub --account 2").ok();
    assert!(!words.split(' ').any(|word| before.contains(&format!(" {word} "))), "a word is shown again");

    fs::write(folder.path().join("words"), words.replace(' ', "\n")).unwrap();
    let restored = keys(folder.path(), "keys generate --light --dir copy --mnemonic-file words --json").json();
    assert_eq!(restored["mnemonic"], Value::Null);
    assert_eq!(keys(folder.path(), "keys xpub --account 2 --dir copy").ok(), before);
    let other = [("BANKROLL_SIGNER_PASSWORD", "battery staple")];
    run_with(folder.path(), &other, &["keys", "xpub"]).fails(2, &["the password is wrong"]);
}

#[test]
fn the_words_are_shown_as_text_unless_they_are_unwanted() {
    let folder = folder();
    let text = keys(folder.path(), "keys generate --light").ok();
    let words = text.lines().filter(|line| line.starts_with("  ") && line.split_whitespace().count() == 6);
    assert_eq!(words.count(), 4, "{text}");
    assert!(text.contains("They are shown\nonly now."), "{text}");
    let text = keys(folder.path(), "keys generate --light --dir quiet --no-mnemonic").ok();
    assert!(text.starts_with("created quiet/seed.json (encrypted)\n\nNext:\n"), "{text}");
}

/// The mnemonic of anvil and hardhat: everybody knows its wallets.
#[test]
fn a_signer_gets_the_wallet_of_its_path() {
    let folder = folder();
    fs::write(folder.path().join("words"), "test test test test test test test test test test test junk\n").unwrap();
    keys(folder.path(), "keys generate --light --mnemonic-file words").ok();
    let shown = keys(folder.path(), "keys xpub --addresses 2").ok();
    assert_eq!(
        shown,
        "xpub6Ce9NcJvTk36xtLSrJLZqE7wtgA5deCeYs7rSQtreh4cj6ByPtrg9sD7V2FNFLPnf8heNP3FGkeV9qwfzvZNSd54JoNXVsXFYSYwHsnJxqP\n  \
         m/44'/60'/0'/0/0  0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\n  \
         m/44'/60'/0'/0/1  0x70997970C51812dc3A010C7d01b50e0d17dc79C8\n"
    );
    let first = keys(folder.path(), "signer init --light --seed signer/seed.json --json").json();
    assert_eq!(first["wallet"], "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    let of_path = "signer init --light --dir other --seed signer/seed.json --account 1 --index 3 --json";
    assert_eq!(keys(folder.path(), of_path).json()["wallet"], "0x9BF4beE5bfbEbb3a4b7060dAe40CA6fD49305D60");
    assert_eq!(
        run(folder.path(), &["signer", "address", "--dir", "other"]).ok(),
        "0x9BF4beE5bfbEbb3a4b7060dAe40CA6fD49305D60\n"
    );
}

#[test]
fn a_game_server_signs_with_its_key_file() {
    let folder = folder();
    let made = run(folder.path(), &["keys", "auth", "arena.key", "--json"]).json();
    let path = folder.path().join("arena.key");
    assert_eq!(mode(&path), 0o600);
    let key = AuthKey::read(&path).unwrap();
    assert_eq!(made["address"], key.address().to_string());
    assert_eq!(typed_data::recover(&[7; 32], &key.sign(&[7; 32]).unwrap()), Ok(key.address()));
    run(folder.path(), &["keys", "auth", "arena.key"]).fails(1, &["arena.key exists already; nothing was changed"]);
    assert_eq!(AuthKey::read(&path).unwrap().address(), key.address());
    let text = run(folder.path(), &["keys", "auth", "other.key"]).ok();
    assert!(text.starts_with("created other.key (secret: only its owner can read it)\naddress 0x"), "{text}");
}
