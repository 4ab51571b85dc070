//! `bankroll signer`: the signer in this process, with no other role in it; and what only looks at a signer's folder.
//!
//! `init` and `run` are in the signer's crate, next to the keys. `show` and `address` need no key, so they are here.

mod address;
mod order_text;
mod show;

use bankroll_signer::cli::{self, KeyCommand, SignerPrograms};
use bankroll_terminal::{Exit, answer, invocation};
use clap::Subcommand;
use serde_json::Value;

#[derive(Debug, Subcommand)]
pub enum SignerCommand {
    #[command(flatten)]
    Key(KeyCommand),
    /// Show wallets, rules and signed orders; needs no password
    Show(show::SignerShowArgs),
    /// Print the address of the wallet, and nothing else: for scripts
    Address(address::SignerAddressArgs),
}

pub fn run(command: &SignerCommand, json: bool) -> anyhow::Result<Exit> {
    let me = format!("{} signer", invocation());
    let programs = SignerPrograms { show: format!("{me} show"), me };
    match command {
        SignerCommand::Key(command) => cli::run(command, json, &programs),
        SignerCommand::Show(args) => show::run(args, json, &programs),
        SignerCommand::Address(args) => address::run(args, json, &programs),
    }
    .map(|()| Exit::Ok)
}

/// JSON is on one line, on a terminal too, as `init` and `run` print it.
fn print(json: bool, value: &Value, text: &str) -> anyhow::Result<()> {
    if json { answer(&value.to_string()) } else { answer(text) }
}
