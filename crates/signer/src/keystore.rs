//! Encrypted files of keys and seeds in the common format of Ethereum tools (Web3 secret storage, version 3): scrypt, AES-128-CTR,
//! and a Keccak MAC.
//!
//! It guarantees that errors contain no password and no key, and that both are wiped from memory. It bounds the memory
//! and work that a file can request. It does not read PBKDF2 files.

use aes::Aes128;
use bankroll_orders::Address;
use ctr::{
    Ctr128BE,
    cipher::{KeyIvInit, StreamCipher},
};
use rand_core::{OsRng, RngCore};
use scrypt::Params;
use serde::{Deserialize, Serialize};
use sha3::{Digest, Keccak256};
use zeroize::Zeroizing;

use crate::key::LocalKey;

pub const KEYSTORE_BYTES_MAX: usize = 16 * 1024;
/// The most memory that a file may request: 512 MiB.
const SCRYPT_BYTES_MAX: u64 = 512 * 1024 * 1024;
const SCRYPT_P_MAX: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeystoreError {
    #[error("not a keystore of version 3 with scrypt and aes-128-ctr")]
    Malformed,
    #[error("the keystore's scrypt parameters are out of bounds")]
    TooExpensive,
    /// The MAC does not match.
    #[error("the password is wrong, or the keystore is damaged")]
    WrongPassword,
    /// The decrypted bytes are not a key, or not the key of the file's address.
    #[error("the keystore does not hold the key it names")]
    OtherKey,
}

/// The cost of one password guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeystoreCost {
    /// 256 MiB and about a second, the default of other tools.
    Standard,
    /// 4 MiB: for play money, where the signer must start fast.
    Light,
}

#[derive(Serialize, Deserialize)]
struct KeystoreFile {
    version: u8,
    #[serde(default)]
    id: String,
    #[serde(default)]
    address: Option<String>,
    /// What is encrypted if it is not a key. It is no key then, whatever its length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(alias = "Crypto")]
    crypto: Crypto,
}

#[derive(Serialize, Deserialize)]
struct Crypto {
    cipher: String,
    ciphertext: String,
    cipherparams: CipherParams,
    kdf: String,
    kdfparams: KdfParams,
    mac: String,
}

#[derive(Serialize, Deserialize)]
struct CipherParams {
    iv: String,
}

#[derive(Serialize, Deserialize)]
struct KdfParams {
    dklen: u32,
    n: u64,
    r: u32,
    p: u32,
    salt: String,
}

#[must_use]
pub fn generate() -> Zeroizing<[u8; 32]> {
    let mut secret = Zeroizing::new([0; 32]);
    loop {
        OsRng.fill_bytes(secret.as_mut_slice());
        // All but about one in 2^127 numbers are keys.
        if LocalKey::from_bytes(&secret).is_ok() {
            return secret;
        }
    }
}

/// The text of the key file.
///
/// # Errors
/// The secret is not a key.
pub fn encrypt(secret: &Zeroizing<[u8; 32]>, password: &[u8], cost: KeystoreCost) -> Result<String, KeystoreError> {
    let key = LocalKey::from_bytes(secret).map_err(|_| KeystoreError::OtherKey)?;
    lock(secret.as_slice(), Some(key.address()), None, password, cost)
}

/// The text of a file with any secret; `content` says what it is, unless it is a key.
pub(crate) fn lock(
    secret: &[u8],
    address: Option<Address>,
    content: Option<&str>,
    password: &[u8],
    cost: KeystoreCost,
) -> Result<String, KeystoreError> {
    let (mut salt, mut iv, mut id) = ([0; 32], [0; 16], [0; 16]);
    for bytes in [&mut salt[..], &mut iv[..], &mut id[..]] {
        OsRng.fill_bytes(bytes);
    }
    let n = match cost {
        KeystoreCost::Standard => 1 << 18,
        KeystoreCost::Light => 1 << 12,
    };
    let kdfparams = KdfParams { dklen: 32, n, r: 8, p: 1, salt: hex::encode(salt) };
    let derived = derive(&kdfparams, password)?;
    let mut text = Zeroizing::new(secret.to_vec());
    crypt(&derived, &iv, text.as_mut_slice());
    let crypto = Crypto {
        cipher: "aes-128-ctr".into(),
        ciphertext: hex::encode(text.as_slice()),
        cipherparams: CipherParams { iv: hex::encode(iv) },
        kdf: "scrypt".into(),
        kdfparams,
        mac: hex::encode(mac(&derived, text.as_slice())),
    };
    let (address, content) = (address.map(|address| hex::encode(address.0)), content.map(str::to_owned));
    let file = KeystoreFile { version: 3, id: uuid(id), address, content, crypto };
    serde_json::to_string_pretty(&file).map_err(|_| KeystoreError::Malformed)
}

/// The address in the file, if any; it is not verified.
#[must_use]
pub fn address_of(text: &str) -> Option<Address> {
    let file: KeystoreFile = serde_json::from_str(text).ok()?;
    let digits = file.address?;
    format!("0x{}", digits.trim_start_matches("0x")).parse().ok()
}

/// The key in the file.
///
/// # Errors
/// As [`KeystoreError`] says.
pub fn decrypt(text: &str, password: &[u8]) -> Result<LocalKey, KeystoreError> {
    let (bytes, has_address) = unlock(text, None, password)?;
    let mut secret = Zeroizing::new([0; 32]);
    if bytes.len() != secret.len() {
        return Err(KeystoreError::Malformed);
    }
    secret.copy_from_slice(&bytes);
    let key = LocalKey::from_bytes(&secret).map_err(|_| KeystoreError::OtherKey)?;
    let named = !has_address || address_of(text) == Some(key.address());
    if named { Ok(key) } else { Err(KeystoreError::OtherKey) }
}

/// The secret in a file with this content, and whether the file names an address.
pub(crate) fn unlock(
    text: &str,
    content: Option<&str>,
    password: &[u8],
) -> Result<(Zeroizing<Vec<u8>>, bool), KeystoreError> {
    if text.len() > KEYSTORE_BYTES_MAX {
        return Err(KeystoreError::Malformed);
    }
    let file: KeystoreFile = serde_json::from_str(text).map_err(|_| KeystoreError::Malformed)?;
    let crypto = &file.crypto;
    let is_known = file.version == 3 && crypto.cipher == "aes-128-ctr" && crypto.kdf == "scrypt";
    if !is_known || file.content.as_deref() != content {
        return Err(KeystoreError::Malformed);
    }
    let mut secret = Zeroizing::new(hex::decode(&crypto.ciphertext).map_err(|_| KeystoreError::Malformed)?);
    let mut iv = [0; 16];
    hex::decode_to_slice(&crypto.cipherparams.iv, &mut iv).map_err(|_| KeystoreError::Malformed)?;
    let derived = derive(&crypto.kdfparams, password)?;
    if !crypto.mac.eq_ignore_ascii_case(&hex::encode(mac(&derived, secret.as_slice()))) {
        return Err(KeystoreError::WrongPassword);
    }
    crypt(&derived, &iv, secret.as_mut_slice());
    Ok((secret, file.address.is_some()))
}

fn derive(params: &KdfParams, password: &[u8]) -> Result<Zeroizing<[u8; 32]>, KeystoreError> {
    let bytes = params.n.checked_mul(u64::from(params.r)).and_then(|product| product.checked_mul(128));
    let in_bounds = params.n.is_power_of_two()
        && params.n > 1
        && params.r > 0
        && (1..=SCRYPT_P_MAX).contains(&params.p)
        && bytes.is_some_and(|bytes| bytes <= SCRYPT_BYTES_MAX);
    if !in_bounds {
        return Err(KeystoreError::TooExpensive);
    }
    let salt = hex::decode(&params.salt).map_err(|_| KeystoreError::Malformed)?;
    if params.dklen != 32 {
        return Err(KeystoreError::Malformed);
    }
    let log_n = u8::try_from(params.n.trailing_zeros()).map_err(|_| KeystoreError::TooExpensive)?;
    let params = Params::new(log_n, params.r, params.p, 32).map_err(|_| KeystoreError::TooExpensive)?;
    let mut derived = Zeroizing::new([0; 32]);
    scrypt::scrypt(password, &salt, &params, derived.as_mut_slice()).map_err(|_| KeystoreError::TooExpensive)?;
    Ok(derived)
}

/// The first half of the derived key encrypts.
fn crypt(derived: &[u8; 32], iv: &[u8; 16], text: &mut [u8]) {
    let (key, _) = derived.split_at(16);
    Ctr128BE::<Aes128>::new_from_slices(key, iv).expect("both have sixteen bytes").apply_keystream(text);
}

/// The second half authenticates the ciphertext.
fn mac(derived: &[u8; 32], text: &[u8]) -> [u8; 32] {
    let (_, half) = derived.split_at(16);
    Keccak256::new().chain_update(half).chain_update(text).finalize().into()
}

fn uuid(mut bytes: [u8; 16]) -> String {
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let digits = hex::encode(bytes);
    let parts = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)];
    parts.map(|(from, to)| digits.get(from..to).unwrap_or_default()).join("-")
}
