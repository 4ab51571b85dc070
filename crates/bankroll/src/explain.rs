//! `bankroll explain`: the timeline of a key, a wallet, a transaction, a deposit or an intent.

use bankroll_store::{KeyQuery, SearchSubject, Timeline};
use bankroll_terminal::{self as terminal, Exit, NotFound, Paint};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    journal::{self, DisplayContext, entry_json},
    location::LocationArgs,
    search::parse_wallet,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll explain spawn-81             a key: what it did, and whether it was reversed
  bankroll explain 0xab12               a wallet: the latest records about its money
  bankroll explain 0x5f3a... --json     a transaction, and what it paid or was credited
  bankroll explain eip155:1:0x5f...     a deposit, an intent or a hand

The kind of the value is found by looking it up; if it has several meanings,
each has its own timeline. Holds are followed to their end, reversals both ways.")]
pub struct ExplainArgs {
    /// A key, a wallet, a transaction hash, a deposit, an intent or a hand
    #[arg(value_name = "KEY|WALLET|TX")]
    what: String,
    /// Maximum number of records
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &ExplainArgs, json: bool) -> anyhow::Result<Exit> {
    let reader = args.location.reader()?;
    let text = &args.what;
    let mut meanings = vec![
        ("key", SearchSubject::Key(KeyQuery { text: text.clone(), namespace: None, scope: None })),
        ("transaction", SearchSubject::Transaction(text.clone())),
        ("deposit", SearchSubject::Deposit(text.clone())),
        ("intent", SearchSubject::Intent(text.clone())),
        ("hand", SearchSubject::Hand(text.clone())),
        ("block", SearchSubject::Block(text.clone())),
    ];
    // A text that is not a name is not a wallet either.
    meanings.extend(parse_wallet(text).ok().map(|wallet| ("wallet", SearchSubject::Wallet(wallet))));
    let mut timelines: Vec<(&str, Timeline)> = Vec::new();
    for (meaning, subject) in meanings {
        let timeline = reader.timeline(&subject, args.limit as usize)?;
        if !timeline.entries.is_empty() {
            timelines.push((meaning, timeline));
        }
    }
    if timelines.is_empty() {
        let what = format!(
            "no match for {text:?} among keys, wallets, transactions, deposits, intents, hands and blocks; \
             give the full value"
        );
        return Err(NotFound(what).into());
    }
    let display = DisplayContext::new(&reader)?;
    if json {
        let mut all = Vec::new();
        for (meaning, timeline) in &timelines {
            let mut entries = Vec::new();
            for entry in &timeline.entries {
                entries.push(entry_json(entry, reader.reversal_of(entry.seq)?, &display));
            }
            all.push(json!({ "as": meaning, "entries": entries, "complete": timeline.complete }));
        }
        terminal::answer_json(&json!({ "what": text, "timelines": Value::from(all) }))?;
        return Ok(Exit::Ok);
    }
    let paint = Paint::stdout();
    let mut output = String::new();
    for (meaning, timeline) in &timelines {
        output.push_str(&format!("{}\n", paint.strong(&format!("{meaning} {text}"))));
        for entry in &timeline.entries {
            output.push_str(&journal::entry_text(entry, reader.reversal_of(entry.seq)?, &display, paint)?);
        }
        if !timeline.complete {
            output.push_str(&paint.quiet("there are more records: raise --limit, or use `bankroll search`\n"));
        }
    }
    terminal::answer(&output)?;
    Ok(Exit::Ok)
}
