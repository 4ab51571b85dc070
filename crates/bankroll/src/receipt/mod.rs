//! `bankroll receipt`: proof that a record is in the journal, and the check of such a proof without any books.

mod check;
mod compare;
mod file;
mod verdict;

use std::path::{Path, PathBuf};

use anyhow::Context;
use bankroll_heads::{HeadReceipt, receipts, views};
use bankroll_ledger::{Namespace, Record, Scope, Seq};
use bankroll_store::{JournalEntry, KeyQuery, Reader};
use bankroll_terminal::{self as terminal, Exit, NotFound, Paint, UsageError, Width};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::{
    funds_call::{ask, connect},
    journal::{self, DisplayContext, namespace_word, proven_json},
    location::LocationArgs,
};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  bankroll receipt 81 --out receipt.json                  of record 81
  bankroll receipt 0-2-000024278 --out receipt.json       of a key
  bankroll receipt 81 --under 1042 --out receipt.json     for a head that a reader has
  bankroll receipt check receipt.json --head head.json    offline, without any books

A receipt has the record, its path to the root of its batch, that batch, and its
path to a published head; and the same for the records that opened its accounts,
which prove their names. To check it, the reader needs a published head, from
another source: `bankroll head`. The newest one is taken, or that of --under. A
record that no published head covers yet has a receipt without names.
With --key the Funds API is asked, as its operator, game server or player."
)]
pub struct ReceiptArgs {
    #[command(subcommand)]
    command: Option<ReceiptCommand>,
    /// The number of a record, or a key
    #[arg(value_name = "SEQ|KEY", required = true)]
    what: Option<String>,
    /// Write it to this file, which must not exist
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// With a key: only in this namespace
    #[arg(long, value_name = "NAMESPACE", value_parser = journal::parse_namespace)]
    namespace: Option<Namespace>,
    /// With a key: only of this game server; @house for the operator's own
    #[arg(long, value_name = "SERVER")]
    scope: Option<Scope>,
    /// Prove it under the head that was published after this batch [default: the newest]
    #[arg(long, value_name = "BATCH", value_parser = terminal::whole::<u64>(1..=u64::MAX, "the number of a batch"))]
    under: Option<u64>,
    /// Ask the Funds API, with this key
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    #[command(flatten)]
    location: LocationArgs,
}

#[derive(Debug, Subcommand)]
enum ReceiptCommand {
    /// Check a receipt, offline
    Check(check::ReceiptCheckArgs),
}

pub fn run(args: &ReceiptArgs, json: bool) -> anyhow::Result<Exit> {
    if let Some(ReceiptCommand::Check(args)) = &args.command {
        return check::run(args, json);
    }
    if let Some(key) = &args.key {
        return by_api(args, key, json);
    }
    let reader = args.location.reader()?;
    let seq = find(&reader, args)?;
    let missing = || NotFound(format!("there is no record {seq}; the last one is {}", last(&reader)));
    let (receipt, head) = reader.receipt(seq)?.ok_or_else(missing)?;
    let proof = proof(&reader, seq, args.under)?;
    let before = Seq(seq.0.saturating_sub(1));
    let entry = reader.journal_after(before, 1)?.pop().ok_or_else(missing)?;
    let written = with_readable(receipts::to_json(&receipt, &head, proof.as_ref()), &entry, proof.as_ref());
    let display = DisplayContext::new(&reader)?.with_width(Width::Short);
    let reversal = reader.reversal_of(seq)?;
    save(args, &written, json, |paint| Ok(journal::entry_text(&entry, reversal, &display, paint)?))
}

/// The proof under the newest head, if it covers the record; under the named one it must.
fn proof(reader: &Reader, seq: Seq, under: Option<u64>) -> anyhow::Result<Option<HeadReceipt>> {
    let Some(batch) = under else { return Ok(receipts::newest_receipt(reader, seq)?) };
    let missing = || NotFound(format!("no head was published after batch {batch}; `bankroll head` shows the newest"));
    let published = views::at(reader, batch)?.ok_or_else(missing)?;
    let older = || UsageError(format!("the head of batch {batch} is older than record {seq}; take a later one"));
    Ok(Some(receipts::receipt_under(reader, seq, &published)?.ok_or_else(older)?))
}

fn with_readable(mut written: Value, entry: &JournalEntry, proof: Option<&HeadReceipt>) -> Value {
    let names = proof.and_then(|proof| proof.named.names()).unwrap_or_default();
    written["readable"] = proven_json(entry, &names);
    written
}

/// The receipt as the service has it, for a machine that has no books.
fn by_api(args: &ReceiptArgs, key: &Path, json: bool) -> anyhow::Result<Exit> {
    let seq: Option<u64> = args.what.as_ref().and_then(|text| text.parse().ok());
    let seq = seq.ok_or_else(|| UsageError("with --key give the number of a record".into()))?;
    let under = args.under.map(|batch| format!("?under={batch}")).unwrap_or_default();
    let answer = ask(connect(&args.location, key)?, &format!("/v1/receipts/rec_{seq}{under}"))?;
    let parsed = file::parse(&answer.to_string()).context("the answer of the Funds API is no receipt")?;
    let record = Record::decode(&parsed.receipt.record).context("the record is of a newer program; update this one")?;
    let entry = JournalEntry { seq: parsed.receipt.seq, at: parsed.receipt.batch.at, record };
    let written = with_readable(answer, &entry, parsed.proof.as_ref());
    let names = parsed.proof.as_ref().and_then(|proof| proof.named.names()).unwrap_or_default();
    let display = DisplayContext::with_names(&names);
    save(args, &written, json, |paint| Ok(journal::entry_text(&entry, None, &display, paint)?))
}

/// Prints the receipt, or writes it to its file and says what it is of.
fn save(
    args: &ReceiptArgs,
    written: &Value,
    json: bool,
    text: impl FnOnce(Paint) -> anyhow::Result<String>,
) -> anyhow::Result<Exit> {
    let Some(out) = &args.out else {
        terminal::answer_json(written)?;
        return Ok(Exit::Ok);
    };
    file::save(out, written).with_context(|| format!("cannot write {}", out.display()))?;
    let (head, published) = (&written["head"], &written["published"]["batch"]);
    if json {
        let saved = json!({ "file": out, "seq": written["seq"], "head": head, "published_batch": published });
        terminal::answer_json(&saved)?;
        return Ok(Exit::Ok);
    }
    let (paint, file, head) = (Paint::stdout(), out.display(), head.as_str().unwrap_or_default());
    let under = match published.as_u64() {
        Some(batch) => format!("published head of batch {batch}"),
        None => "no published head covers it yet: names are not proven".to_owned(),
    };
    terminal::answer(&format!("{}{} {file}\nhead {head}\n{under}\n", text(paint)?, paint.good("written")))?;
    Ok(Exit::Ok)
}

fn last(reader: &Reader) -> Seq {
    reader.head().map_or(Seq(0), |head| head.seq)
}

/// The record with that number, or the only record of such a key.
fn find(reader: &Reader, args: &ReceiptArgs) -> anyhow::Result<Seq> {
    let text = args.what.clone().ok_or_else(|| UsageError("give the number or the key of a record".into()))?;
    if let Ok(number) = text.parse()
        && (1..=last(reader).0).contains(&number)
    {
        return Ok(Seq(number));
    }
    let query = KeyQuery { text: text.clone(), namespace: args.namespace, scope: args.scope.clone() };
    let found = reader.find_keys(&query)?;
    match &found[..] {
        [one] => Ok(one.seq),
        [] => {
            let last = last(reader);
            if last.0 == 0 {
                return Err(NotFound(format!("no match for {text:?}: the journal is empty")).into());
            }
            Err(NotFound(format!("no match for {text:?}; give a key, or the number of a record (1 to {last})")).into())
        }
        several => {
            let each = several.iter().filter_map(|entry| match &entry.record {
                bankroll_ledger::Record::Decided { request, .. } => {
                    let key = &request.key;
                    Some(format!("#{} ({} of {})", entry.seq, namespace_word(key.namespace), key.scope))
                }
                _ => None,
            });
            let each = each.collect::<Vec<_>>().join(", ");
            Err(UsageError(format!("{text:?} is the key of several records: {each}; add --namespace and --scope"))
                .into())
        }
    }
}
