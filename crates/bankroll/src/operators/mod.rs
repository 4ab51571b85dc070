//! `bankroll operators`: the people who run the deployment, their keys and sessions, and keys of programs.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `people` | who they are; what gives or lifts a right is a proposal |
//! | `sessions` | sessions and keys that stop at once |
//! | `program_keys` | keys with which programs read |

mod people;
mod program_keys;
mod sessions;

use bankroll_ledger::Name;
use bankroll_terminal::Exit;
use clap::{Args, Subcommand};

use crate::funds_call::{OwnerArgs, RetryArgs};
use people::{AddArgs, AddKeyArgs, QuorumArgs, SetRolesArgs};
use program_keys::ProgramKeysCommand;
use sessions::{RevokeKeyArgs, RevokeSessionArgs};

pub const EXAMPLES: &str = "\
Examples:
  bankroll operators list --dir casino
  bankroll operators add omar --role owner --dir casino \\
    --address 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266
  bankroll operators suspend omar --dir casino

What gives a right is a proposal that others confirm (`bankroll proposals`);
what takes one away counts at once. Each request is signed with owner.key of the
folder, or with --key FILE.";

#[derive(Debug, Subcommand)]
pub enum OperatorsCommand {
    /// List the people, and how many must agree
    #[command(after_help = "Examples:\n  bankroll operators list --dir casino --json")]
    List(OperatorArgs),
    /// Show a person: roles, rights, keys
    #[command(after_help = "Examples:\n  bankroll operators show omar --dir casino")]
    Show(PersonArgs),
    /// Propose a new person
    Add(AddArgs),
    /// Propose other roles for a person
    SetRoles(SetRolesArgs),
    /// Propose another key for a person
    AddKey(AddKeyArgs),
    /// Revoke a key of a person, for ever and at once
    RevokeKey(RevokeKeyArgs),
    /// Suspend a person at once: their keys and sessions stop
    #[command(after_help = "Examples:\n  bankroll operators suspend omar --dir casino")]
    Suspend(PersonChangeArgs),
    /// Propose to lift the suspension of a person
    #[command(after_help = "Examples:\n  bankroll operators reinstate omar --dir casino")]
    Reinstate(PersonChangeArgs),
    /// Propose how many people must agree, the author included
    Quorum(QuorumArgs),
    /// List open sessions: your own, or all if you manage people
    #[command(after_help = "Examples:\n  bankroll operators sessions --dir casino")]
    Sessions(OperatorArgs),
    /// Revoke a session at once
    RevokeSession(RevokeSessionArgs),
    /// Keys with which programs read
    #[command(subcommand, after_help = "Examples:\n  bankroll operators program-keys list --dir casino")]
    ProgramKeys(ProgramKeysCommand),
}

#[derive(Debug, Args)]
pub struct OperatorArgs {
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
pub struct PersonArgs {
    /// The person
    #[arg(value_name = "NAME")]
    name: Name,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
pub struct PersonChangeArgs {
    /// The person
    #[arg(value_name = "NAME")]
    name: Name,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

pub fn run(command: &OperatorsCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        OperatorsCommand::List(args) => people::list_all(args, json),
        OperatorsCommand::Show(args) => people::show(args, json),
        OperatorsCommand::Add(args) => people::add(args, json),
        OperatorsCommand::SetRoles(args) => people::set_roles(args, json),
        OperatorsCommand::AddKey(args) => people::add_key(args, json),
        OperatorsCommand::Reinstate(args) => people::reinstate(args, json),
        OperatorsCommand::Quorum(args) => people::quorum(args, json),
        OperatorsCommand::Suspend(args) => people::suspend(args, json),
        OperatorsCommand::RevokeKey(args) => sessions::revoke_key(args, json),
        OperatorsCommand::Sessions(args) => sessions::list_open(args, json),
        OperatorsCommand::RevokeSession(args) => sessions::revoke(args, json),
        OperatorsCommand::ProgramKeys(command) => program_keys::run(command, json),
    }
    .map(|()| Exit::Ok)
}
