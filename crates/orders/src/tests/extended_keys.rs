//! Extended public keys derive the addresses that every wallet derives.

use crate::{ExtendedKeyError, ExtendedPublicKey};

/// Of the public test mnemonic "test test ... junk", account 0; made by `@scure/bip32`.
const TEST_JUNK: &str =
    "xpub6Ce9NcJvTk36xtLSrJLZqE7wtgA5deCeYs7rSQtreh4cj6ByPtrg9sD7V2FNFLPnf8heNP3FGkeV9qwfzvZNSd54JoNXVsXFYSYwHsnJxqP";
/// Test vector 1 of BIP-32.
const AT_DEPTH_3: &str =
    "xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5uJh7n7epu4trkrX7x7DogT5Uv6fcLW5";
const AT_DEPTH_1: &str =
    "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw";

#[test]
fn an_account_derives_the_known_addresses() {
    let key: ExtendedPublicKey = TEST_JUNK.parse().unwrap();
    assert_eq!((key.to_string(), key.account()), (TEST_JUNK.to_owned(), 0));
    let addresses = [0, 1].map(|index| key.address(index).unwrap().to_string());
    assert_eq!(addresses, ["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]);
    assert_eq!(AT_DEPTH_3.parse::<ExtendedPublicKey>().unwrap().account(), 2);
    assert_ne!(AT_DEPTH_3.parse(), Ok(key));
}

#[test]
fn an_index_is_in_the_half_of_public_derivation() {
    let key: ExtendedPublicKey = TEST_JUNK.parse().unwrap();
    assert!(key.address(0x7fff_ffff).is_ok());
    assert_eq!(key.address(0x8000_0000), Err(ExtendedKeyError::IndexTooLarge));
}

#[test]
fn only_the_key_of_an_account_is_accepted() {
    assert_eq!(AT_DEPTH_1.parse::<ExtendedPublicKey>(), Err(ExtendedKeyError::NotAccount));
    let private = "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi";
    let mistyped = TEST_JUNK.replace("JxqP", "JxqQ");
    let (long, short) = (format!("{TEST_JUNK}1"), &TEST_JUNK[..110]);
    let (zeros, sharp) = (format!("xpub{}", "1".repeat(107)), format!("xpub{}", "ß".repeat(53) + "1"));
    for text in ["", "1", "xpub", "xpub1", private, &mistyped, &long, short, &zeros, &sharp] {
        assert_eq!(text.parse::<ExtendedPublicKey>(), Err(ExtendedKeyError::Malformed), "{text:?}");
    }
}
