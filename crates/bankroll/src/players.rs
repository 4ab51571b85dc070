//! `bankroll players`: opens accounts, so that a payment is known when it arrives.

use bankroll_orders::Address;
use bankroll_roles::requests::{BooksClient, OpenedPlayer, open_player};
use bankroll_terminal::{self as terminal, Assets, Exit, Paint, invocation};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::location::{ChainBooks, LocationArgs};

pub const EXAMPLES: &str = "\
Examples:
  bankroll players open 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 --dir casino";

#[derive(Debug, Subcommand)]
pub enum PlayersCommand {
    /// Open a player's accounts, and say what they pay and where
    Open(PlayerOpenArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll players open 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 --dir casino
  bankroll players open 0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266 --json

A payment is credited to the player whose address it was sent from. A payment
from an address without accounts goes to suspense. Opening a player again
changes nothing. A node may run meanwhile: the command asks it.")]
pub struct PlayerOpenArgs {
    /// The address that the player pays from
    #[arg(value_name = "ADDRESS")]
    address: Address,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(command: &PlayersCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        PlayersCommand::Open(args) => open(args, json)?,
    }
    Ok(Exit::Ok)
}

fn open(args: &PlayerOpenArgs, json: bool) -> anyhow::Result<()> {
    let books = args.location.with_chain()?;
    let client = BooksClient::connect(&books.loaded)?;
    let opened = open_player(&client, &books.reader, &books.setup, books.asset, args.address);
    client.close();
    let player = opened?;
    if json {
        terminal::answer_json(&player_json(&player, &books))
    } else {
        terminal::answer(&text(&player, &books, args)?)
    }
}

fn player_json(player: &OpenedPlayer, books: &ChainBooks) -> Value {
    json!({
        "player": player.address, "new": player.is_new, "account": { "id": player.account, "name": player.funds.to_string() },
        "chain": books.setup.coin.chain, "pay_to": books.setup.wallet,
        "buy_in": player.buy_in, "price": player.price,
    })
}

fn text(player: &OpenedPlayer, books: &ChainBooks, args: &PlayerOpenArgs) -> anyhow::Result<String> {
    let assets = Assets::new(books.reader.assets()?);
    let amount = |amount| assets.with_symbol(books.asset, amount);
    let (wallet, chain) = (books.setup.wallet, &books.setup.coin.chain);
    let price = match player.price {
        Some(price) => format!("  {} buys in for {}; fees are on top\n", amount(price), amount(player.buy_in)),
        None => String::new(),
    };
    Ok(format!(
        "{} {}\n{price}  pay from {}\n  pay to   {wallet} on {chain}\n\nNext:\n  {} deposits list --dir {}\n",
        Paint::stdout().good(if player.is_new { "opened" } else { "open already:" }),
        player.funds,
        player.address,
        invocation(),
        args.location.base().display(),
    ))
}
