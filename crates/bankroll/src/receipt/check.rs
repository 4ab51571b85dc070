//! `bankroll receipt check`: needs no books and no network, only the file and a published head.

use std::{collections::BTreeMap, fs, io::ErrorKind, path::PathBuf};

use anyhow::Context;
use bankroll_heads::{HeadForm, HeadReceipt, SignedHead, hash_from_text};
use bankroll_ledger::{AccountId, AccountName, Record, merkle::Hash};
use bankroll_orders::Address;
use bankroll_store::JournalEntry;
use bankroll_terminal::{self as terminal, Exit, NotFound, Paint, UsageError};
use clap::Args;
use serde_json::{Value, json};

use super::{
    compare::{Difference, differences},
    file::{self, ParsedReceipt},
    verdict::ReceiptVerdict,
};
use crate::{
    journal::{self, DisplayContext, proven_json},
    kept_head::{address, read_signed},
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll receipt check receipt.json --head head.json
  bankroll receipt check receipt.json --signed-by 0x70997970...
  bankroll receipt check receipt.json --head 5b1c0f...

Exit code 0 if the receipt proves that its record is in the journal of the head
that you have, 4 if it does not. A head is a file of `bankroll head --json`; or
with --signed-by the one in the receipt, if that key signed it: both prove the
names of the accounts, too. The hash of the head after the record's own batch, as
an audit prints it, proves the record and not the names. Without any of these
only the file itself is checked, which proves nothing about a journal: exit code 1
at best.

The readable part is made again from the record and compared: a file that says
something else, or has a key that no receipt has, is refused with exit code 4. A
file without a readable part is checked like any other.")]
pub struct ReceiptCheckArgs {
    /// The receipt file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A published head, as a file; or the head after the receipt's batch: 64 hexadecimal digits
    #[arg(long, value_name = "FILE|HASH")]
    head: Option<String>,
    /// The address of the key that must have signed the published head
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    signed_by: Option<Address>,
}

/// What the reader has from another source than the file.
enum Anchor {
    Nothing,
    /// The head after the receipt's own batch.
    BatchHead(Hash),
    Published(Box<SignedHead>),
    /// Whose signature counts.
    Signer(Address),
}

pub fn run(args: &ReceiptCheckArgs, json: bool) -> anyhow::Result<Exit> {
    let anchor = anchor(args)?;
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
    let record = Record::decode(&receipt.record).ok();
    let entry = record.map(|record| JournalEntry { seq: receipt.seq, at: receipt.batch.at, record });
    let names = parsed.proof.as_ref().and_then(|proof| proof.named.names());
    let found = match &entry {
        _ if !is_whole(&parsed) => ReceiptVerdict::Broken,
        None => anyhow::bail!("{}: its record is of a newer program; update this one", args.file.display()),
        Some(entry) => match altered(&parsed, entry, names.as_ref()) {
            altered if !altered.is_empty() => ReceiptVerdict::Altered(altered),
            _ => judge(&parsed, &anchor),
        },
    };
    // A record that its own file does not prove is not shown; nor are names that the head does not prove.
    let shown = entry.filter(|_| found != ReceiptVerdict::Broken);
    let names = names.filter(|_| found.proves_names()).unwrap_or_default();
    if json {
        terminal::answer_json(&as_json(&parsed, &found, shown.as_ref(), &names))?;
    } else {
        let paint = Paint::stdout();
        let display = DisplayContext::with_names(&names);
        let what = shown.map(|entry| journal::entry_text(&entry, None, &display, paint)).transpose()?;
        let verdict = found.text(&parsed, paint);
        terminal::answer(&format!("{}{}{verdict}\n", what.unwrap_or_default(), names_text(&names)))?;
    }
    Ok(found.exit())
}

fn anchor(args: &ReceiptCheckArgs) -> anyhow::Result<Anchor> {
    let Some(text) = &args.head else { return Ok(args.signed_by.map_or(Anchor::Nothing, Anchor::Signer)) };
    if let Some(hash) = hash_from_text(text) {
        if args.signed_by.is_some() {
            let what = "a hash is not signed: give --head a file of `bankroll head --json`, or omit --signed-by";
            return Err(UsageError(what.into()).into());
        }
        return Ok(Anchor::BatchHead(hash));
    }
    let path = PathBuf::from(text);
    if !path.is_file() {
        let what = "--head must be 64 hexadecimal digits, or a file of `bankroll head --json`";
        return Err(UsageError(what.into()).into());
    }
    read_signed(&path, args.signed_by).map(|head| Anchor::Published(Box::new(head)))
}

/// Whether everything in the file belongs together: the record, its batch, and with a published head also the
/// signature, both paths, and an opening for each account.
fn is_whole(parsed: &ParsedReceipt) -> bool {
    let own = parsed.receipt.batch.head();
    let is_proof = |HeadReceipt { named, published }: &HeadReceipt| {
        published.verify(None).is_ok()
            && named.names().is_some()
            && named.proves_under(published.batch, &published.root)
    };
    parsed.receipt.proves_under(&own) && parsed.head == own && parsed.proof.as_ref().is_none_or(is_proof)
}

/// Of a file that is whole: what the reader's own head makes of it.
fn judge(parsed: &ParsedReceipt, anchor: &Anchor) -> ReceiptVerdict {
    let own = parsed.receipt.batch.head();
    let stated = parsed.proof.as_ref().map(|proof| &proof.published);
    match anchor {
        Anchor::Nothing => ReceiptVerdict::OnlyConsistent,
        Anchor::BatchHead(head) if *head == own => ReceiptVerdict::Proven { names: false },
        Anchor::Published(head)
            if stated.is_some_and(|stated| stated.batch == head.batch && stated.root == head.root) =>
        {
            ReceiptVerdict::Proven { names: true }
        }
        Anchor::Published(head) if head.batch == parsed.receipt.batch.number && head.head == own => {
            ReceiptVerdict::Proven { names: false }
        }
        Anchor::Signer(signer) if stated.is_some_and(|stated| stated.address == *signer) => {
            ReceiptVerdict::Proven { names: true }
        }
        Anchor::BatchHead(_) => ReceiptVerdict::AnotherHead,
        Anchor::Published(head) => ReceiptVerdict::NotUnder { batch: head.batch },
        Anchor::Signer(signer) => ReceiptVerdict::NotSignedBy { signer: *signer },
    }
}

fn as_json(
    parsed: &ParsedReceipt,
    found: &ReceiptVerdict,
    shown: Option<&JournalEntry>,
    names: &BTreeMap<AccountId, AccountName>,
) -> Value {
    let differences = if let ReceiptVerdict::Altered(all) = found { all.as_slice() } else { &[] };
    let differences: Vec<Value> = differences
        .iter()
        .map(|one| json!({ "path": one.path, "file_says": one.file_says, "record_says": one.record_says }))
        .collect();
    let is_consistent = !matches!(found, ReceiptVerdict::Broken | ReceiptVerdict::Altered(_));
    let published = parsed.proof.as_ref().filter(|_| is_consistent).map(|proof| HeadForm::from(&proof.published));
    let receipt = &parsed.receipt;
    json!({
        "proven": matches!(found, ReceiptVerdict::Proven { .. }), "names_proven": found.proves_names(),
        "consistent": is_consistent, "verdict": found.word(), "seq": receipt.seq, "batch": receipt.batch.number,
        "head": hex::encode(receipt.batch.head()), "published": published, "differences": differences,
        "record": shown.map(|entry| proven_json(entry, names)),
    })
}

/// The full names: the lines of the record shorten them.
fn names_text(names: &BTreeMap<AccountId, AccountName>) -> String {
    names.iter().map(|(id, name)| format!("    account {id} is {name}\n")).collect()
}

/// What the file says, and its record does not.
fn altered(
    parsed: &ParsedReceipt,
    entry: &JournalEntry,
    names: Option<&BTreeMap<AccountId, AccountName>>,
) -> Vec<Difference> {
    let unknown = parsed.unknown_keys.iter().map(|key| Difference {
        path: key.clone(),
        file_says: "something".into(),
        record_says: "nothing: no receipt has this key".into(),
    });
    let none = BTreeMap::new();
    let made = || proven_json(entry, names.unwrap_or(&none));
    let readable = parsed.readable.as_ref().map(|written| differences(written, &made()));
    unknown.chain(readable.unwrap_or_default()).collect()
}
