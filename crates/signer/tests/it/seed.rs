//! Seeds derive the wallets that every tool derives, and their files open only as seeds.

use bankroll_orders::Address;
use bankroll_signer::{
    LocalKey,
    keystore::{self, KeystoreCost, KeystoreError},
    seed::{Seed, SeedError},
};
use zeroize::Zeroizing;

use crate::world::SECRET;

const TEST_JUNK: &str = "test test test test test test test test test test test junk";

fn wallet(seed: &Seed, account: u32, index: u32) -> Address {
    LocalKey::from_bytes(&seed.wallet(account, index).unwrap()).unwrap().address()
}

/// The first two are anvil's and hardhat's accounts; the third was made by viem, the extended key by `@scure/bip32`.
#[test]
fn a_seed_derives_the_wallets_of_other_tools() {
    let seed = Seed::from_mnemonic(TEST_JUNK).unwrap();
    assert_eq!(wallet(&seed, 0, 0).to_string(), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    assert_eq!(wallet(&seed, 0, 1).to_string(), "0x70997970C51812dc3A010C7d01b50e0d17dc79C8");
    assert_eq!(wallet(&seed, 1, 3).to_string(), "0x9BF4beE5bfbEbb3a4b7060dAe40CA6fD49305D60");
    let account = seed.account(1).unwrap();
    assert_eq!(
        account.to_string(),
        "xpub6Ce9NcJvTk372KjsGfWqbcex5DumjpNquQLApoeQUavSCjEc823BV1tb4rXUuPuht8h2hSxkg2EXUaKUJmniJvRZAELxypsCzBFdtosmV76"
    );
    assert_eq!(account.account(), 1);
}

#[test]
fn the_extended_public_key_gives_the_addresses_of_the_wallets() {
    let seed = Seed::generate();
    let account = seed.account(7).unwrap();
    for index in [0, 1, 1000, 0x7fff_ffff] {
        assert_eq!(account.address(index).unwrap(), wallet(&seed, 7, index));
    }
    assert_eq!(seed.account(0x8000_0000).unwrap_err(), SeedError::PathTooLarge);
    assert_eq!(seed.wallet(0, 0x8000_0000).unwrap_err(), SeedError::PathTooLarge);
}

#[test]
fn a_new_seed_has_24_words_that_restore_it() {
    let seed = Seed::generate();
    assert_eq!(seed.mnemonic().split(' ').count(), 24);
    let restored = Seed::from_mnemonic(&format!("  {}\n", seed.mnemonic().replace(' ', "\n\t"))).unwrap();
    assert_eq!(wallet(&restored, 0, 0), wallet(&seed, 0, 0));
    assert_ne!(wallet(&Seed::generate(), 0, 0), wallet(&seed, 0, 0));
}

#[test]
fn a_mistyped_mnemonic_is_refused_and_not_repeated() {
    let eleven = TEST_JUNK.strip_suffix(" junk").unwrap();
    let long = "test ".repeat(10_000);
    for words in ["", "junk", eleven, &TEST_JUNK.replace("junk", "test"), &TEST_JUNK.replace("junk", "Junk"), &long] {
        let error = Seed::from_mnemonic(words).unwrap_err();
        assert_eq!(error, SeedError::NotMnemonic, "{words}");
        assert!(!error.to_string().contains("junk"));
    }
}

#[test]
fn a_seed_file_opens_with_its_password_and_only_as_a_seed() {
    let seed = Seed::from_mnemonic(TEST_JUNK).unwrap();
    let text = seed.encrypt(b"secret", KeystoreCost::Light).unwrap();
    assert_eq!(Seed::decrypt(&text, b"secret").unwrap().mnemonic(), TEST_JUNK);
    assert_eq!(Seed::decrypt(&text, b"Secret").unwrap_err(), KeystoreError::WrongPassword);
    assert!(!text.contains("junk") && !text.contains(&hex::encode(TEST_JUNK)), "the words are in the file");
    assert_eq!(format!("{seed:?}"), "Seed");
    assert_eq!(keystore::decrypt(&text, b"secret").unwrap_err(), KeystoreError::Malformed);
    let key = keystore::encrypt(&Zeroizing::new(SECRET), b"secret", KeystoreCost::Light).unwrap();
    assert_eq!(Seed::decrypt(&key, b"secret").unwrap_err(), KeystoreError::Malformed);
}
