//! `bankroll accounts show`.

use std::{fmt::Write, path::PathBuf};

use crate::wallet_name::wallet_name;
use bankroll_ledger::{Account, AccountId, AccountName, Hold, Role, Roles, Side};
use bankroll_store::Reader;
use bankroll_terminal::{self as terminal, Assets, NotFound, Paint, UsageError, base_units, when};
use clap::Args;
use serde_json::{Value, json};

use super::{account_json, by_api};
use crate::location::LocationArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll accounts show 3
  bankroll accounts show arena/world/1 --dir bankroll-demo
  bankroll accounts show @house/suspense/1 --json

A name is server/kind/asset or server/kind/asset/owner; the asset is its number.")]
pub struct AccountShowArgs {
    /// The account's number or name
    #[arg(value_name = "NAME|ID")]
    account: String,
    /// Ask the Funds API with this key file, instead of reading the books
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    #[command(flatten)]
    location: LocationArgs,
}

/// All that `accounts show` prints about an account.
struct AccountDetails {
    account: Account,
    holds: Vec<Hold>,
    debt: Option<Account>,
}

pub fn run(args: &AccountShowArgs, json: bool) -> anyhow::Result<()> {
    if let Some(key) = &args.key {
        return by_api::show(&account_name(&args.account)?, &args.location, key, json);
    }
    let reader = args.location.reader()?;
    let assets = Assets::new(reader.assets()?);
    let account = find(&reader, &args.account)?;
    let holds = reader.open_holds(account.id)?;
    let debt = account.debt.map(|debt| reader.account(debt)).transpose()?.flatten();
    let details = AccountDetails { account, holds, debt };
    if json { terminal::answer_json(&details.json(&assets)) } else { terminal::answer(&details.text(&assets)?) }
}

pub fn find(reader: &Reader, text: &str) -> anyhow::Result<Account> {
    let found = if let Ok(id) = text.parse() {
        reader.account(AccountId(id))?
    } else {
        reader.account_named(&account_name(text)?)?
    };
    Ok(found.ok_or_else(|| NotFound(format!("there is no account {text}; `bankroll accounts list` shows all")))?)
}

/// An account's name as people paste it: the owner may be an address with its checksum.
fn account_name(text: &str) -> anyhow::Result<AccountName> {
    let (before, owner) = match text.rsplit_once('/') {
        Some((before, owner)) if before.matches('/').count() == 2 => (before, owner),
        _ => return Ok(text.parse().map_err(|error| UsageError(format!("{text:?}: {error}")))?),
    };
    let owner = wallet_name(owner).map_err(|error| UsageError(format!("{text:?}: {error}")))?;
    let name = format!("{before}/{owner}");
    Ok(name.parse().map_err(|error| UsageError(format!("{text:?}: {error}")))?)
}

impl AccountDetails {
    fn json(&self, assets: &Assets) -> Value {
        let policy = &self.account.policy;
        let hold = |hold: &Hold| {
            json!({
                "id": hold.id, "remaining": hold.remaining, "expires": hold.expires, "settler": hold.settler,
            })
        };
        let mut value = account_json(&self.account, assets);
        value["holds"] = self.holds.iter().map(hold).collect();
        value["policy"] = json!({
            "deposit": roles(policy.deposit), "withdraw": roles(policy.withdraw), "transfer": roles(policy.transfer),
        });
        value["debt"] = json!(self.debt.as_ref().map(|debt| account_json(debt, assets)));
        value
    }

    fn text(&self, assets: &Assets) -> Result<String, std::fmt::Error> {
        let (account, asset) = (&self.account, self.account.name.asset);
        let amount = |amount| format!("{}  ({})", assets.with_symbol(asset, amount), base_units(amount));
        let side = match account.name.kind.side() {
            Side::Credit => "credit side: what we owe",
            Side::Debit => "debit side: what we own",
        };
        let mut text = String::new();
        writeln!(text, "{}", Paint::stdout().strong(&account.name.to_string()))?;
        writeln!(text, "  number     {}; {side}", account.id)?;
        writeln!(text, "  balance    {}", amount(account.balance))?;
        writeln!(text, "  held       {}", amount(account.held))?;
        writeln!(text, "  available  {}", amount(account.available()))?;
        for hold in &self.holds {
            writeln!(text, "  hold {}  {}, {}", hold.id, amount(hold.remaining), ends(hold))?;
        }
        let debt = self.debt.as_ref().map(|debt| format!("{} in {}", amount(debt.balance), debt.name));
        writeln!(text, "  debt       {}", debt.unwrap_or_else(|| "no debt account".into()))?;
        writeln!(text, "  may put money in:    {}", words(account.policy.deposit))?;
        writeln!(text, "  may hold, pay out:   {}", words(account.policy.withdraw))?;
        writeln!(text, "  may move money out:  {}", words(account.policy.transfer))?;
        Ok(text)
    }
}

fn ends(hold: &Hold) -> String {
    let settler = match hold.settler {
        Role::System => "a payout: settled by Bankroll alone".into(),
        role => format!("settled by {} or Bankroll", word(role)),
    };
    match hold.expires {
        Some(at) => format!("{settler}, ends at {}", when::show(at)),
        None => settler,
    }
}

fn roles(set: Roles) -> Vec<Role> {
    Role::ALL.into_iter().filter(|role| set.has(*role)).collect()
}

fn words(set: Roles) -> String {
    let all: Vec<&str> = roles(set).into_iter().map(word).collect();
    if all.is_empty() { "no role".into() } else { all.join(", ") }
}

const fn word(role: Role) -> &'static str {
    match role {
        Role::Indexer => "deposits flow",
        Role::Admin => "operators (confirmed)",
        Role::Developer => "developer",
        Role::GameServer => "game server",
        Role::User => "player",
        Role::Tables => "poker operator",
        Role::System => "Bankroll",
    }
}
