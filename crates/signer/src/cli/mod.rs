//! `bankroll-signer`, and `bankroll signer`: the same commands.

mod init;
mod password;
mod run;
mod show;

use std::path::Path;

use bankroll_orders::{Address, MemoryId};
use clap::Subcommand;
use rand_core::{OsRng, RngCore};

use crate::{
    clock,
    config::SignerConfigError,
    keystore::KeystoreError,
    memory::{Memory, OpenError},
};

pub use self::SignerExitCode as Ending; // TEMPORARY alias
pub use password::PASSWORD_VARIABLE;

/// What the help of the whole ends with.
pub const EXAMPLES: &str = "\
Examples:
  bankroll signer init --dir signer --password-file secret    a key, its rules and its memory, in a folder
  bankroll signer run --dir signer --password-file secret     sign, until it is told to end
  bankroll signer show --dir signer                           what it may sign, and what it has signed

bankroll-signer is the same as a program of its own. The password can also be in BANKROLL_SIGNER_PASSWORD.

Exit codes:
  0  done
  1  failed
  2  wrong arguments or configuration
  3  not found: no configuration, no memory
  4  the memory is damaged, or is not that of these keys";

/// What a signer can be told on the command line.
#[derive(Debug, Subcommand)]
pub enum SignerCommand {
    /// Make a folder with a new key, rules with limits, and an empty memory
    Init(init::SignerInitArgs),
    /// Sign what the rules and the memory allow, for whoever may use the socket
    Run(run::SignerRunArgs),
    /// Show wallets, rules, and what was signed, without any password
    Show(show::SignerShowArgs),
}

/// Why a command ended, as scripts know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignerExitCode {
    /// Something else.
    Failed = 1,
    /// Wrong arguments or configuration.
    Usage = 2,
    /// No configuration, no memory.
    NotFound = 3,
    /// The memory is damaged, or is not that of these keys.
    Unsound = 4,
}

/// The caller's words make no sense, in a way that the argument parser cannot see.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SignerUsageError(pub String);

/// Carries out a command.
///
/// # Errors
/// Whatever went wrong; [`SignerExitCode::of`] says what that is to a script.
pub fn run(command: &SignerCommand, json: bool) -> anyhow::Result<()> {
    match command {
        SignerCommand::Init(args) => init::run(args, json),
        SignerCommand::Run(args) => run::run(args, json),
        SignerCommand::Show(args) => show::run(args, json),
    }
}

impl SignerExitCode {
    /// What an error is, if it is one of the signer's.
    #[must_use]
    pub fn of(cause: &(dyn std::error::Error + 'static)) -> Option<Self> {
        if cause.is::<SignerUsageError>() || cause.is::<KeystoreError>() {
            return Some(Self::Usage);
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

/// Begins a memory under a random name.
fn begin_memory(path: &Path, wallets: &[Address]) -> Result<Memory, OpenError> {
    let mut id = MemoryId([0; 16]);
    OsRng.fill_bytes(&mut id.0);
    Memory::create(path, id, wallets, clock::now())
}

/// One line or one JSON value on standard output.
fn print(json: bool, value: &serde_json::Value, text: &str) -> anyhow::Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let line = if json { value.to_string() } else { text.to_owned() };
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
