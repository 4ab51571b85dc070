//! `bankroll receipt check`: no books, no network, nothing but the file and a head that somebody published.

use std::{fs, path::PathBuf};

use anyhow::Context;
use bankroll_ledger::{Record, merkle::Hash};
use bankroll_store::Entry;
use bankroll_terminal::{self as terminal, Exit, Paint, Usage};
use clap::Args;
use serde_json::json;

use super::file;
use crate::journal::{self, Shown, entry_json};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll receipt check receipt.json --head 5b1c0f...
  bankroll receipt check receipt.json --json

With --head, from whoever published it: exit code 0 if the receipt proves that
its record is in the journal of that head, 4 if it does not. Without --head only
the file itself can be checked, which proves nothing about any journal: exit
code 1 at the best.")]
pub struct CheckArgs {
    /// The receipt
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The head that was published after the receipt's batch, in hexadecimal digits
    #[arg(long, value_name = "HASH")]
    head: Option<String>,
}

/// What a check came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Proven,
    /// It hangs together, but nobody has said what to compare it with.
    OnlyConsistent,
    /// It hangs together, and ends at another head.
    AnotherHead,
    /// The record is not the one that the batch was made of.
    Broken,
}

pub fn run(args: &CheckArgs, json: bool) -> anyhow::Result<Exit> {
    let given = args.head.as_deref().map(|text| file::hash(text, "--head")).transpose();
    let given: Option<Hash> = given.map_err(|error| Usage(error.to_string()))?;
    let text = fs::read_to_string(&args.file).with_context(|| format!("cannot read {}", args.file.display()))?;
    let (receipt, said) = file::parse(&text).with_context(|| format!("{} is no receipt", args.file.display()))?;
    let own = receipt.batch.head();
    let found = match given {
        _ if !receipt.proves_under(&own) || said != own => Found::Broken,
        None => Found::OnlyConsistent,
        Some(head) if head == own => Found::Proven,
        Some(_) => Found::AnotherHead,
    };
    let record = Record::decode(&receipt.record).context("the receipt has a record that this program cannot read")?;
    let entry = Entry { seq: receipt.seq, at: receipt.batch.at, record };
    let shown = Shown::without_books();
    let head = hex::encode(own);
    if json {
        terminal::answer_json(&json!({
            "proven": found == Found::Proven, "consistent": found != Found::Broken, "verdict": found.word(),
            "seq": receipt.seq, "batch": receipt.batch.number, "head": head, "record": entry_json(&entry, None, &shown),
        }))?;
    } else {
        let paint = Paint::stdout();
        let what = journal::told(&entry, None, &shown, paint)?;
        terminal::answer(&format!("{what}{}\n", found.told(&head, receipt.batch.number, paint)))?;
    }
    Ok(match found {
        Found::Proven => Exit::Ok,
        Found::OnlyConsistent => Exit::Failed,
        Found::AnotherHead | Found::Broken => Exit::Unsound,
    })
}

impl Found {
    const fn word(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::OnlyConsistent => "not_checked_against_a_head",
            Self::AnotherHead => "another_head",
            Self::Broken => "broken",
        }
    }

    fn told(self, head: &str, batch: u64, paint: Paint) -> String {
        match self {
            Self::Proven => format!(
                "{} this record is in the journal whose head after batch {batch} is {head}",
                paint.good("proven:")
            ),
            Self::OnlyConsistent => format!(
                "{} the file hangs together, and anybody could have made it up. Compare with the head that was published \
                 after batch {batch}: --head HASH. By this file it is {head}",
                paint.bad("not proven:")
            ),
            Self::AnotherHead => format!(
                "{} the file hangs together, but its head after batch {batch} is {head}, and not the one you gave. Is yours \
                 the head after that very batch?",
                paint.bad("not proven:")
            ),
            Self::Broken => {
                format!("{} the record, its way to the root and the batch do not belong together", paint.bad("broken:"))
            }
        }
    }
}
