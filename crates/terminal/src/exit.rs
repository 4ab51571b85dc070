//! Exit codes, and the one place that prints errors.

use std::{error::Error, ffi::OsString, io::ErrorKind};

use bankroll_input::{plain, usage_message};
use clap::error::ErrorKind as UsageKind;
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
    let mut causes: Vec<String> = error.chain().skip(1).map(|cause| plain(&cause.to_string())).collect();
    // SQLite's errors repeat their text, the second time with a number in front or as a general one.
    causes.dedup_by(|cause, before| cause.ends_with(before.as_str()));
    causes.retain(|cause| !cause.starts_with("Error code "));
    let message = plain(&error.to_string());
    if json {
        print_json(exit, &message, &causes);
    } else {
        eprintln!("{} {message}", Paint::stderr().bad("error:"));
        causes.iter().for_each(|cause| eprintln!("  because: {cause}"));
    }
    exit
}

/// Prints what the argument parser found, and says how to end. Help and the version are no errors.
///
/// The parser has read no `--json` when it fails, so the arguments are searched for it.
pub fn report_usage(error: &clap::Error, arguments: impl Iterator<Item = OsString>) -> Exit {
    let json = arguments.take_while(|argument| argument != "--").any(|argument| argument == "--json");
    match error.kind() {
        // The reader of the help may have ended: that is no failure.
        UsageKind::DisplayHelp | UsageKind::DisplayVersion => {
            let _ = error.print();
            return Exit::Ok;
        }
        // Without any argument, so without `--json`.
        UsageKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
        }
        _ if json => print_json(Exit::Usage, &plain(&usage_message(&error.render().to_string())), &[]),
        _ => {
            let report = error.render();
            let report = if Paint::stderr().is_on() { report.ansi().to_string() } else { report.to_string() };
            eprint!("{}", plain(&report));
        }
    }
    Exit::Usage
}

fn print_json(exit: Exit, message: &str, causes: &[String]) {
    eprintln!("{}", json!({ "error": { "code": exit.name(), "message": message, "causes": causes } }));
}
