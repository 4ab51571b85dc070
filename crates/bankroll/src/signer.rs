//! `bankroll signer`: the signer, in this process and with no other role in it. All of it is the signer's own code.

use bankroll_signer::cli::{self, SignerCommand};
use bankroll_terminal::Exit;

pub fn run(command: &SignerCommand, json: bool) -> anyhow::Result<Exit> {
    cli::run(command, json).map(|()| Exit::Ok)
}
