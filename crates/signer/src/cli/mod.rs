//! The commands that need the keys: all of `bankroll-signer`, and the same ones in `bankroll signer`.
//!
//! What only looks at a signer's folder is not here: `bankroll signer show` and `address` are in the crate `bankroll`,
//! so that their code does not run next to the keys.

mod hints;
mod init;
mod password;
mod run;
mod seed;

use std::path::Path;

use bankroll_orders::{Address, MemoryId};
use clap::Subcommand;
use rand_core::{OsRng, RngCore};

use crate::{
    clock,
    config::SignerConfigError,
    keystore::KeystoreError,
    memory::{Memory, OpenError},
    seed::SeedError,
};

pub use hints::{memory_error, read_config, shown};
pub use init::{make_folder, write_new};
pub use password::{PASSWORD_VARIABLE, PasswordArgs, read_secret_file};
pub use seed::open_seed;

pub const EXAMPLES: &str = "\
Examples:
  bankroll signer init --dir signer --password-file secret  create key, rules
  bankroll signer run --dir signer --password-file secret   sign until stopped
  bankroll signer show --dir signer                         show rules, orders

The program `bankroll-signer` has `init` and `run` only.
The password can also be in BANKROLL_SIGNER_PASSWORD.

Exit codes:
  0  done
  1  failed
  2  wrong arguments or configuration
  3  not found: no configuration, no memory
  4  the memory is damaged or belongs to other keys";

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create a folder with a new key, rules with limits, and an empty memory
    Init(init::SignerInitArgs),
    /// Sign what the rules and the memory allow, for the configured user of the socket
    Run(run::SignerRunArgs),
}

/// What the user types, for the commands in messages.
#[derive(Clone, Debug)]
pub struct SignerPrograms {
    /// Before `init` and `run`: `bankroll signer` or `bankroll-signer`.
    pub me: String,
    /// To see a signer: `bankroll signer show`, also in the messages of `bankroll-signer`, which cannot show it.
    pub show: String,
}

/// The exit code of a failed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignerExitCode {
    Failed = 1,
    /// Wrong arguments or configuration.
    Usage = 2,
    /// No configuration, no memory.
    NotFound = 3,
    /// The memory is damaged or belongs to other keys.
    Unsound = 4,
}

/// Wrong arguments that the argument parser cannot detect.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SignerUsageError(pub String);

/// A named file that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SignerNotFound(pub String);

/// Carries out a command.
///
/// # Errors
/// Any failure; [`SignerExitCode::of`] maps it to an exit code.
pub fn run(command: &KeyCommand, json: bool, programs: &SignerPrograms) -> anyhow::Result<()> {
    match command {
        KeyCommand::Init(args) => init::run(args, json, programs),
        KeyCommand::Run(args) => run::run(args, json, programs),
    }
}

impl SignerExitCode {
    /// As it is written in errors as JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::NotFound => "not_found",
            Self::Unsound => "unsound",
        }
    }

    /// The exit code of an error, if it is one of the signer's.
    #[must_use]
    pub fn of(cause: &(dyn std::error::Error + 'static)) -> Option<Self> {
        if cause.is::<SignerUsageError>() || cause.is::<KeystoreError>() || cause.is::<SeedError>() {
            return Some(Self::Usage);
        }
        if cause.is::<SignerNotFound>() {
            return Some(Self::NotFound);
        }
        if let Some(error) = cause.downcast_ref::<SignerConfigError>() {
            return Some(match error {
                SignerConfigError::Missing { .. } => Self::NotFound,
                SignerConfigError::Wrong { .. } => Self::Usage,
                SignerConfigError::Io { .. } => Self::Failed,
            });
        }
        Some(match cause.downcast_ref::<OpenError>()? {
            OpenError::NoMemory { .. } => Self::NotFound,
            OpenError::Damaged { .. } | OpenError::OtherKey { .. } => Self::Unsound,
            _ => Self::Failed,
        })
    }
}

/// Creates a memory with a random id.
fn begin_memory(path: &Path, wallets: &[Address]) -> Result<Memory, OpenError> {
    let mut id = MemoryId([0; 16]);
    OsRng.fill_bytes(&mut id.0);
    Memory::create(path, id, wallets, clock::now())
}

/// Prints text, or JSON, on standard output.
fn print(json: bool, value: &serde_json::Value, text: &str) -> anyhow::Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let line = if json { value.to_string() } else { text.to_owned() };
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
