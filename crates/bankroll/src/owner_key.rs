//! The key of the deployment's owner: a plain key file for one user of this machine. Its address is what the registry
//! knows; the key itself is never in the books.

use std::{
    fs,
    io::{ErrorKind, Write},
    path::Path,
};

use anyhow::Context;
use bankroll_orders::Address;
use bankroll_signer::{LocalKey, keystore};

/// In the folder of the configuration.
pub const OWNER_KEY_FILE: &str = "owner.key";

/// The address of the key in this file; makes the key if there is no file. Returns whether it was made.
pub fn find_or_create(path: &Path) -> anyhow::Result<(Address, bool)> {
    match fs::read_to_string(path) {
        Ok(text) => Ok((address_of(&text).with_context(|| format!("{} is not a key file", path.display()))?, false)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok((create(path)?, true)),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn create(path: &Path) -> anyhow::Result<Address> {
    let secret = keystore::generate();
    let address = LocalKey::from_bytes(&secret)?.address();
    write_secret(path, &format!("0x{}\n", hex::encode(secret.as_slice())))?;
    Ok(address)
}

/// The message never quotes the text.
fn address_of(text: &str) -> anyhow::Result<Address> {
    let digits = text.trim().strip_prefix("0x").unwrap_or(text.trim());
    let mut secret = keystore::generate();
    hex::decode_to_slice(digits, secret.as_mut_slice()).ok().context("it must be 0x and 64 hexadecimal digits")?;
    Ok(LocalKey::from_bytes(&secret)?.address())
}

/// Creates a file that only this user can ever read, and syncs it.
pub fn write_secret(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.write(true).create_new(true).open(path);
    let mut file = file.with_context(|| format!("cannot create {}", path.display()))?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .with_context(|| format!("cannot write {}", path.display()))
}
