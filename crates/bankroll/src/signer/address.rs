//! `bankroll signer address`: the addresses of the wallets, one in a line.

use std::path::PathBuf;

use bankroll_signer::cli::{SignerPrograms, read_config};
use clap::Args;
use serde_json::json;

use super::print;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll signer address --dir signer
  bankroll init --dir casino --set chain.wallet=$(bankroll signer address)")]
pub struct SignerAddressArgs {
    /// The signer's folder
    #[arg(long, value_name = "DIR", default_value = "signer")]
    dir: PathBuf,
}

pub fn run(args: &SignerAddressArgs, json: bool, programs: &SignerPrograms) -> anyhow::Result<()> {
    let wallets = read_config(&args.dir, programs)?.policy.wallets;
    let lines: Vec<String> = wallets.iter().map(ToString::to_string).collect();
    print(json, &json!({ "wallets": wallets }), &lines.join("\n"))
}
