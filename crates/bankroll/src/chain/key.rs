//! `bankroll chain key`: the key of a test account as a file, for commands that sign as a player.

use std::path::PathBuf;

use bankroll_chains_simulated::SimulatedKey;
use bankroll_terminal::{self as terminal, Exit, Paint};
use clap::Args;
use serde_json::json;

use super::test_accounts::COUNT;
use crate::secret_file::write_secret;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll chain key 1 player.key
  bankroll chain key 1 player.key --seed 7     of `bankroll chain --seed 7`
  bankroll players sign-in --key player.key --dir casino

Play money: the keys follow from the seed, so everybody has them. Nothing is
overwritten.")]
pub struct ChainKeyArgs {
    /// The number of the account, from 0 to 9
    #[arg(value_name = "NUMBER", value_parser = terminal::whole::<u64>(0..=COUNT - 1, "the number of a test account"))]
    number: u64,
    /// The new file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The seed of the chain, if it was started with one
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = terminal::whole::<u64>(0..=u64::MAX, "the seed"))]
    seed: u64,
}

pub fn run(args: &ChainKeyArgs, json: bool) -> anyhow::Result<Exit> {
    let key = SimulatedKey::derived(args.seed, args.number);
    write_secret(&args.file, &format!("{}\n", key.to_bytes()))?;
    let address = key.address().to_string();
    if json {
        terminal::answer_json(&json!({ "file": args.file, "address": address }))?;
    } else {
        let (created, file) = (Paint::stdout().good("created"), args.file.display());
        terminal::answer(&format!("{created} {file} (play money: everybody has this key)\naddress {address}\n"))?;
    }
    Ok(Exit::Ok)
}
