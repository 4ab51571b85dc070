//! What people decide about a deposit: `hold` at once, by one person; `release`, `confirm`, `refuse` and `assign` as
//! proposals, which others confirm.

use bankroll_ledger::Name;
use bankroll_terminal::{self as terminal, Paint, UsageError, invocation};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    funds_call::{GameServerArgs, OwnerArgs, RetryArgs, ask, change, in_path, text},
    proposals::propose,
    wallet_name::wallet_name,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll deposits hold eip155:1:0x5f3a...:native:0 --dir casino \\
    --reason \"the sender is on a list\"

At once: it is not credited until people decide. What is booked already cannot
be held. Next: bankroll deposits release, or refuse.")]
pub struct DepositHoldArgs {
    #[command(flatten)]
    about: DepositArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll deposits release eip155:1:0x5f3a...:native:0 --dir casino \\
    --reason \"the sender was checked\"

A proposal, which others confirm (`bankroll proposals confirm`). Then the books
credit the deposit by their rules. If the chain has replaced its block in the
meantime, nothing happens, and it is proposed again.")]
pub struct DepositReleaseArgs {
    #[command(flatten)]
    about: DepositArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll deposits confirm eip155:1:0x5f3a...:native:0 --dir casino \\
    --reason \"an explorer and our own node have it\"

For a deposit that one RPC node alone vouches for, or whose balance no node can
say: look at the transaction elsewhere first. The proposal is a release.")]
pub struct DepositConfirmArgs {
    #[command(flatten)]
    about: DepositArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll deposits refuse eip155:1:0x5f3a...:native:0 --dir casino \\
    --reason \"the sender is sanctioned\"

A proposal, which others confirm. A held deposit is then not credited; one in
suspense stays there, and its alert ends.")]
pub struct DepositRefuseArgs {
    #[command(flatten)]
    about: DepositArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(override_usage = "bankroll deposits assign <DEPOSIT> --player <WALLET> --reason <TEXT>\n        [OPTIONS]")]
#[command(after_help = "\
Examples:
  bankroll deposits assign eip155:1:0x5f3a...:native:0 --dir casino \\
    --player 0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266 \\
    --reason \"paid from an exchange, ticket 712\"

A proposal, which others confirm. The whole deposit goes from suspense to the
player's unallocated money at the server. If the chain drops it later, the books
take it back, and what was spent is the player's debt.")]
pub struct DepositAssignArgs {
    #[command(flatten)]
    about: DepositArgs,
    /// Whose it is: the wallet that the player is known by
    #[arg(long, value_name = "WALLET", value_parser = wallet_name)]
    player: Name,
    #[command(flatten)]
    server: GameServerArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

/// What every decision says.
#[derive(Debug, Args)]
struct DepositArgs {
    /// The deposit's id
    #[arg(value_name = "DEPOSIT", value_parser = deposit_id)]
    deposit: String,
    /// Why: it stays in the audit log
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    retry: RetryArgs,
}

pub fn hold(args: &DepositHoldArgs, json: bool) -> anyhow::Result<()> {
    let (DepositArgs { deposit, reason, retry }, by) = (&args.about, &args.by);
    let body = json!({ "reason": reason });
    let answer = change(by.connect()?, "POST", &format!("{}/hold", path(deposit)), Some(&body), retry)?;
    if json {
        return terminal::answer_json(&answer);
    }
    let (program, base) = (invocation(), by.location.base());
    let dir = base.display();
    terminal::answer(&format!(
        "{} {deposit}\n\nNext, when it is clear what it is:\n  \
         {program} deposits release {deposit} --reason TEXT --dir {dir}\n  \
         {program} deposits refuse {deposit} --reason TEXT --dir {dir}\n",
        Paint::stdout().good("held"),
    ))
}

pub fn release(args: &DepositReleaseArgs, json: bool) -> anyhow::Result<()> {
    decide("release_deposit", &args.about, &args.by, json)
}

pub fn refuse(args: &DepositRefuseArgs, json: bool) -> anyhow::Result<()> {
    decide("refuse_deposit", &args.about, &args.by, json)
}

pub fn confirm(args: &DepositConfirmArgs, json: bool) -> anyhow::Result<()> {
    let DepositArgs { deposit, reason, retry } = &args.about;
    let found = ask(args.by.connect()?, &path(deposit))?;
    if !matches!(found["doubt"].as_str(), Some("one_provider" | "balance_unknown")) {
        let message =
            format!("{deposit} does not wait for a second word about the chain; `deposits release` ends a hold");
        return Err(UsageError(message).into());
    }
    propose(&args.by, retry, &content("release_deposit", &found, reason), json)
}

pub fn assign(args: &DepositAssignArgs, json: bool) -> anyhow::Result<()> {
    let DepositArgs { deposit, reason, retry } = &args.about;
    let server = args.server.name(&args.by.location)?;
    let found = ask(args.by.connect()?, &path(deposit))?;
    let mut content = content("assign_deposit", &found, reason);
    content["amount"] = found["amount"].clone();
    content["server"] = server.as_str().into();
    content["player"] = args.player.as_str().into();
    propose(&args.by, retry, &content, json)
}

fn decide(kind: &str, about: &DepositArgs, by: &OwnerArgs, json: bool) -> anyhow::Result<()> {
    let found = ask(by.connect()?, &path(&about.deposit))?;
    propose(by, &about.retry, &content(kind, &found, &about.reason), json)
}

/// What is signed names the inclusion that the person has seen.
fn content(kind: &str, found: &Value, reason: &str) -> Value {
    json!({ "kind": kind, "deposit": text(&found["deposit"]), "inclusion": found["inclusion"], "reason": reason })
}

fn path(deposit: &str) -> String {
    format!("/v1/deposits/{}", in_path(deposit))
}

fn deposit_id(text: &str) -> Result<String, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let is_id = matches!(parts.as_slice(), [_, .., hash, _, position]
        if hash.starts_with("0x") && position.bytes().all(|byte| byte.is_ascii_digit()) && !position.is_empty());
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_id && is_plain && parts.len() >= 4 {
        Ok(text.to_lowercase())
    } else {
        Err("a deposit is written eip155:1:0x5f3a...:native:0, whole; `bankroll deposits show TX` prints it".to_owned())
    }
}
