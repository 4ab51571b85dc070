//! `bankroll accept-loss`: lets the books go on without acknowledged records that are lost for good.

use bankroll_store::{Ledger, Reader};
use bankroll_terminal::{self as terminal, Exit, UsageError, invocation};
use clap::Args;
use serde_json::json;

use crate::{journal, location::LocationArgs};

/// The longest name or reason, in bytes.
const TEXT_MAX: usize = 500;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll accept-loss --dir casino --by Ada --why \"disk failed, no copy\"

Only for books that refuse to open because acknowledged records are lost, and
only if no newer copy exists: put that back instead. The journal records what was
lost, who accepted it and why; `bankroll audit` shows it for ever.

What was lost was acknowledged: credits, payouts and transfers after the
journal's end are gone from the books. A request that is sent again with its
old key is decided again. Compare the books with the chain before you serve.")]
pub struct AcceptLossArgs {
    #[command(flatten)]
    location: LocationArgs,
    /// Who accepts the loss
    #[arg(long, value_name = "NAME")]
    by: String,
    /// Why no newer copy can be put back
    #[arg(long, value_name = "TEXT")]
    why: String,
}

pub fn run(args: &AcceptLossArgs, json: bool) -> anyhow::Result<Exit> {
    for (option, text) in [("--by", &args.by), ("--why", &args.why)] {
        if text.trim().is_empty() || text.len() > TEXT_MAX || text.contains(char::is_control) {
            let usage = format!("{option} takes a text of 1 to {TEXT_MAX} bytes on one line");
            return Err(UsageError(usage).into());
        }
    }
    let options = args.location.load()?.ledger_options();
    let loss = Ledger::accept_loss(&options, args.by.trim(), args.why.trim())?;
    let recorded = Reader::open(&options.location)?.head()?;
    if json {
        let mut value = journal::loss_json(&loss);
        value["recorded"] = json!({ "batch": recorded.batch, "seq": recorded.seq });
        value["kept"] = json!({ "seq": recorded.seq.0.saturating_sub(1) });
        terminal::answer_json(&value)?;
    } else {
        let (batch, seq, dir) = (loss.batch, loss.seq, args.location.base());
        let (kept, dir) = (recorded.seq.0.saturating_sub(1), dir.display());
        terminal::answer(&format!(
            "accepted: records {} to {seq} (up to batch {batch}) are lost\n\
             The books go on with record {} (batch {}), which says who accepted this and why.\n\
             Next, since a lost log can leave tables of different moments:\n  \
               {program} rebuild --dir {dir}\n  {program} audit --dir {dir}\n\
             Then compare balances with the chain before you serve.\n",
            kept.saturating_add(1),
            recorded.seq,
            recorded.batch,
            program = invocation(),
        ))?;
    }
    Ok(Exit::Ok)
}
