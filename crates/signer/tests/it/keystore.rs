//! Key files of ours and of other tools open; malformed ones are refused.

use bankroll_signer::keystore::{self, KeystoreCost, KeystoreError};
use zeroize::Zeroizing;

use crate::world::{SECRET, wallet};

/// Made once by ethers, with the test key.
const BY_ETHERS: &str = r#"{ "address": "17c5185167401ed00cf5f5b2fc97d9bbfdb7d025", "id": "6d68728e-ea55-4f2a-91a2-8862aeb51a50", "version": 3, "Crypto": { "cipher": "aes-128-ctr",
    "cipherparams": { "iv": "42a351807d126f9a19c046d4edfa12e2" },
    "ciphertext": "1e482d612cc686a07bf0b1eea23417eaf7af1787643ddbca8303f4a7cf0afdb2", "kdf": "scrypt",
    "kdfparams": { "salt": "47c98449433508239a12499d8629b59b699551456baaf2a99665c32e34cc102e",
        "n": 131072, "dklen": 32, "p": 1, "r": 8 },
    "mac": "1629664aa830b2a2edd7b60a96c748b50796daab2deb46dce0d056fa442a9580" } }"#;

fn own() -> String {
    keystore::encrypt(&Zeroizing::new(SECRET), b"secret", KeystoreCost::Light).unwrap()
}

#[test]
fn a_file_of_another_tool_opens() {
    assert_eq!(keystore::decrypt(BY_ETHERS, b"testpassword").unwrap().address(), wallet());
    assert_eq!(keystore::decrypt(BY_ETHERS, b"testpasswort").unwrap_err(), KeystoreError::WrongPassword);
}

#[test]
fn a_key_file_opens_only_with_its_password() {
    let text = own();
    assert_eq!(keystore::decrypt(&text, b"secret").unwrap().address(), wallet());
    assert_eq!(keystore::address_of(&text), Some(wallet()));
    assert_eq!(keystore::decrypt(&text, b"Secret").unwrap_err(), KeystoreError::WrongPassword);
    assert!(!text.contains(&hex::encode(SECRET)), "the secret is in the file");
    assert_ne!(own(), text, "the same salt twice");
}

#[test]
fn a_file_that_is_too_expensive_or_malformed_is_refused() {
    let text = own();
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} is not in {text}");
        keystore::decrypt(&text.replace(from, to), b"secret").unwrap_err()
    };
    assert_eq!(with("\"n\": 4096", "\"n\": 1099511627776"), KeystoreError::TooExpensive);
    assert_eq!(with("\"n\": 4096", "\"n\": 4097"), KeystoreError::TooExpensive);
    assert_eq!(with("\"n\": 4096", "\"n\": 0"), KeystoreError::TooExpensive);
    assert_eq!(with("\"r\": 8", "\"r\": 4000000000"), KeystoreError::TooExpensive);
    assert_eq!(with("\"r\": 8", "\"r\": 0"), KeystoreError::TooExpensive);
    assert_eq!(with("\"p\": 1", "\"p\": 100000"), KeystoreError::TooExpensive);
    assert_eq!(with("\"dklen\": 32", "\"dklen\": 16"), KeystoreError::Malformed);
    assert_eq!(with("\"version\": 3", "\"version\": 1"), KeystoreError::Malformed);
    assert_eq!(with("aes-128-ctr", "aes-128-cbc"), KeystoreError::Malformed);
    assert_eq!(with("\"scrypt\"", "\"pbkdf2\""), KeystoreError::Malformed);
    let (first, other) = (hex::encode(wallet().0), "ab".repeat(20));
    assert_eq!(with(&first, &other), KeystoreError::OtherKey);
    for text in ["", "{}", "[1]", &"[".repeat(10_000), &" ".repeat(keystore::KEYSTORE_BYTES_MAX + 1)] {
        assert_eq!(keystore::decrypt(text, b"secret").unwrap_err(), KeystoreError::Malformed);
    }
}

#[test]
fn debug_output_contains_no_secret() {
    let key = keystore::decrypt(&own(), b"secret").unwrap();
    assert_eq!(format!("{key:?}"), format!("LocalKey({})", wallet()));
}
