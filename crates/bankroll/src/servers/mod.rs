//! `bankroll servers`: game servers, as their owner and as they themselves see them.

mod pause;
mod session;
mod set;

use bankroll_ledger::Name;
use bankroll_terminal::{self as terminal, Exit, table};
use clap::{Args, Subcommand};
use serde_json::Value;

use crate::funds_call::{OwnerArgs, ask, in_path, list, text};
use pause::{PauseArgs, ResumeArgs};
use session::{RegisterArgs, SessionArgs};
use set::SetArgs;

pub const EXAMPLES: &str = "\
Examples:
  bankroll servers list --dir casino
  bankroll servers pause arena --spawns --dir casino
  bankroll servers session arena --key arena.key --dir casino";

#[derive(Debug, Subcommand)]
pub enum ServersCommand {
    /// List the game servers
    List(ServerListArgs),
    /// Show the terms, addresses and pauses of a game server
    Show(ServerShowArgs),
    /// Pause a game server: deposits, spawns, withdrawals, or all of it
    Pause(PauseArgs),
    /// End pauses of a game server
    Resume(ResumeArgs),
    /// Change the developer, the labels or the players' addresses of a game server
    Set(SetArgs),
    /// Register a game server with its own key, or change its terms
    Register(RegisterArgs),
    /// Open a session of a game server, for calls with curl
    Session(SessionArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll servers list --dir casino
  bankroll servers list --dir casino --json")]
pub struct ServerListArgs {
    #[command(flatten)]
    owner: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll servers show arena --dir casino
  bankroll servers show arena --dir casino --json")]
pub struct ServerShowArgs {
    /// The name of the server
    #[arg(value_name = "NAME")]
    name: Name,
    #[command(flatten)]
    owner: OwnerArgs,
}

pub fn run(command: &ServersCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        ServersCommand::List(args) => show_all(args, json),
        ServersCommand::Show(args) => show(args, json),
        ServersCommand::Pause(args) => pause::pause(args, json),
        ServersCommand::Resume(args) => pause::resume(args, json),
        ServersCommand::Set(args) => set::set(args, json),
        ServersCommand::Register(args) => session::register(args, json),
        ServersCommand::Session(args) => session::open(args, json),
    }
    .map(|()| Exit::Ok)
}

fn show_all(args: &ServerListArgs, json: bool) -> anyhow::Result<()> {
    let answer = ask(args.owner.connect()?, "/v1/servers")?;
    if json {
        return terminal::answer_json(&answer);
    }
    let servers = list(&answer, "servers")?;
    if servers.is_empty() {
        return terminal::answer("no game server is registered\n");
    }
    let fields = ["server", "chain", "asset", "status", "version", "deposit_address"];
    let mut rows = table(&["SERVER", "CHAIN", "ASSET", "STATUS", "VERSION", "DEPOSITS TO"], &[2, 4]);
    for server in servers {
        rows.add_row(fields.map(|field| text(&server[field])));
    }
    terminal::answer(&rows.trim_fmt())
}

fn show(args: &ServerShowArgs, json: bool) -> anyhow::Result<()> {
    let path = format!("/v1/servers/{}", in_path(args.name.as_str()));
    let answer = ask(args.owner.connect()?, &path)?;
    if json { terminal::answer_json(&answer) } else { terminal::answer(&sheet(&answer)) }
}

/// One line for each field; what is paused is in `status`.
fn sheet(server: &Value) -> String {
    let fields = server.as_object().into_iter().flatten().filter(|(_, value)| !value.is_object());
    fields.map(|(name, value)| format!("{:<18} {}\n", name.replace('_', " "), text(value))).collect()
}
