//! `bankroll signer`: runs the signer in this process, with no other role in it. All of the code is in the signer's
//! crate.

use bankroll_signer::cli::{self, SignerCommand};
use bankroll_terminal::{Exit, invocation};

pub fn run(command: &SignerCommand, json: bool) -> anyhow::Result<Exit> {
    cli::run(command, json, &format!("{} signer", invocation())).map(|()| Exit::Ok)
}
