//! Exit codes, and the one place that prints errors.

use std::{error::Error, io::ErrorKind};

use serde_json::json;

use crate::output::Paint;

/// The exit codes. Scripts rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Ok = 0,
    Failed = 1,
    Usage = 2,
    NotFound = 3,
    Unsound = 4,
}

/// The named thing does not exist.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotFound(pub String);

/// Wrong arguments that the argument parser cannot recognise.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// A hand does not verify.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UnsoundError(pub String);

impl Exit {
    /// The code of the first cause that has one.
    fn of(error: &anyhow::Error, exit_of: impl Fn(&(dyn Error + 'static)) -> Option<Self>) -> Self {
        let code = |cause: &(dyn Error + 'static)| {
            if cause.is::<NotFound>() {
                Some(Self::NotFound)
            } else if cause.is::<UsageError>() {
                Some(Self::Usage)
            } else if cause.is::<UnsoundError>() {
                Some(Self::Unsound)
            } else {
                exit_of(cause)
            }
        };
        error.chain().find_map(code).unwrap_or(Self::Failed)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::NotFound => "not_found",
            Self::Unsound => "unsound",
        }
    }
}

/// Prints an error with its causes on standard error, and says how to end. `exit_of` knows the errors of other crates,
/// one cause at a time.
pub fn report(error: &anyhow::Error, json: bool, exit_of: impl Fn(&(dyn Error + 'static)) -> Option<Exit>) -> Exit {
    let broken_pipe = |cause: &(dyn Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == ErrorKind::BrokenPipe)
    };
    // The reader of our output has ended, which is no failure: `bankroll accounts list | head`.
    if error.chain().any(broken_pipe) {
        return Exit::Ok;
    }
    let exit = Exit::of(error, exit_of);
    let mut causes: Vec<String> = error.chain().skip(1).map(ToString::to_string).collect();
    // SQLite's errors repeat their text, the second time with a number in front.
    causes.dedup_by(|cause, before| cause.ends_with(before.as_str()));
    if json {
        let body = json!({ "error": { "code": exit.name(), "message": error.to_string(), "causes": causes } });
        eprintln!("{body}");
    } else {
        eprintln!("{} {error}", Paint::stderr().bad("error:"));
        causes.iter().for_each(|cause| eprintln!("  because: {cause}"));
    }
    exit
}
