//! Where the password of the key files comes from. It is wiped from memory, and in no message.

use std::{env, fs, path::PathBuf};

use anyhow::Context;
use clap::Args;
use zeroize::Zeroizing;

use super::SignerUsageError;

/// The variable that may hold the password.
pub const PASSWORD_VARIABLE: &str = "BANKROLL_SIGNER_PASSWORD";

/// Where the password is.
#[derive(Debug, Args)]
pub struct PasswordArgs {
    /// A file with the password of the key files; without it, BANKROLL_SIGNER_PASSWORD
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

impl PasswordArgs {
    pub fn read(&self) -> anyhow::Result<Zeroizing<Vec<u8>>> {
        let mut password = match &self.password_file {
            Some(file) => Zeroizing::new(fs::read(file).with_context(|| format!("cannot read {}", file.display()))?),
            None => Zeroizing::new(env::var(PASSWORD_VARIABLE).unwrap_or_default().into_bytes()),
        };
        // Editors end files with a line's end, and nobody means it.
        while password.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            password.pop();
        }
        if password.is_empty() {
            return Err(
                SignerUsageError(format!("no password: name a --password-file, or set {PASSWORD_VARIABLE}")).into()
            );
        }
        Ok(password)
    }
}
