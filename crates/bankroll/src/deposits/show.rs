//! `bankroll deposits show`.

use bankroll_deposits::view;
use bankroll_terminal::{self as terminal, Assets, NotFound, Paint};
use clap::Args;
use serde_json::{Value, json};

use super::{deposit_json, details};
use crate::location::LocationArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll deposits show eip155:31337:0x5f3a...:native:0
  bankroll deposits show 0x5f3a... --json

The value must be whole; `deposits list --wide` prints it. `bankroll explain` also shows
the records of the deposit in the books.")]
pub struct DepositShowArgs {
    /// The deposit's id, or the hash of its transaction
    #[arg(value_name = "ID|TX")]
    what: String,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &DepositShowArgs, json: bool) -> anyhow::Result<()> {
    let reader = args.location.reader()?;
    let found = if view::has_tables(&reader)? { view::find(&reader, &args.what)? } else { Vec::new() };
    if found.is_empty() {
        let message = format!("there is no deposit {}; `bankroll deposits list --wide` shows all", args.what);
        return Err(NotFound(message).into());
    }
    let assets = Assets::new(reader.assets()?);
    if json {
        let all: Vec<Value> = found.iter().map(|deposit| deposit_json(deposit, &assets)).collect();
        return terminal::answer_json(&json!({ "deposits": all }));
    }
    let mut text = String::new();
    for deposit in &found {
        text.push_str(&details(deposit, &assets, Paint::stdout())?);
    }
    terminal::answer(&text)
}
