//! `bankroll receipt`: proof that a record is in the journal, and the check of such a proof without any books.

mod check;
mod compare;
mod file;

use std::path::PathBuf;

use anyhow::Context;
use bankroll_ledger::{Namespace, Scope, Seq};
use bankroll_store::{KeyQuery, Reader};
use bankroll_terminal::{self as terminal, Exit, NotFound, Paint, UsageError, Width};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::{
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
  bankroll receipt check receipt.json --head 5b1c...      offline, without any books

A receipt has the record, its path to the root of its batch, and that batch. To
check it, the reader needs the head that was published after that batch, from
another source. Its `readable` part says what the record itself says: accounts by
their numbers. Which account a number is, the receipt of the record that opened it
proves."
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
    let reader = args.location.reader()?;
    let seq = find(&reader, args)?;
    let missing = || NotFound(format!("there is no record {seq}; the last one is {}", last(&reader)));
    let (receipt, head) = reader.receipt(seq)?.ok_or_else(missing)?;
    let display = DisplayContext::new(&reader)?.with_width(Width::Short);
    let before = Seq(seq.0.saturating_sub(1));
    let entry = reader.journal_after(before, 1)?.pop().ok_or_else(missing)?;
    let written = file::to_json(&receipt, &head, proven_json(&entry));
    let Some(out) = &args.out else {
        terminal::answer_json(&written)?;
        return Ok(Exit::Ok);
    };
    file::save(out, &written).with_context(|| format!("cannot write {}", out.display()))?;
    if json {
        terminal::answer_json(&json!({ "file": out, "seq": seq, "head": hex::encode(head) }))?;
    } else {
        let paint = Paint::stdout();
        let text = journal::entry_text(&entry, reader.reversal_of(seq)?, &display, paint)?;
        let (file, head) = (out.display(), hex::encode(head));
        terminal::answer(&format!("{text}{} {file}\nhead {head}\n", paint.good("written")))?;
    }
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
