//! `bankroll explain`: one timeline of all that happened to a key, a wallet, a transaction, a deposit or an intent.

use bankroll_store::{KeyQuery, Subject, Timeline};
use bankroll_terminal::{self as terminal, Exit, NotFound, Paint};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    journal::{self, Shown, entry_json},
    place::Place,
    search::parse_wallet,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll explain spawn-81             a key: what it did, and whether it was taken back
  bankroll explain 0xab12               a wallet: the newest things that happened to its money
  bankroll explain 0x5f3a... --json     a transaction, and what it paid or was credited
  bankroll explain dep_01h...           a deposit, an intent or a hand

What the text is, is found out by looking: if it is several of these, each has
its own timeline. Holds are followed to their end, reversals both ways.")]
pub struct ExplainArgs {
    /// A key, a wallet, a transaction hash, a deposit, an intent or a hand
    #[arg(value_name = "KEY|WALLET|TX")]
    what: String,
    /// How many records at the most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    #[command(flatten)]
    place: Place,
}

pub fn run(args: &ExplainArgs, json: bool) -> anyhow::Result<Exit> {
    let reader = args.place.reader()?;
    let text = &args.what;
    let mut meanings = vec![
        ("key", Subject::Key(KeyQuery { text: text.clone(), namespace: None, scope: None })),
        ("transaction", Subject::Transaction(text.clone())),
        ("deposit", Subject::Deposit(text.clone())),
        ("intent", Subject::Intent(text.clone())),
        ("hand", Subject::Hand(text.clone())),
        ("block", Subject::Block(text.clone())),
    ];
    // What is no name is nobody's wallet.
    meanings.extend(parse_wallet(text).ok().map(|wallet| ("wallet", Subject::Wallet(wallet))));
    let mut timelines: Vec<(&str, Timeline)> = Vec::new();
    for (meaning, subject) in meanings {
        let timeline = reader.timeline(&subject, args.limit as usize)?;
        if !timeline.entries.is_empty() {
            timelines.push((meaning, timeline));
        }
    }
    if timelines.is_empty() {
        let what = format!(
            "nothing is known of {text:?}: it is no key, wallet, transaction, deposit, intent, hand or block here; check that it is whole"
        );
        return Err(NotFound(what).into());
    }
    let shown = Shown::new(&reader)?;
    if json {
        let mut all = Vec::new();
        for (meaning, timeline) in &timelines {
            let mut entries = Vec::new();
            for entry in &timeline.entries {
                entries.push(entry_json(entry, reader.reversal_of(entry.seq)?, &shown));
            }
            all.push(json!({ "as": meaning, "entries": entries, "complete": timeline.complete }));
        }
        terminal::answer_json(&json!({ "what": text, "timelines": Value::from(all) }))?;
        return Ok(Exit::Ok);
    }
    let paint = Paint::stdout();
    let mut told = String::new();
    for (meaning, timeline) in &timelines {
        told.push_str(&format!("{}\n", paint.strong(&format!("{meaning} {text}"))));
        for entry in &timeline.entries {
            told.push_str(&journal::told(entry, reader.reversal_of(entry.seq)?, &shown, paint)?);
        }
        if !timeline.complete {
            told.push_str(&paint.quiet("there is more: raise --limit, or page through `bankroll search`\n"));
        }
    }
    terminal::answer(&told)?;
    Ok(Exit::Ok)
}
