//! `bankroll servers register` and `session`: a key becomes a token, which any HTTP client can use.

use std::path::PathBuf;

use bankroll_ledger::{Amount, Name};
use bankroll_orders::Address;
use bankroll_roles::requests::{RegistrationOrder, SessionSubject};
use bankroll_terminal::{self as terminal, Paint, whole};
use clap::Args;
use serde_json::Value;

use crate::{
    funds_call::{connect, connect_for, in_path, text},
    location::LocationArgs,
};

#[derive(Debug, Args)]
#[command(override_usage = "bankroll servers register <NAME> --key <FILE> --buy-in <UNITS>\n        \
    --developer-bps <BPS> --world-bps <BPS> --mass-per-coin <MASS>\n        \
    --payout-address <ADDRESS> --developer <ADDRESS> [OPTIONS]")]
#[command(after_help = "\
Examples:
  bankroll servers register arena --key arena.key --dir casino \\
    --buy-in 10000000000000000 --developer-bps 100 --world-bps 250 \\
    --mass-per-coin 1000 --exit-hold-ms 60000 \\
    --payout-address 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 \\
    --developer 0x70997970C51812dc3A010C7d01b50e0d17dc79C8

The owner allows the key first: `bankroll registry server-keys add`. The same
terms again change nothing; others make a new version. Who has the printed
token can act as the server until it expires.")]
pub struct RegisterArgs {
    /// The name of the server
    #[arg(value_name = "NAME")]
    name: Name,
    /// The key file of the server
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// What a place in the game costs, in base units
    #[arg(long, value_name = "UNITS")]
    buy_in: Amount,
    /// The developer's fee on top, in hundredths of a percent
    #[arg(long, value_name = "BPS", value_parser = whole::<u32>(0..=10_000, "a fee"))]
    developer_bps: u32,
    /// The world's fee on top, in hundredths of a percent
    #[arg(long, value_name = "BPS", value_parser = whole::<u32>(0..=10_000, "a fee"))]
    world_bps: u32,
    /// Mass in the game for one whole coin
    #[arg(long, value_name = "MASS")]
    mass_per_coin: Amount,
    /// How long an exit is held before it is paid, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = whole::<u64>(0..=604_800_000, "an exit hold"))]
    exit_hold_ms: u64,
    /// Our wallet that pays the players: a hot wallet of the registry
    #[arg(long, value_name = "ADDRESS")]
    payout_address: Address,
    /// The wallet that owns the developer's fees
    #[arg(long, value_name = "ADDRESS")]
    developer: Address,
    #[command(flatten)]
    location: LocationArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll servers session arena --key arena.key --dir casino
  bankroll servers session arena --key arena.key --dir casino --token
  bankroll servers session owner --owner --key casino/owner.key --dir casino

Who has the printed token can act as the server, or the owner, until it
expires.")]
pub struct SessionArgs {
    /// The name of the server, or of the owner
    #[arg(value_name = "NAME")]
    name: Name,
    /// The key file of the server, or of the owner
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Open a session of the owner of this name
    #[arg(long)]
    owner: bool,
    /// Print the token of the session, and nothing else
    #[arg(long)]
    token: bool,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn register(args: &RegisterArgs, json: bool) -> anyhow::Result<()> {
    let order = RegistrationOrder {
        server: args.name.clone(),
        payout_address: args.payout_address,
        developer: args.developer,
        buy_in: args.buy_in,
        developer_fee_bps: args.developer_bps,
        world_fee_bps: args.world_bps,
        mass_per_coin: args.mass_per_coin,
        exit_hold_ms: args.exit_hold_ms,
    };
    let client = connect_for(&args.location, &args.key, &args.name)?;
    let registered = client.register(&order);
    client.close();
    let answer = registered?;
    if json {
        return terminal::answer_json(&answer);
    }
    let (server, name) = (&answer["server"], &args.name);
    let head = format!(
        "{} {name}, version {}\n  players pay to  {} on {}\n",
        Paint::stdout().good("registered"),
        text(&server["version"]),
        text(&server["deposit_address"]),
        text(&server["chain"]),
    );
    terminal::answer(&format!(
        "{head}\n{}",
        session_text(&answer, &format!("/v1/servers/{}", in_path(name.as_str())), &args.location)?
    ))
}

pub fn open(args: &SessionArgs, json: bool) -> anyhow::Result<()> {
    let subject = if args.owner { SessionSubject::Owner(&args.name) } else { SessionSubject::Server(&args.name) };
    let client = match subject {
        SessionSubject::Server(server) => connect_for(&args.location, &args.key, server)?,
        // Signatures of owners name the chain of the configuration.
        SessionSubject::Owner(_) => connect(&args.location, &args.key)?,
    };
    let opened = client.open_session(subject);
    client.close();
    let answer = opened?;
    if json {
        return terminal::answer_json(&answer);
    }
    if args.token {
        return terminal::answer(&format!("{}\n", text(&answer["token"])));
    }
    let path = if args.owner { "/v1/servers".into() } else { format!("/v1/servers/{}", in_path(args.name.as_str())) };
    terminal::answer(&session_text(&answer, &path, &args.location)?)
}

/// The token, and a call that uses it.
fn session_text(answer: &Value, path: &str, location: &LocationArgs) -> anyhow::Result<String> {
    let loaded = location.load()?;
    let api = &loaded.config.api;
    let scheme = if api.tls(loaded.base()).is_some() { "https" } else { "http" };
    let (expires, token) = (text(&answer["expires_at"]), text(&answer["token"]));
    Ok(format!(
        "session {}, until {expires}\n\nNext, while a node runs:\n  TOKEN={token}\n  \
         curl -H \"Authorization: Bearer $TOKEN\" {scheme}://{}{path}\n",
        text(&answer["session"]),
        api.listen,
    ))
}
