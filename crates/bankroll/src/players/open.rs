//! `bankroll players open`: as the game server, which has a key.

use std::path::PathBuf;

use anyhow::Context;
use bankroll_deposits::BuyIn;
use bankroll_ledger::{Amount, AssetId};
use bankroll_orders::Address;
use bankroll_roles::requests::{FundsCall, FundsCallError, FundsClient};
use bankroll_terminal::{self as terminal, Assets, Paint, invocation};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    funds_call::{GameServerArgs, connect_for, in_path, list, text},
    location::LocationArgs,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll players open 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 \\
    --key arena.key --dir casino
  ... --server maze        of another game server than the configured one

Opening a player again changes nothing. A payment is credited to the player
who has signed in with the wallet that it comes from (`players sign-in`); other
payments go to suspense. A node may run meanwhile: the command asks it.")]
pub struct PlayerOpenArgs {
    /// A wallet of the player
    #[arg(value_name = "ADDRESS")]
    address: Address,
    /// The key file of the server
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    server: GameServerArgs,
    #[command(flatten)]
    location: LocationArgs,
}

/// The accounts, and what the player must know to pay.
struct OpenedPlayer {
    funds: String,
    /// The terms of the server, as the Funds API answers them.
    server: Value,
    asset: AssetId,
    buy_in: Amount,
    /// The smallest payment that becomes a buy-in, fees included; `None` if it exceeds 128 bits.
    price: Option<Amount>,
}

pub fn run(args: &PlayerOpenArgs, json: bool) -> anyhow::Result<()> {
    let server = args.server.name(&args.location)?;
    let client = connect_for(&args.location, &args.key, &server)?;
    let opened = open(&client, &format!("/v1/servers/{}", in_path(server.as_str())), args.address);
    client.close();
    let player = OpenedPlayer::read(opened?)?;
    if json {
        return terminal::answer_json(&json!({
            "player": args.address, "account": player.funds, "chain": player.server["chain"],
            "pay_to": player.server["deposit_address"], "buy_in": player.buy_in, "price": player.price,
        }));
    }
    terminal::answer(&player.text(args)?)
}

/// The answers about the accounts and about the server.
fn open(client: &FundsClient, server: &str, player: Address) -> Result<(Value, Value), FundsCallError> {
    let key = FundsClient::new_key()?;
    let (path, body) = (format!("{server}/accounts"), json!({ "player": player.lower_hex() }));
    let call = FundsCall { method: "POST", path: &path, idempotency_key: Some(&key), body: Some(&body) };
    let opened = client.call(call)?;
    let terms = client.call(FundsCall { method: "GET", path: server, idempotency_key: None, body: None })?;
    Ok((opened, terms))
}

impl OpenedPlayer {
    fn read((opened, server): (Value, Value)) -> anyhow::Result<Self> {
        let missing = |what: &str| format!("the answer of the Funds API has no {what}");
        let number = |field: &str| server[field].as_u64().and_then(|number| u32::try_from(number).ok());
        let amount = server["buy_in"].as_str().and_then(|amount| amount.parse().ok());
        let amount: Amount = amount.with_context(|| missing("buy_in"))?;
        let [developer_bps, world_bps] = [number("developer_fee_bps"), number("world_fee_bps")];
        let developer_bps = developer_bps.with_context(|| missing("developer_fee_bps"))?;
        let world_bps = world_bps.with_context(|| missing("world_fee_bps"))?;
        let asset = AssetId(number("asset").with_context(|| missing("asset"))?);
        let funds = text(list(&opened, "accounts")?.first().with_context(|| missing("account"))?);
        let price = BuyIn { amount, developer_bps, world_bps }.required();
        Ok(Self { funds, server, asset, buy_in: amount, price })
    }

    fn text(&self, args: &PlayerOpenArgs) -> anyhow::Result<String> {
        // A machine that reaches the service by its URL has no books to read, and shows base units.
        let assets = args.location.reader().and_then(|reader| Ok(Assets::new(reader.assets()?)));
        let assets = assets.unwrap_or_else(|_| Assets::none());
        let amount = |amount| assets.with_symbol(self.asset, amount);
        let price = match self.price {
            Some(price) => format!("  {} buys in for {}; fees are on top\n", amount(price), amount(self.buy_in)),
            None => String::new(),
        };
        let (open, me, dir) = (Paint::stdout().good("open:"), invocation(), args.location.base());
        Ok(format!(
            "{open} {}\n{price}  pay from {}, after a sign-in with it\n  pay to   {} on {}\n\nNext, as the player:\n  \
             {me} players sign-in --key FILE --dir {}\n",
            self.funds,
            args.address,
            text(&self.server["deposit_address"]),
            text(&self.server["chain"]),
            dir.display(),
        ))
    }
}
