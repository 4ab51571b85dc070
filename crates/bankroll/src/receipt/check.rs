//! `bankroll receipt check`: needs no books and no network, only the file and a published head.

use std::{fs, path::PathBuf};

use anyhow::Context;
use bankroll_ledger::{Record, merkle::Hash};
use bankroll_store::JournalEntry;
use bankroll_terminal::{self as terminal, Exit, Paint, UsageError};
use clap::Args;
use serde_json::json;

use super::file;
use crate::journal::{self, DisplayContext, entry_json};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll receipt check receipt.json --head 5b1c0f...
  bankroll receipt check receipt.json --json

With --head, from the publisher of the journal: exit code 0 if the receipt proves
that its record is in the journal of that head, 4 if it does not. Without --head
only the file itself is checked, which proves nothing about any journal: exit
code 1 at best.")]
pub struct ReceiptCheckArgs {
    /// The receipt file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The head that was published after the receipt's batch: 64 hexadecimal digits
    #[arg(long, value_name = "HASH")]
    head: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReceiptVerdict {
    Proven,
    /// The file is consistent, but no published head was given.
    OnlyConsistent,
    /// The file is consistent, but ends at another head.
    AnotherHead,
    /// The record is not part of the batch.
    Broken,
}

pub fn run(args: &ReceiptCheckArgs, json: bool) -> anyhow::Result<Exit> {
    let given = args.head.as_deref().map(|text| file::hash(text, "--head")).transpose();
    let given: Option<Hash> = given.map_err(|error| UsageError(error.to_string()))?;
    let text = fs::read_to_string(&args.file).with_context(|| format!("cannot read {}", args.file.display()))?;
    let (receipt, stated) = file::parse(&text).with_context(|| format!("{} is not a receipt", args.file.display()))?;
    let own = receipt.batch.head();
    let found = match given {
        _ if !receipt.proves_under(&own) || stated != own => ReceiptVerdict::Broken,
        None => ReceiptVerdict::OnlyConsistent,
        Some(head) if head == own => ReceiptVerdict::Proven,
        Some(_) => ReceiptVerdict::AnotherHead,
    };
    let record = Record::decode(&receipt.record).context("the receipt has a record that this program cannot read")?;
    let entry = JournalEntry { seq: receipt.seq, at: receipt.batch.at, record };
    let display = DisplayContext::without_books();
    let head = hex::encode(own);
    if json {
        terminal::answer_json(&json!({
            "proven": found == ReceiptVerdict::Proven, "consistent": found != ReceiptVerdict::Broken, "verdict": found.word(),
            "seq": receipt.seq, "batch": receipt.batch.number, "head": head,
            "record": entry_json(&entry, None, &display),
        }))?;
    } else {
        let paint = Paint::stdout();
        let what = journal::entry_text(&entry, None, &display, paint)?;
        terminal::answer(&format!("{what}{}\n", found.text(&head, receipt.batch.number, paint)))?;
    }
    Ok(match found {
        ReceiptVerdict::Proven => Exit::Ok,
        ReceiptVerdict::OnlyConsistent => Exit::Failed,
        ReceiptVerdict::AnotherHead | ReceiptVerdict::Broken => Exit::Unsound,
    })
}

impl ReceiptVerdict {
    const fn word(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::OnlyConsistent => "not_checked_against_a_head",
            Self::AnotherHead => "another_head",
            Self::Broken => "broken",
        }
    }

    fn text(self, head: &str, batch: u64, paint: Paint) -> String {
        match self {
            Self::Proven => format!(
                "{} this record is in the journal whose head after batch {batch} is {head}",
                paint.good("proven:")
            ),
            Self::OnlyConsistent => format!(
                "{} the file is internally consistent but unverified. Give the head that was published after batch \
                 {batch}: --head HASH. The file says it is {head}",
                paint.bad("not proven:")
            ),
            Self::AnotherHead => format!(
                "{} the file is internally consistent, but its head after batch {batch} is {head}, not the given one. \
                 Check that yours is the head after that batch",
                paint.bad("not proven:")
            ),
            Self::Broken => {
                format!(
                    "{} the record, its path to the root and the batch do not belong together",
                    paint.bad("broken:")
                )
            }
        }
    }
}
