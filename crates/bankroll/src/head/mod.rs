//! `bankroll head`: a published head of the journal, and whether it continues one that was kept.

mod source;

use std::path::PathBuf;

use anyhow::Context;
use bankroll_heads::{HeadForm, SignedHead};
use bankroll_ledger::Time;
use bankroll_orders::Address;
use bankroll_terminal::{self as terminal, Exit, NotFound, Paint, when};
use clap::Args;
use serde_json::json;

use crate::{
    kept_head::{address, read_signed},
    location::LocationArgs,
};
use source::HeadSource;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll head --json > head.json       keep it where the operator cannot reach
  bankroll head --since head.json        does the journal still begin with it?
  bankroll head --batch 1042 --set api.url=https://funds.example

A node signs a head of its journal about once a second while the journal grows,
and publishes it: GET /v1/heads. With api.url set the service is asked, without
any key; otherwise the books here are read.

With --since the newest head (or that of --batch) must prove that its journal
begins with the kept one. Exit code 4 if it cannot: the journal was cut or
rewritten. With --signed-by both heads must be signed by that key.")]
pub struct HeadArgs {
    /// The head that was published after this batch [default: the newest]
    #[arg(long, value_name = "N", value_parser = terminal::whole::<u64>(1..=u64::MAX, "the number of a batch"))]
    batch: Option<u64>,
    /// Check that it continues this head, a file of `bankroll head --json`
    #[arg(long, value_name = "FILE")]
    since: Option<PathBuf>,
    /// The address of the key that must have signed
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    signed_by: Option<Address>,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &HeadArgs, json: bool) -> anyhow::Result<Exit> {
    // First: a file that is no head needs no service.
    let kept = args.since.as_deref().map(|path| read_signed(path, args.signed_by)).transpose()?;
    let source = HeadSource::open(&args.location)?;
    let head = find(&source, args.batch)?;
    head.verify(args.signed_by).context("the published head counts for nothing")?;
    match kept {
        Some(kept) => compare(&source, &kept, &head, json),
        None => show(&head, json).map(|()| Exit::Ok),
    }
}

fn find(source: &HeadSource, batch: Option<u64>) -> anyhow::Result<SignedHead> {
    let newest = source.latest()?;
    let none = || NotFound("no head is published yet; a node publishes them while it runs: `bankroll serve`".into());
    let Some(batch) = batch else { return Ok(newest.ok_or_else(none)?) };
    let newest = newest.ok_or_else(none)?.batch;
    let missing = || NotFound(format!("no head was published after batch {batch}; the newest is after batch {newest}"));
    Ok(source.at(batch)?.ok_or_else(missing)?)
}

fn show(head: &SignedHead, json: bool) -> anyhow::Result<()> {
    if json {
        return terminal::answer_json(&json!(HeadForm::from(head)));
    }
    let SignedHead { batch, root, address, signature, audience, .. } = head;
    let (hash, root) = (hex::encode(head.head), hex::encode(root));
    terminal::answer(&format!(
        "batch      {batch}\nhead       {batch}:{hash}\nroot       {root}\ntime       {}\naudience   {audience}, chain \
         {}\naddress    {address}\nsignature  {signature}\n",
        time_of(head),
        head.chain.0,
    ))
}

fn compare(source: &HeadSource, kept: &SignedHead, head: &SignedHead, json: bool) -> anyhow::Result<Exit> {
    let is_later = kept.batch <= head.batch;
    let is_proven = is_later && source.proves(kept, head)?;
    if json {
        let heads = (HeadForm::from(kept), HeadForm::from(head));
        terminal::answer_json(&json!({ "consistent": is_proven, "from": heads.0, "to": heads.1 }))?;
    } else {
        terminal::answer(&verdict(kept, head, is_later, is_proven))?;
    }
    Ok(if is_proven { Exit::Ok } else { Exit::Unsound })
}

fn verdict(kept: &SignedHead, head: &SignedHead, is_later: bool, is_proven: bool) -> String {
    let (paint, time) = (Paint::stdout(), time_of(kept));
    let (from, to) = (kept.batch, head.batch);
    let mut text = match (is_later, is_proven) {
        (_, true) => format!(
            "{} the journal up to batch {to} begins with the one whose head of batch {from} you kept ({time})\n",
            paint.good("consistent:")
        ),
        (true, false) => format!(
            "{} the head of batch {to} does not continue the one of batch {from} that you kept ({time}).\nThe journal \
             before batch {from} was rewritten, or is another one. Keep both heads: they prove it.\n",
            paint.bad("not proven:")
        ),
        (false, false) => format!(
            "{} you kept a head of batch {from} ({time}), and this one is of batch {to}.\nThe journal has lost what came \
             after it, unless an older head was asked for with --batch.\n",
            paint.bad("not proven:")
        ),
    };
    if kept.address != head.address {
        text +=
            &format!("{} {} signed the kept head, and {} this one\n", paint.strong("!"), kept.address, head.address);
    }
    text
}

fn time_of(head: &SignedHead) -> String {
    when::show(Time(head.seconds.saturating_mul(1_000_000)))
}
