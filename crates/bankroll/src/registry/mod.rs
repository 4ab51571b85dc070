//! `bankroll registry`: chains, assets, wallets and keys of a deployment, as its owner reads and changes them.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `entries` | the arguments of each kind of entry, and the body that they become |
//! | `keys` | keys of game servers: their end, their revocation |
//! | `changes` | the list of changes |
//! | `listing` | entries as a table |

mod changes;
mod entries;
mod keys;
mod listing;

use bankroll_ledger::Name;
use bankroll_orders::Address;
use bankroll_terminal::{self as terminal, Exit, Paint};
use clap::{Args, Subcommand};
use serde_json::Value;

use crate::funds_call::{OwnerArgs, RetryArgs, ask, change, in_path, list};
use changes::ChangesArgs;
use entries::{AssetAddArgs, ChainAddArgs, CustodyKeyAddArgs, TreasuryAddArgs, WalletAddArgs};
use keys::ServerKeysCommand;
use listing::EntryKind;

pub const EXAMPLES: &str = "\
Examples:
  bankroll registry custody-keys add main --xpub xpub6C... --dir casino
  bankroll registry server-keys list --dir casino
  bankroll registry changes --dir casino

Each change is signed with owner.key of the folder, or with --key FILE. A node
may run meanwhile: the commands ask it.";

#[derive(Debug, Subcommand)]
pub enum RegistryCommand {
    /// Chains that servers and wallets use
    #[command(subcommand, after_help = "Examples:\n  bankroll registry chains list --dir casino")]
    Chains(ChainsCommand),
    /// Coins and tokens of those chains
    #[command(subcommand, after_help = "Examples:\n  bankroll registry assets list --dir casino")]
    Assets(AssetsCommand),
    /// Wallets whose keys are ours
    #[command(subcommand, after_help = "Examples:\n  bankroll registry wallets list --dir casino")]
    Wallets(WalletsCommand),
    /// Public halves of the keys that the signer keeps
    #[command(subcommand, after_help = "Examples:\n  bankroll registry custody-keys list --dir casino")]
    CustodyKeys(CustodyKeysCommand),
    /// Keys that game servers may register and act with
    #[command(subcommand, after_help = "Examples:\n  bankroll registry server-keys list --dir casino")]
    ServerKeys(ServerKeysCommand),
    /// Addresses of the operator's own capital
    #[command(subcommand, after_help = "Examples:\n  bankroll registry treasury list --dir casino")]
    Treasury(TreasuryCommand),
    /// List the changes of the registry, the newest first
    Changes(ChangesArgs),
}

#[derive(Debug, Args)]
pub struct EntriesArgs {
    #[command(flatten)]
    owner: OwnerArgs,
}

macro_rules! entries_command {
    ($name:ident, $example:literal, $list:literal, $add:literal, $args:ty) => {
        #[derive(Debug, Subcommand)]
        pub enum $name {
            #[doc = $list]
            #[command(after_help = $example)]
            List(EntriesArgs),
            #[doc = $add]
            Add($args),
        }
    };
}

entries_command!(
    ChainsCommand,
    "Examples:\n  bankroll registry chains list --dir casino --json",
    "List the chains",
    "Register a chain",
    ChainAddArgs
);
entries_command!(
    AssetsCommand,
    "Examples:\n  bankroll registry assets list --dir casino --json",
    "List the assets",
    "Register a coin or a token",
    AssetAddArgs
);
entries_command!(
    WalletsCommand,
    "Examples:\n  bankroll registry wallets list --dir casino --json",
    "List our wallets",
    "Register one of our wallets",
    WalletAddArgs
);
entries_command!(
    CustodyKeysCommand,
    "Examples:\n  bankroll registry custody-keys list --dir casino --json",
    "List the custody keys",
    "Register a custody key",
    Box<CustodyKeyAddArgs>
);
#[derive(Debug, Subcommand)]
pub enum TreasuryCommand {
    /// List the addresses of the operator's capital
    #[command(after_help = "Examples:\n  bankroll registry treasury list --dir casino --json")]
    List(EntriesArgs),
    /// Register an address of the operator's capital
    Add(TreasuryAddArgs),
    /// Remove an address of the operator's capital
    Remove(TreasuryRemoveArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll registry treasury remove --chain eip155:1 --dir casino \\
    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266

Its payments are no longer the operator's capital.")]
pub struct TreasuryRemoveArgs {
    /// The address that pays
    #[arg(value_name = "ADDRESS")]
    address: Address,
    /// The chain that it pays on
    #[arg(long, value_name = "CHAIN")]
    chain: Name,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    owner: OwnerArgs,
}

/// What a command adds, with the owner's key.
struct NewEntry<'a> {
    body: Value,
    retry: &'a RetryArgs,
    owner: &'a OwnerArgs,
}

pub fn run(command: &RegistryCommand, json: bool) -> anyhow::Result<Exit> {
    use EntryKind::{Assets, Chains, CustodyKeys, ServerKeys, Treasury, Wallets};
    match command {
        RegistryCommand::Chains(ChainsCommand::List(args)) => show(Chains, args, json),
        RegistryCommand::Chains(ChainsCommand::Add(args)) => add(Chains, &args.entry(), json),
        RegistryCommand::Assets(AssetsCommand::List(args)) => show(Assets, args, json),
        RegistryCommand::Assets(AssetsCommand::Add(args)) => add(Assets, &args.entry(), json),
        RegistryCommand::Wallets(WalletsCommand::List(args)) => show(Wallets, args, json),
        RegistryCommand::Wallets(WalletsCommand::Add(args)) => add(Wallets, &args.entry(), json),
        RegistryCommand::CustodyKeys(CustodyKeysCommand::List(args)) => show(CustodyKeys, args, json),
        RegistryCommand::CustodyKeys(CustodyKeysCommand::Add(args)) => add(CustodyKeys, &args.entry(), json),
        RegistryCommand::ServerKeys(ServerKeysCommand::List(args)) => show(ServerKeys, args, json),
        RegistryCommand::ServerKeys(ServerKeysCommand::Add(args)) => add(ServerKeys, &args.entry(), json),
        RegistryCommand::ServerKeys(ServerKeysCommand::Update(args)) => keys::update(args, json),
        RegistryCommand::ServerKeys(ServerKeysCommand::Revoke(args)) => keys::revoke(args, json),
        RegistryCommand::Treasury(TreasuryCommand::List(args)) => show(Treasury, args, json),
        RegistryCommand::Treasury(TreasuryCommand::Add(args)) => add(Treasury, &args.entry(), json),
        RegistryCommand::Treasury(TreasuryCommand::Remove(args)) => remove(args, json),
        RegistryCommand::Changes(args) => changes::run(args, json),
    }
    .map(|()| Exit::Ok)
}

fn show(kind: EntryKind, args: &EntriesArgs, json: bool) -> anyhow::Result<()> {
    let answer = ask(args.owner.connect()?, &kind.path())?;
    if json {
        return terminal::answer_json(&answer);
    }
    terminal::answer(&kind.table(list(&answer, "entries")?))
}

fn add(kind: EntryKind, new: &NewEntry<'_>, json: bool) -> anyhow::Result<()> {
    let answer = change(new.owner.connect()?, "POST", &kind.path(), Some(&new.body), new.retry)?;
    report("added", &answer, json)
}

fn remove(args: &TreasuryRemoveArgs, json: bool) -> anyhow::Result<()> {
    let (chain, address) = (in_path(args.chain.as_str()), args.address.lower_hex());
    let path = format!("{}/{chain}/{address}", EntryKind::Treasury.path());
    let answer = change(args.owner.connect()?, "DELETE", &path, None, &args.retry)?;
    report("removed", &answer, json)
}

/// What a change has written; nothing, if it was so already.
fn report(verb: &str, answer: &Value, json: bool) -> anyhow::Result<()> {
    if json {
        return terminal::answer_json(answer);
    }
    let written = list(answer, "changes")?;
    if written.is_empty() {
        return terminal::answer("nothing had to change\n");
    }
    let verb = Paint::stdout().good(verb);
    let lines = written.iter().map(|entry| format!("{verb} {}\n", changes::entry_text(entry)));
    terminal::answer(&lines.collect::<String>())
}
