//! `bankroll migrate-books`: moves books from a folder to a Postgres database, and proves that they are the same.

use std::path::PathBuf;

use anyhow::Context;
use bankroll_roles::flows;
use bankroll_store::{AuditProgress, BooksMove, BooksMoveStage, Clock, DatabaseUrl};
use bankroll_terminal::{self as terminal, Exit, Paint, UsageError, counted};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::location::LocationArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll migrate-books --from casino --to postgres://bank@127.0.0.1:5432/casino
  BANKROLL__BOOKS__DATABASE=postgres://bank:secret@db/casino bankroll migrate-books --from casino

The folder is locked meanwhile and stays unchanged. The database must have no
books yet. Journal, hash chain and receipts stay the same; at the end both books
are audited and compared. Afterwards set books.database. If the move is
interrupted, the books in the database cannot be opened: drop it, and move again.")]
pub struct MigrateBooksArgs {
    /// The folder with the books
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// The database [default: books.database of the configuration]
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &MigrateBooksArgs, json: bool) -> anyhow::Result<Exit> {
    let to = match &args.to {
        Some(url) => DatabaseUrl::new(url.clone()),
        None => args.location.load()?.config.books.database.url().ok_or_else(|| {
            UsageError("give a destination: --to postgres://user@host/database, or books.database".into())
        })?,
    };
    let moving =
        BooksMove { from: args.from.clone(), to, migrations: flows::migrations(), now: Clock::machine().now() };
    let bar = if json { ProgressBar::hidden() } else { ProgressBar::no_length() };
    bar.set_style(ProgressStyle::with_template("{msg:24} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}")?);
    let show = |what: &'static str, progress: AuditProgress| {
        bar.set_message(what);
        bar.set_length(progress.rows_total);
        bar.set_position(progress.rows);
    };
    let moved = moving.run(|moving| match moving {
        BooksMoveStage::AuditingOld(progress) => show("auditing the folder", progress),
        BooksMoveStage::Copying(progress) => show("copying the journal", progress),
        BooksMoveStage::AuditingNew(progress) => show("auditing the database", progress),
    });
    bar.finish_and_clear();
    let report = moved.context("the books were not moved; those in the folder are unchanged")?;
    let head: String = report.head.iter().map(|byte| format!("{byte:02x}")).collect();
    if json {
        let outcome = json!({ "moved": true, "records": report.rows, "batches": report.batches,
                           "accounts": report.accounts, "head": head });
        terminal::answer_json(&outcome)?;
    } else {
        terminal::answer(&format!(
            "{} {} in {}, {}: the same in the database, to the wei\nhead {head}\n\n\
             Next: set books.database, and keep the folder as a backup.\n",
            Paint::stdout().good("moved"),
            counted(report.rows, "record", "records"),
            counted(report.batches, "batch", "batches"),
            counted(report.accounts, "account", "accounts"),
        ))?;
    }
    Ok(Exit::Ok)
}
