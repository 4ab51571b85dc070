//! `bankroll search`: the records that are about a key, a wallet or a reference.

use crate::wallet_name::wallet_name;
use bankroll_ledger::{Name, Namespace, Scope};
use bankroll_store::{KeyQuery, SearchQuery, SearchSubject};
use bankroll_terminal::{self as terminal, Exit, NotFound, Paint, UsageError, Width};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    journal::{self, DisplayContext, entry_json},
    location::LocationArgs,
    statement::parse_cursor,
};

#[derive(Debug, Args)]
#[command(override_usage = "bankroll search [OPTIONS] --key KEY (or --wallet, --reference, --tx)")]
#[command(after_help = "\
Examples:
  bankroll search --key 0-2-000024278
  bankroll search --key 0-2-000024278 --namespace client --scope arena --json
  bankroll search --wallet 0x63fa... --descending --limit 20
  bankroll search --tx 0x5f3a...
  bankroll search --reference eip155:31337:0x5f3a...:native:0     a deposit
  bankroll search --reference wd-2f6e...                          a payout

A reference is a deposit, a payout's intent, a transaction, a hand or a block. A
key belongs to a namespace and a server; without these, every key with that text
is found. Exit code 3 if nothing is found. `bankroll explain` also follows holds and
reversals, and knows deposits and payouts that are not in the books yet.

`in` is money that came in (the player's balance and the wallet's custody rise),
`out` money that went out (both fall), `move` money inside the books. Hashes and
addresses are shortened in text; --wide and --json have them whole.")]
pub struct SearchArgs {
    #[command(flatten)]
    what: SearchFor,
    /// With --key: only in this namespace
    #[arg(long, value_name = "NAMESPACE", value_parser = journal::parse_namespace, requires = "key")]
    namespace: Option<Namespace>,
    /// With --key: only of this game server; @house for the operator's own
    #[arg(long, value_name = "SERVER", requires = "key")]
    scope: Option<Scope>,
    /// Show whole hashes and addresses, microseconds and base units
    #[arg(long)]
    wide: bool,
    /// Continue after this cursor
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// Maximum number of records
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = terminal::whole::<u32>(1..=10_000, "the limit"))]
    limit: u32,
    /// Newest first
    #[arg(long)]
    descending: bool,
    #[command(flatten)]
    location: LocationArgs,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct SearchFor {
    /// An idempotency key
    #[arg(long, value_name = "KEY", value_parser = not_empty)]
    key: Option<String>,
    /// A player or wallet
    #[arg(long, value_name = "WALLET", value_parser = wallet_name)]
    wallet: Option<Name>,
    /// A reference of any kind
    #[arg(long, value_name = "REFERENCE", value_parser = not_empty)]
    reference: Option<String>,
    /// A transaction on chain
    #[arg(long, value_name = "HASH", value_parser = transaction)]
    tx: Option<String>,
}

impl SearchArgs {
    fn subject(&self) -> anyhow::Result<SearchSubject> {
        let SearchFor { key, wallet, reference, tx } = &self.what;
        let by_key = key
            .clone()
            .map(|text| SearchSubject::Key(KeyQuery { text, namespace: self.namespace, scope: self.scope.clone() }));
        let by_wallet = wallet.clone().map(SearchSubject::Wallet);
        let by_reference = reference.clone().map(SearchSubject::Reference);
        let by_tx = tx.clone().map(SearchSubject::Transaction);
        let subject = by_key.or(by_wallet).or(by_reference).or(by_tx);
        Ok(subject.ok_or_else(|| UsageError("give one of --key, --wallet, --reference or --tx".into()))?)
    }
}

fn not_empty(text: &str) -> Result<String, String> {
    if text.is_empty() { Err("give the full text; an empty one matches nothing".into()) } else { Ok(text.to_owned()) }
}

/// A transaction's hash. Chains differ in its length, so only the digits are checked.
fn transaction(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err("a transaction's hash is 0x and hexadecimal digits; for other references use --reference".into());
    }
    Ok(text.to_owned())
}

pub fn run(args: &SearchArgs, json: bool) -> anyhow::Result<Exit> {
    if args.what.key.is_none() && (args.scope.is_some() || args.namespace.is_some()) {
        return Err(UsageError("--namespace and --scope belong to --key: remove them, or give --key".into()).into());
    }
    let subject = args.subject()?;
    let after = args.after.as_deref().map(parse_cursor).transpose()?;
    let reader = args.location.reader()?;
    let query = SearchQuery { subject, descending: args.descending, after, most: args.limit as usize };
    let page = reader.search(&query)?;
    if page.items.is_empty() {
        return Err(NotFound("no matches; give the full key, reference, wallet or hash".into()).into());
    }
    let display = DisplayContext::new(&reader)?.with_width(Width::of_flag(args.wide));
    let next = page.next.as_ref().map(ToString::to_string);
    if json {
        let mut found = Vec::new();
        for entry in &page.items {
            found.push(entry_json(entry, reader.reversal_of(entry.seq)?, &display));
        }
        terminal::answer_json(&json!({ "found": found, "next": next.map(Value::from) }))?;
        return Ok(Exit::Ok);
    }
    let paint = Paint::stdout();
    let mut text = String::new();
    for entry in &page.items {
        text.push_str(&journal::entry_text(entry, reader.reversal_of(entry.seq)?, &display, paint)?);
    }
    if let Some(next) = next {
        text.push_str(&paint.quiet(&format!("\nmore: --after {next}\n")));
    }
    terminal::answer(&text)?;
    Ok(Exit::Ok)
}
