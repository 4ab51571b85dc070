//! `bankroll receipt check`: needs no books and no network, only the file and a published head.

use std::{fs, io::ErrorKind, path::PathBuf};

use anyhow::Context;
use bankroll_ledger::{Record, merkle::Hash};
use bankroll_store::JournalEntry;
use bankroll_terminal::{self as terminal, Exit, NotFound, Paint, UsageError};
use clap::Args;
use serde_json::{Value, json};

use super::{
    compare::{Difference, differences},
    file::{self, ParsedReceipt},
};
use crate::journal::{self, DisplayContext, proven_json};

/// Differences that the text shows.
const DIFFERENCES_SHOWN: usize = 5;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll receipt check receipt.json --head 5b1c0f...
  bankroll receipt check receipt.json --json

With --head, from the publisher of the journal: exit code 0 if the receipt proves
that its record is in the journal of that head, 4 if it does not. Without --head
only the file itself is checked, which proves nothing about any journal: exit
code 1 at best.

The readable part is made again from the record and compared: a file that says
something else, or has a key that no receipt has, is refused with exit code 4. A
file without a readable part is checked like any other.")]
pub struct ReceiptCheckArgs {
    /// The receipt file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The head that was published after the receipt's batch: 64 hexadecimal digits, with or without 0x
    #[arg(long, value_name = "HASH")]
    head: Option<String>,
}

#[derive(Clone, PartialEq, Eq)]
enum ReceiptVerdict {
    Proven,
    /// The file is consistent, but no published head was given.
    OnlyConsistent,
    /// The file is consistent, but ends at another head.
    AnotherHead,
    /// The record is not part of the batch.
    Broken,
    /// The file says these things that its record does not.
    Altered(Vec<Difference>),
}

pub fn run(args: &ReceiptCheckArgs, json: bool) -> anyhow::Result<Exit> {
    let given = args.head.as_deref().map(|text| file::hash(text, "--head")).transpose();
    let given: Option<Hash> = given.map_err(|error| UsageError(error.to_string()))?;
    let bytes = match fs::read(&args.file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(NotFound(format!("there is no file {}", args.file.display())).into());
        }
        read => read.with_context(|| format!("cannot read {}", args.file.display()))?,
    };
    let not_receipt = || format!("{} is not a receipt", args.file.display());
    let text = String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("{}: it is not text", not_receipt()))?;
    let parsed = file::parse(&text).with_context(not_receipt)?;
    let receipt = &parsed.receipt;
    let own = receipt.batch.head();
    let record = Record::decode(&receipt.record).ok();
    let entry = record.map(|record| JournalEntry { seq: receipt.seq, at: receipt.batch.at, record });
    let is_whole = receipt.proves_under(&own) && parsed.head == own;
    let altered = entry.as_ref().map(|entry| altered(&parsed, entry)).unwrap_or_default();
    let found = match given {
        _ if !is_whole => ReceiptVerdict::Broken,
        _ if entry.is_none() => {
            anyhow::bail!("{}: its record is of a newer program; update this one", args.file.display())
        }
        _ if !altered.is_empty() => ReceiptVerdict::Altered(altered),
        None => ReceiptVerdict::OnlyConsistent,
        Some(head) if head == own => ReceiptVerdict::Proven,
        Some(_) => ReceiptVerdict::AnotherHead,
    };
    let head = hex::encode(own);
    // A record that its own file does not prove is not shown.
    let shown = entry.filter(|_| found != ReceiptVerdict::Broken);
    if json {
        let differences = if let ReceiptVerdict::Altered(all) = &found { all.as_slice() } else { &[] };
        let differences: Vec<Value> = differences
            .iter()
            .map(|one| json!({ "path": one.path, "file_says": one.file_says, "record_says": one.record_says }))
            .collect();
        let is_consistent = !matches!(found, ReceiptVerdict::Broken | ReceiptVerdict::Altered(_));
        terminal::answer_json(&json!({
            "proven": found == ReceiptVerdict::Proven, "consistent": is_consistent, "verdict": found.word(),
            "seq": receipt.seq, "batch": receipt.batch.number, "head": head, "differences": differences,
            "record": shown.as_ref().map(proven_json),
        }))?;
    } else {
        let paint = Paint::stdout();
        let display = DisplayContext::without_books();
        let what = shown.map(|entry| journal::entry_text(&entry, None, &display, paint)).transpose()?;
        let verdict = found.text(&head, receipt.batch.number, paint);
        terminal::answer(&format!("{}{verdict}\n", what.unwrap_or_default()))?;
    }
    Ok(match found {
        ReceiptVerdict::Proven => Exit::Ok,
        ReceiptVerdict::OnlyConsistent => Exit::Failed,
        ReceiptVerdict::AnotherHead | ReceiptVerdict::Broken | ReceiptVerdict::Altered(_) => Exit::Unsound,
    })
}

/// What the file says, and its record does not.
fn altered(parsed: &ParsedReceipt, entry: &JournalEntry) -> Vec<Difference> {
    let unknown = parsed.unknown_keys.iter().map(|key| Difference {
        path: key.clone(),
        file_says: "something".into(),
        record_says: "nothing: no receipt has this key".into(),
    });
    let readable = parsed.readable.as_ref().map(|written| differences(written, &proven_json(entry)));
    unknown.chain(readable.unwrap_or_default()).collect()
}

impl ReceiptVerdict {
    const fn word(&self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::OnlyConsistent => "not_checked_against_a_head",
            Self::AnotherHead => "another_head",
            Self::Broken => "broken",
            Self::Altered(_) => "altered",
        }
    }

    fn text(&self, head: &str, batch: u64, paint: Paint) -> String {
        match self {
            Self::Proven => format!(
                "{} this record is in the journal whose head after batch {batch} is\n  {head}",
                paint.good("proven:")
            ),
            Self::OnlyConsistent => format!(
                "{} the file is internally consistent but unverified. Give the head that was\npublished after batch \
                 {batch}: --head HASH. The file says it is\n  {head}",
                paint.bad("not proven:")
            ),
            Self::AnotherHead => format!(
                "{} the file is internally consistent, but its head after batch {batch} is\n  {head}\nand not the given \
                 one. Check that yours is the head after that batch.",
                paint.bad("not proven:")
            ),
            Self::Broken => {
                format!(
                    "{} the record, its path to the root and the batch do not belong together",
                    paint.bad("broken:")
                )
            }
            Self::Altered(all) => {
                let mut text = format!("{} the file says what its record does not:\n", paint.bad("altered:"));
                for Difference { path, file_says, record_says } in all.iter().take(DIFFERENCES_SHOWN) {
                    text.push_str(&format!("  {path}\n    the file says    {file_says}\n"));
                    text.push_str(&format!("    the record says  {record_says}\n"));
                }
                if let Some(more) = all.len().checked_sub(DIFFERENCES_SHOWN).filter(|more| *more > 0) {
                    text.push_str(&format!("  and {more} more: --json lists all\n"));
                }
                text.push_str("The record above is what its hashes are of; do not believe the rest of the file.");
                text
            }
        }
    }
}
