//! Who they are, and proposals about them.

use bankroll_ledger::Name;
use bankroll_orders::Address;
use bankroll_terminal::{self as terminal, Paint, table, whole};
use clap::Args;
use serde_json::{Value, json};

use super::{OperatorArgs, PersonArgs, PersonChangeArgs};
use crate::{
    funds_call::{OwnerArgs, RetryArgs, ask, change, in_path, list, text},
    proposals::propose,
};

const ROLES: [&str; 6] = ["viewer", "support", "operator", "approver", "policy-admin", "owner"];

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll operators add omar --role owner --dir casino \\
    --address 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266
  ... --role operator --role approver    a person may have several roles

`bankroll keys auth FILE` makes such a key and prints its address. The first
owner adds the second person alone; from then on others must confirm.")]
pub struct AddArgs {
    /// The name of the person
    #[arg(value_name = "NAME")]
    name: Name,
    /// The address of their key
    #[arg(long, value_name = "ADDRESS")]
    address: Address,
    /// A role; may occur several times
    #[arg(long, value_name = "ROLE", required = true, value_parser = ROLES)]
    role: Vec<String>,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll operators set-roles omar --role viewer --dir casino

The roles replace all that the person has.")]
pub struct SetRolesArgs {
    /// The person
    #[arg(value_name = "NAME")]
    name: Name,
    /// A role; may occur several times
    #[arg(long, value_name = "ROLE", required = true, value_parser = ROLES)]
    role: Vec<String>,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll operators add-key omar --dir casino \\
    --address 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266

`bankroll keys auth FILE` makes such a key and prints its address.")]
pub struct AddKeyArgs {
    /// The person
    #[arg(value_name = "NAME")]
    name: Name,
    /// The address of the key
    #[arg(long, value_name = "ADDRESS")]
    address: Address,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll operators quorum 1 --dir casino
  bankroll operators quorum 3 --dir casino

Two people by default. A studio of one sets 1: one signature is enough then,
and `bankroll doctor` shows it.")]
pub struct QuorumArgs {
    /// How many people
    #[arg(value_name = "N", value_parser = whole::<u8>(1..=5, "the number of people"))]
    people: u8,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

pub fn list_all(args: &OperatorArgs, json: bool) -> anyhow::Result<()> {
    let answer = ask(args.by.connect()?, "/v1/operators")?;
    if json {
        return terminal::answer_json(&answer);
    }
    let mut rows = table(&["PERSON", "ROLES", "STATUS", "KEYS"], &[]);
    for person in list(&answer, "people")? {
        let status = if person["suspended_at"].is_null() { "active" } else { "suspended" };
        let valid = list(person, "keys")?.iter().filter(|key| key["revoked_at"].is_null());
        let keys: Vec<String> = valid.map(|key| text(&key["address"])).collect();
        rows.add_row([text(&person["person"]), words(&person["roles"]), status.to_owned(), keys.join(" ")]);
    }
    let quorum = text(&answer["quorum"]);
    terminal::answer(&format!("{}\n{quorum} must sign a proposal, its author included\n", rows.trim_fmt()))
}

pub fn show(args: &PersonArgs, json: bool) -> anyhow::Result<()> {
    let person = ask(args.by.connect()?, &format!("/v1/operators/{}", in_path(args.name.as_str())))?;
    if json { terminal::answer_json(&person) } else { terminal::answer(&sheet(&person)?) }
}

pub fn add(args: &AddArgs, json: bool) -> anyhow::Result<()> {
    let (person, address, roles) = (&args.name, args.address, roles(&args.role));
    let content = json!({ "kind": "add_person", "person": person, "roles": roles, "address": address });
    propose(&args.by, &args.retry, &content, json)
}

pub fn set_roles(args: &SetRolesArgs, json: bool) -> anyhow::Result<()> {
    let content = json!({ "kind": "set_roles", "person": args.name, "roles": roles(&args.role) });
    propose(&args.by, &args.retry, &content, json)
}

pub fn add_key(args: &AddKeyArgs, json: bool) -> anyhow::Result<()> {
    let content = json!({ "kind": "add_key", "person": args.name, "address": args.address });
    propose(&args.by, &args.retry, &content, json)
}

pub fn reinstate(args: &PersonChangeArgs, json: bool) -> anyhow::Result<()> {
    propose(&args.by, &args.retry, &json!({ "kind": "reinstate", "person": args.name }), json)
}

pub fn quorum(args: &QuorumArgs, json: bool) -> anyhow::Result<()> {
    propose(&args.by, &args.retry, &json!({ "kind": "set_quorum", "quorum": args.people }), json)
}

pub fn suspend(args: &PersonChangeArgs, json: bool) -> anyhow::Result<()> {
    let path = format!("/v1/operators/{}/suspend", in_path(args.name.as_str()));
    let person = change(args.by.connect()?, "POST", &path, Some(&json!({})), &args.retry)?;
    if json {
        return terminal::answer_json(&person);
    }
    terminal::answer(&format!("{} {}\n", Paint::stdout().good("suspended"), args.name))
}

/// As the API writes them.
fn roles(given: &[String]) -> Vec<String> {
    given.iter().map(|role| role.replace('-', "_")).collect()
}

fn words(values: &Value) -> String {
    values.as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(", ")
}

fn sheet(person: &Value) -> anyhow::Result<String> {
    let mut lines = format!(
        "person  {}\nroles   {}\nrights  {}\nsince   {}\n",
        text(&person["person"]),
        words(&person["roles"]),
        words(&person["rights"]),
        text(&person["since"]),
    );
    if let Some(at) = person["suspended_at"].as_str() {
        lines += &format!("suspended since {at}\n");
    }
    for key in list(person, "keys")? {
        let end = key["revoked_at"].as_str().map(|at| format!(", revoked {at}")).unwrap_or_default();
        lines += &format!("key     {} since {}{end}\n", text(&key["address"]), text(&key["since"]));
    }
    Ok(lines)
}
