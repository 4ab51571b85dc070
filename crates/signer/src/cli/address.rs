//! `bankroll-signer address`: the addresses of the wallets, one in a line.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{hints, print};

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

pub fn run(args: &SignerAddressArgs, json: bool, me: &str) -> anyhow::Result<()> {
    let wallets = hints::config(&args.dir, me)?.policy.wallets;
    let lines: Vec<String> = wallets.iter().map(ToString::to_string).collect();
    print(json, &json!({ "wallets": wallets }), &lines.join("\n"))
}
