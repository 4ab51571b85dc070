//! `bankroll rebuild`: makes everything again that follows from the journal.

use bankroll_store::{AuditProgress, RebuildReport, RebuildStage, rebuild_books};
use bankroll_terminal::{self as terminal, Exit, Paint, counted};
use clap::Args;
use serde_json::json;

use crate::{location::LocationArgs, stage_bar::StageBar};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll rebuild --dir casino    after a message that names this command
  BANKROLL__BOOKS__DATABASE=postgres://bank@db/casino bankroll rebuild

A damaged page in accounts, balances, holds, reversals, assets, announcements or
an index loses nothing: all of them follow from the journal. This command verifies
the journal, makes them again, and audits the result before it counts. Deposits,
payouts and other rows of their own are copied. If one of those or the journal is
damaged, nothing is changed: restore a backup then.

Of books in a folder it makes a new file; the damaged one is kept next to it as
books.db.damaged-<time>, and there must be space for both. Of books in a database
it fills the tables again in one transaction. Stop `serve` before; an interrupted
rebuild has changed nothing, and is run again.")]
pub struct RebuildArgs {
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &RebuildArgs, json: bool) -> anyhow::Result<Exit> {
    let loaded = args.location.load()?;
    let options = loaded.ledger_options();
    let bar = StageBar::new(json)?;
    let show = |what: &'static str, progress: AuditProgress| bar.show(what, progress);
    let rebuilt = rebuild_books(&options, |stage| match stage {
        RebuildStage::Copying(progress) => show("copying the journal", progress),
        RebuildStage::Auditing(progress) => show("auditing the result", progress),
        RebuildStage::Verified | RebuildStage::EndedLog | RebuildStage::Kept | RebuildStage::TookPlace => {}
    });
    bar.end();
    let report = rebuilt?;
    if json {
        terminal::answer_json(&json!({
            "rebuilt": true, "records": report.audit.rows, "batches": report.audit.batches,
            "accounts": report.audit.accounts, "holds": report.holds, "head": hex::encode(report.audit.head),
            "kept": report.kept, "left_out": report.left_out, "statements_removed": report.removed_statements,
        }))?;
    } else {
        terminal::answer(&text(&report))?;
    }
    Ok(Exit::Ok)
}

fn text(report: &RebuildReport) -> String {
    let audit = &report.audit;
    let mut text = format!(
        "{} from {} in {}: {}, {}\nbooks balance to the wei, head {}\n",
        Paint::stdout().good("rebuilt"),
        counted(audit.rows, "record", "records"),
        counted(audit.batches, "batch", "batches"),
        counted(audit.accounts, "account", "accounts"),
        counted(report.holds, "hold", "holds"),
        hex::encode(audit.head),
    );
    if report.removed_statements {
        text += "The statement index did not match the journal: it is empty, and `serve` builds it again.\n";
    }
    if !report.left_out.is_empty() {
        text += &format!("Tables of other programs are not in the new file: {}\n", report.left_out.join(", "));
    }
    if let Some(kept) = &report.kept {
        text += &format!("The damaged file is {}: delete it when it is of no more use.\n", kept.display());
    }
    text
}
