//! `bankroll servers pause` and `resume`.

use bankroll_ledger::Name;
use bankroll_roles::requests::{FundsCall, FundsCallError, FundsClient};
use bankroll_terminal::{self as terminal, Paint};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    funds_call::{OwnerArgs, RetryArgs, in_path},
    proposals::propose,
};

const KINDS: [&str; 4] = ["deposits", "spawns", "withdrawals", "disabled"];

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll servers pause arena --spawns --dir casino
  bankroll servers pause arena --deposits --withdrawals --dir casino
  bankroll servers pause arena --disabled --dir casino

The pause counts for every call that begins after the answer. What is paused
already stays paused. Paused deposits are credited, but buy nothing; paused
withdrawals wait. --disabled closes the server: no buy-ins and no spawns, and
players can leave and be paid.")]
pub struct PauseArgs {
    /// The name of the server
    #[arg(value_name = "NAME")]
    name: Name,
    #[command(flatten)]
    what: PausedArgs,
    #[command(flatten)]
    owner: OwnerArgs,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
struct PausedArgs {
    /// Payments of players buy nothing
    #[arg(long)]
    deposits: bool,
    /// No player enters the game
    #[arg(long)]
    spawns: bool,
    /// Payouts wait
    #[arg(long)]
    withdrawals: bool,
    /// The server is closed
    #[arg(long)]
    disabled: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll servers resume arena --dir casino

Ends all pauses of the server. Unless one signature is enough here, this is a
proposal that others confirm (`bankroll proposals confirm`).")]
pub struct ResumeArgs {
    /// The name of the server
    #[arg(value_name = "NAME")]
    name: Name,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    owner: OwnerArgs,
}

pub fn pause(args: &PauseArgs, json: bool) -> anyhow::Result<()> {
    let PausedArgs { deposits, spawns, withdrawals, disabled } = args.what;
    let client = args.owner.connect()?;
    let changed = paused_too(&client, &args.name, [deposits, spawns, withdrawals, disabled]);
    client.close();
    answer(&args.name, &changed?, json)
}

pub fn resume(args: &ResumeArgs, json: bool) -> anyhow::Result<()> {
    let client = args.owner.connect()?;
    let changed = set(&client, &args.name, [false; 4]);
    client.close();
    match changed {
        // Others must agree: this person's part is the proposal.
        Err(FundsCallError::Refused(refusal)) if refusal.code == "confirmation_needed" => {
            let mut content: Value = KINDS.into_iter().map(|kind| (kind.to_owned(), json!(false))).collect();
            content["kind"] = json!("resume_server");
            content["server"] = json!(args.name);
            propose(&args.owner, &args.retry, &content, json)
        }
        changed => answer(&args.name, &changed?, json),
    }
}

/// What is paused already stays so: the request sets all four.
fn paused_too(client: &FundsClient, server: &Name, flags: [bool; 4]) -> Result<(Value, Value), FundsCallError> {
    let path = format!("/v1/servers/{}", in_path(server.as_str()));
    let now = client.call(FundsCall { method: "GET", path: &path, idempotency_key: None, body: None })?;
    let mut all = flags;
    for (flag, kind) in all.iter_mut().zip(KINDS) {
        *flag |= now["pauses"][kind] == true;
    }
    set(client, server, all)
}

/// The pauses, and the answer. Setting them again changes nothing, so each command has a new key.
fn set(client: &FundsClient, server: &Name, flags: [bool; 4]) -> Result<(Value, Value), FundsCallError> {
    let path = format!("/v1/servers/{}/pauses", in_path(server.as_str()));
    let pauses: Value = KINDS.into_iter().zip(flags).map(|(kind, flag)| (kind.to_owned(), json!(flag))).collect();
    let key = FundsClient::new_key()?;
    let call = FundsCall { method: "PUT", path: &path, idempotency_key: Some(&key), body: Some(&pauses) };
    client.call(call).map(|answer| (pauses, answer))
}

fn answer(server: &Name, (pauses, answer): &(Value, Value), json: bool) -> anyhow::Result<()> {
    if json {
        return terminal::answer_json(answer);
    }
    let paused: Vec<&str> = KINDS.into_iter().filter(|kind| pauses[kind] == true).collect();
    let paint = Paint::stdout();
    terminal::answer(&if paused.is_empty() {
        format!("{} {server}: nothing is paused\n", paint.good("active"))
    } else {
        format!("{} {server}: {}\n", paint.good("paused"), paused.join(", "))
    })
}
