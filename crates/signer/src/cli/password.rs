//! Reads the password of the key files. It is wiped from memory and appears in no message.

use std::{env, fs, path::PathBuf};

use anyhow::Context;
use clap::Args;
use zeroize::Zeroizing;

use super::SignerUsageError;

pub const PASSWORD_VARIABLE: &str = "BANKROLL_SIGNER_PASSWORD";

#[derive(Debug, Args)]
pub struct PasswordArgs {
    /// A file with the password of the key files; default: the variable BANKROLL_SIGNER_PASSWORD
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

impl PasswordArgs {
    pub fn read(&self) -> anyhow::Result<Zeroizing<Vec<u8>>> {
        let mut password = match &self.password_file {
            Some(file) => Zeroizing::new(fs::read(file).with_context(|| format!("cannot read {}", file.display()))?),
            None => Zeroizing::new(env::var(PASSWORD_VARIABLE).unwrap_or_default().into_bytes()),
        };
        // Editors append a newline that is not part of the password.
        while password.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            password.pop();
        }
        if password.is_empty() {
            return Err(
                SignerUsageError(format!("no password: give --password-file or set {PASSWORD_VARIABLE}")).into()
            );
        }
        Ok(password)
    }
}
