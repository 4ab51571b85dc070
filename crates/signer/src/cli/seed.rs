//! Where a new wallet's key comes from, and the seed file that it may be derived from.

use std::path::{Path, PathBuf};

use bankroll_input::whole;
use clap::Args;
use zeroize::Zeroizing;

use super::{hints::keystore_error, password::read_secret_file};
use crate::{
    keystore::{self, KeystoreError},
    seed::Seed,
};

#[derive(Debug, Args)]
pub struct DerivationArgs {
    /// Derive the key from this seed file of `bankroll keys generate`, with the same password
    #[arg(long, value_name = "FILE")]
    seed: Option<PathBuf>,
    /// ACCOUNT in the path of the wallet, m/44'/60'/ACCOUNT'/0/INDEX
    #[arg(
        long, value_name = "ACCOUNT", default_value_t = 0, requires = "seed",
        value_parser = whole::<u32>(0..=2_147_483_647, "the number of an account")
    )]
    account: u32,
    /// INDEX in the path of the wallet
    #[arg(
        long, value_name = "INDEX", default_value_t = 0, requires = "seed",
        value_parser = whole::<u32>(0..=2_147_483_647, "the index of a wallet")
    )]
    index: u32,
}

impl DerivationArgs {
    /// The key of a new wallet: derived, or random.
    pub fn secret(&self, password: &[u8]) -> anyhow::Result<Zeroizing<[u8; 32]>> {
        let Some(file) = &self.seed else { return Ok(keystore::generate()) };
        Ok(open_seed(file, password)?.wallet(self.account, self.index)?)
    }
}

/// The seed in a file.
///
/// # Errors
/// It is missing, or does not open; the message says what to do.
pub fn open_seed(file: &Path, password: &[u8]) -> anyhow::Result<Seed> {
    let bytes = read_secret_file(file, "seed file")?;
    let text = std::str::from_utf8(&bytes).map_err(|_| keystore_error(KeystoreError::Malformed, file))?;
    Seed::decrypt(text, password).map_err(|error| keystore_error(error, file))
}
