//! Reads the password of the key files. It is wiped from memory and appears in no message.

use std::{
    env, fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use zeroize::Zeroizing;

use super::{SignerNotFound, SignerUsageError};

pub const PASSWORD_VARIABLE: &str = "BANKROLL_SIGNER_PASSWORD";

#[derive(Debug, Args)]
pub struct PasswordArgs {
    /// A file with the password of the key files; default: the variable BANKROLL_SIGNER_PASSWORD
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

impl PasswordArgs {
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn read(&self) -> anyhow::Result<Zeroizing<Vec<u8>>> {
        let mut password = match &self.password_file {
            Some(file) => read_secret_file(file, "password file")?,
            None => Zeroizing::new(env::var(PASSWORD_VARIABLE).unwrap_or_default().into_bytes()),
        };
        // Editors append a newline that is not part of the password.
        while password.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            password.pop();
        }
        if password.is_empty() {
            let what = match &self.password_file {
                Some(file) => format!("the password file {} is empty; write the password into it", file.display()),
                None => format!("no password: give --password-file FILE, or set {PASSWORD_VARIABLE}"),
            };
            return Err(SignerUsageError(what).into());
        }
        Ok(password)
    }

    /// The file, if the password comes from one.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.password_file.as_deref()
    }
}

/// A file with a secret; `what` it is, for messages.
///
/// # Errors
/// It is missing, a folder, or cannot be read.
pub fn read_secret_file(file: &Path, what: &str) -> anyhow::Result<Zeroizing<Vec<u8>>> {
    let name = file.display();
    if file.is_dir() {
        return Err(SignerUsageError(format!("the {what} {name} is a folder")).into());
    }
    match fs::read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(SignerNotFound(format!("there is no {what} {name}")).into())
        }
        read => Ok(Zeroizing::new(read.with_context(|| format!("cannot read the {what} {name}"))?)),
    }
}
