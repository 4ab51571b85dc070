//! `bankroll search`: the records that are about a key, a wallet or a reference.

use anyhow::Context;
use bankroll_ledger::{Name, Namespace, Scope};
use bankroll_store::{Cursor, KeyQuery, SearchQuery, SearchSubject};
use bankroll_terminal::{self as terminal, Exit, Paint, UsageError};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    journal::{self, DisplayContext, entry_json},
    location::LocationArgs,
};

#[derive(Debug, Args)]
#[command(override_usage = "bankroll search [OPTIONS] --key KEY (or --wallet, --reference, --tx)")]
#[command(after_help = "\
Examples:
  bankroll search --key spawn-81
  bankroll search --key spawn-81 --namespace client --scope arena --json
  bankroll search --wallet 0xab12 --descending --limit 20
  bankroll search --tx 0x5f3a...
  bankroll search --reference eip155:1:0x5f...  a deposit, an intent, a transaction, a hand or a block

A key belongs to a namespace and a server; without these, every key with that
text is found. `bankroll explain` also follows holds and reversals.")]
pub struct SearchArgs {
    #[command(flatten)]
    what: SearchFor,
    /// With --key: only in this namespace
    #[arg(long, value_name = "NAMESPACE", value_parser = journal::parse_namespace, requires = "key")]
    namespace: Option<Namespace>,
    /// With --key: only of this game server; @house for the operator's own
    #[arg(long, value_name = "SERVER", requires = "key")]
    scope: Option<Scope>,
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
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// A player or wallet
    #[arg(long, value_name = "WALLET")]
    wallet: Option<String>,
    /// A reference of any kind
    #[arg(long, value_name = "REFERENCE")]
    reference: Option<String>,
    /// A transaction on chain
    #[arg(long, value_name = "HASH")]
    tx: Option<String>,
}

impl SearchArgs {
    fn subject(&self) -> anyhow::Result<SearchSubject> {
        let SearchFor { key, wallet, reference, tx } = &self.what;
        let by_key = key
            .clone()
            .map(|text| SearchSubject::Key(KeyQuery { text, namespace: self.namespace, scope: self.scope.clone() }));
        let by_wallet = wallet.as_deref().map(parse_wallet).transpose()?.map(SearchSubject::Wallet);
        let by_reference = reference.clone().map(SearchSubject::Reference);
        let by_tx = tx.clone().map(SearchSubject::Transaction);
        let subject = by_key.or(by_wallet).or(by_reference).or(by_tx);
        Ok(subject.ok_or_else(|| UsageError("give one of --key, --wallet, --reference or --tx".into()))?)
    }
}

/// A wallet as people paste it: the ledger's names have no upper case.
pub fn parse_wallet(text: &str) -> anyhow::Result<Name> {
    Ok(text.to_lowercase().parse().map_err(|error| UsageError(format!("{text:?}: {error}")))?)
}

pub fn run(args: &SearchArgs, json: bool) -> anyhow::Result<Exit> {
    let subject = args.subject()?;
    let after: Option<Cursor> = args.after.as_ref().map(|text| text.parse()).transpose().context("--after")?;
    let reader = args.location.reader()?;
    let query = SearchQuery { subject, descending: args.descending, after, most: args.limit as usize };
    let page = reader.search(&query)?;
    let display = DisplayContext::new(&reader)?;
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
    if page.items.is_empty() {
        text.push_str("no matches; give the full key, reference or wallet\n");
    }
    if let Some(next) = next {
        text.push_str(&paint.quiet(&format!("\nmore: --after {next}\n")));
    }
    terminal::answer(&text)?;
    Ok(Exit::Ok)
}
