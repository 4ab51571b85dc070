//! `bankroll-signer`: the signer as a program of its own.

use std::{env, process::ExitCode};

use bankroll_input::{plain, usage_message};
use bankroll_signer::cli::{self, KeyCommand, SignerExitCode, SignerPrograms};
use clap::{CommandFactory, FromArgMatches, Parser, error::ErrorKind};
use serde_json::json;

/// Holds the keys of Bankroll, its own rules, and a memory of everything it has signed.
#[derive(Debug, Parser)]
#[command(name = "bankroll-signer", version, after_help = cli::EXAMPLES, arg_required_else_help = true)]
struct SignerCli {
    #[command(subcommand)]
    command: KeyCommand,
    /// Print JSON on standard output, and errors as JSON on standard error
    #[arg(long, global = true)]
    json: bool,
}

fn main() -> ExitCode {
    let read = with_this_name(SignerCli::command()).try_get_matches();
    let (command, json) = match read.and_then(|matches| SignerCli::from_arg_matches(&matches)) {
        Ok(SignerCli { command, json }) => (command, json),
        Err(error) => return report_usage(&error),
    };
    let me = env::args().next().unwrap_or_else(|| "bankroll-signer".into());
    let programs = SignerPrograms { me, show: "bankroll signer show".into() };
    let Err(error) = cli::run(&command, json, &programs) else { return ExitCode::SUCCESS };
    let code = error.chain().find_map(SignerExitCode::of).unwrap_or(SignerExitCode::Failed);
    let causes: Vec<String> = error.chain().skip(1).map(|cause| plain(&cause.to_string())).collect();
    report(code, &plain(&error.to_string()), &causes, json)
}

/// The examples, with the name of this program instead of `bankroll signer` in the commands that it has.
fn with_this_name(command: clap::Command) -> clap::Command {
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let examples = examples.replace("  bankroll signer init ", "  bankroll-signer init ");
    let command = command.after_help(examples.replace("  bankroll signer run ", "  bankroll-signer run "));
    command.mut_subcommands(with_this_name)
}

/// What the argument parser found. It has read no `--json` when it fails.
fn report_usage(error: &clap::Error) -> ExitCode {
    let json = env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json");
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.exit()
        }
        _ if json => report(SignerExitCode::Usage, &plain(&usage_message(&error.render().to_string())), &[], true),
        _ => {
            eprint!("{}", plain(&error.render().to_string()));
            ExitCode::from(SignerExitCode::Usage as u8)
        }
    }
}

/// In the form of `bankroll`'s errors.
fn report(code: SignerExitCode, message: &str, causes: &[String], json: bool) -> ExitCode {
    if json {
        eprintln!("{}", json!({ "error": { "code": code.name(), "message": message, "causes": causes } }));
    } else {
        eprintln!("error: {message}");
        causes.iter().for_each(|cause| eprintln!("  because: {cause}"));
    }
    ExitCode::from(code as u8)
}
