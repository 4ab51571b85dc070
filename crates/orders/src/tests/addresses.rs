//! Addresses are read strictly and written with their checksum.

use crate::{Address, AddressError};

#[test]
fn the_examples_of_eip_55_are_read_and_written() {
    for text in [
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
        "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ] {
        let address: Address = text.parse().unwrap();
        assert_eq!(address.lower_hex(), text.to_ascii_lowercase());
        assert_eq!(address.to_string(), text);
        assert_eq!(text.to_lowercase().parse(), Ok(address));
    }
}

#[test]
fn a_mistyped_digit_is_noticed() {
    let mistyped = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee";
    assert_eq!(mistyped.parse::<Address>(), Err(AddressError::Checksum));
}

#[test]
fn malformed_addresses_are_refused() {
    let digits = "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";
    for text in ["", "0x", digits, &format!("0X{digits}"), &format!("0x{digits}00"), &format!("0x{}g", &digits[1..])] {
        assert_eq!(text.parse::<Address>(), Err(AddressError::Malformed), "{text:?}");
    }
}

#[test]
fn a_public_key_has_its_address() {
    // The key with the secret 1: the generator of secp256k1.
    let x = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
    let y = "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";
    let mut point = [0; 64];
    hex::decode_to_slice(format!("{x}{y}"), &mut point).unwrap();
    assert_eq!(Address::of_public_key(&point).to_string(), "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf");
}
