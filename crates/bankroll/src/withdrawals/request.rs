//! `bankroll withdrawals request`: as the player, whose wallet signs the payout.

use std::path::PathBuf;

use bankroll_ledger::{AccountKind, AccountName, Amount, Name, Scope};
use bankroll_orders::Address;
use bankroll_roles::{
    AuthKey,
    config::ApiConfig,
    requests::{FundsCall, FundsCallError, FundsClient, KnownServer, PlayerPayout},
};
use bankroll_terminal::{self as terminal, Assets, NotFound, Paint, UsageError, invocation, parse_decimal};
use clap::Args;
use serde_json::Value;

use crate::{
    funds_call::{GameServerArgs, connect_for, sign_in, text},
    location::LocationArgs,
};

#[derive(Debug, Args)]
#[command(override_usage = "bankroll withdrawals request --key <FILE> --id <NAME> --amount <AMOUNT>\n        \
    --max-fee <AMOUNT> [OPTIONS]")]
#[command(after_help = "\
Examples:
  bankroll withdrawals request --key player.key --dir casino \\
    --id leave-1 --amount 0.009 --max-fee 0.001
  ... --to 0x7099...79C8   to another address than the wallet's own

The wallet signs in, and signs the payout (EIP-712). The amount is held at once,
and paid once: the same id again returns the same payout. More than
chain.pay_at_once waits for an approval.")]
pub struct WithdrawalRequestArgs {
    /// The key file of the player's wallet
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Your own name for this request: it is paid once, however often you repeat it
    #[arg(long, value_name = "NAME")]
    id: Name,
    /// The amount that arrives, in coins
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true)]
    amount: String,
    /// The most that you pay for gas, in coins
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true)]
    max_fee: String,
    /// The address that receives it [default: the wallet's]
    #[arg(long, value_name = "ADDRESS")]
    to: Option<Address>,
    #[command(flatten)]
    server: GameServerArgs,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &WithdrawalRequestArgs, json: bool) -> anyhow::Result<()> {
    let (server, known) = args.server.known(&args.location)?;
    let wallet = AuthKey::read(&args.key)?.address();
    let (scope, owner) = (Scope::Server(server.clone()), Some(wallet.lower_hex().parse()?));
    let mut payout = PlayerPayout {
        request_id: args.id.clone(),
        account: AccountName { scope, kind: AccountKind::Funds, asset: known.asset, owner },
        to: args.to.unwrap_or(wallet),
        asset: known.symbol.clone(),
        amount: coins(&args.amount, "--amount", &known)?,
        fee_cap: coins(&args.max_fee, "--max-fee", &known)?,
        server,
    };
    let client = connect_for(&args.location, &args.key, &payout.server)?;
    let requested = request(&client, &args.location.load()?.config.api, &mut payout);
    client.close();
    let answer = requested.map_err(|error| explained(error, &payout, wallet))?;
    if json { terminal::answer_json(&answer) } else { terminal::answer(&answer_text(&answer, &payout, &known, args)?) }
}

/// An amount that is not zero.
fn coins(text: &str, flag: &str, server: &KnownServer) -> Result<Amount, UsageError> {
    let wrong = |why: String| UsageError(format!("{flag} {text}: {why}"));
    match parse_decimal(text, server.decimals).map_err(wrong)? {
        Amount::ZERO => Err(wrong("the amount must be more than 0".into())),
        amount => Ok(amount),
    }
}

/// The withdrawal as it is now.
fn request(client: &FundsClient, api: &ApiConfig, payout: &mut PlayerPayout) -> Result<Value, FundsCallError> {
    let (session, player) = sign_in(client, api)?;
    let token = session["token"].as_str().ok_or(FundsCallError::NotJson)?;
    // The wallet may be one of several of the player.
    payout.account.owner = player["player"].as_str().and_then(|player| player.parse().ok());
    let requested = client.request_payout(token, payout)?;
    let path = format!("/v1/me/withdrawals/{}", text(&requested["withdrawal"]));
    client.call_with_token(token, FundsCall { method: "GET", path: &path, idempotency_key: None, body: None })
}

/// What the person can do about it.
fn explained(error: FundsCallError, payout: &PlayerPayout, wallet: Address) -> anyhow::Error {
    let PlayerPayout { server, request_id, .. } = payout;
    let code = match &error {
        FundsCallError::Refused(refusal) => refusal.code.as_str(),
        _ => "",
    };
    match code {
        "not_found" => NotFound(format!(
            "the player {wallet} has no account at {server}; the game server opens it: `bankroll players open`"
        ))
        .into(),
        "idempotency_mismatch" => {
            anyhow::Error::from(error).context(format!("the id {request_id} belongs to another payout; give a new one"))
        }
        _ if error.is_unknown() => anyhow::Error::from(error).context(format!(
            "it is unknown whether this took effect; send it again with --id {request_id} to find out"
        )),
        _ => error.into(),
    }
}

fn answer_text(
    answer: &Value,
    payout: &PlayerPayout,
    server: &KnownServer,
    args: &WithdrawalRequestArgs,
) -> anyhow::Result<String> {
    let assets = Assets::new(args.location.reader()?.assets()?);
    let amount = |amount| assets.with_symbol(server.asset, amount);
    let next = match answer["stage"].as_str() {
        Some("awaiting_approval") => "  it is above chain.pay_at_once and waits for an approval\n",
        _ => "",
    };
    let id = text(&answer["withdrawal"]);
    Ok(format!(
        "{} {id}\n  {} to {}, and at most {} for gas\n{next}\nNext:\n  {} withdrawals show {id} --dir {}\n",
        Paint::stdout().good("requested"),
        amount(payout.amount),
        payout.to,
        amount(payout.fee_cap),
        invocation(),
        args.location.base().display(),
    ))
}
