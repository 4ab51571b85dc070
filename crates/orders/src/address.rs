//! Addresses of EVM chains: twenty bytes, written with the checksum of EIP-55.

use std::{fmt, str::FromStr};

use k256::ecdsa::VerifyingKey;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha3::{Digest, Keccak256};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub [u8; 20]);

/// Why a text is not an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("an address is 0x and 40 hexadecimal digits")]
    Malformed,
    /// Mixed case that does not match the checksum: a digit is wrong.
    #[error("the address does not match its checksum: a digit is mistyped")]
    Checksum,
}

impl Address {
    /// No key exists for this address; coins sent there are burnt.
    pub const ZERO: Self = Self([0; 20]);

    /// The address of a public key, given its two coordinates (64 bytes, without the leading 4).
    #[must_use]
    pub fn of_public_key(coordinates: &[u8; 64]) -> Self {
        let hash: [u8; 32] = Keccak256::digest(coordinates).into();
        let mut bytes = [0; 20];
        bytes.iter_mut().zip(hash.iter().skip(12)).for_each(|(byte, from)| *byte = *from);
        Self(bytes)
    }

    /// The address of a key.
    #[must_use]
    pub fn of(key: &VerifyingKey) -> Self {
        let point = key.to_encoded_point(false);
        let coordinates = point.as_bytes().get(1..).and_then(|bytes| bytes.try_into().ok());
        Self::of_public_key(coordinates.expect("an uncompressed point has 65 bytes"))
    }

    /// The text without a checksum, `0x` and lowercase digits: how wallets are named in the books, and how nodes are
    /// asked.
    #[must_use]
    pub fn lower_hex(&self) -> String {
        format!("0x{}", hex::encode(self.0))
    }
}

impl From<Address> for alloy_primitives::Address {
    fn from(address: Address) -> Self {
        Self(address.0.into())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = hex::encode(self.0);
        let hash: [u8; 32] = Keccak256::digest(digits.as_bytes()).into();
        let nibbles = hash.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let cased = digits.chars().zip(nibbles).map(|(digit, nibble)| match nibble {
            8.. => digit.to_ascii_uppercase(),
            _ => digit,
        });
        write!(f, "0x{}", cased.collect::<String>())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Address {
    type Err = AddressError;

    /// Mixed case must match the checksum; text in a single case has no checksum and is accepted.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let digits = text.strip_prefix("0x").ok_or(AddressError::Malformed)?;
        let mut bytes = [0; 20];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| AddressError::Malformed)?;
        let address = Self(bytes);
        let mixed = digits.bytes().any(|digit| digit.is_ascii_uppercase())
            && digits.bytes().any(|digit| digit.is_ascii_lowercase());
        if mixed && address.to_string() != text { Err(AddressError::Checksum) } else { Ok(address) }
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { self.0.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            text.parse().map_err(de::Error::custom)
        } else {
            <[u8; 20]>::deserialize(deserializer).map(Self)
        }
    }
}
