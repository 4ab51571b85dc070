//! `bankroll migrate-books`: books move from a folder to a Postgres database, and are proven the same there.

use std::path::PathBuf;

use anyhow::Context;
use bankroll_roles::flows;
use bankroll_store::{Clock, DatabaseUrl, Move, Moving, Progress};
use bankroll_terminal::{self as terminal, Exit, Paint, Usage, thousands};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::place::Place;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll migrate-books --from casino --to postgres://bank@127.0.0.1:5432/casino
  BANKROLL__BOOKS__DATABASE=postgres://bank:secret@db/casino bankroll migrate-books --from casino

The folder is locked meanwhile and left as it is. The database must have no books yet. Journal, chain and receipts stay
what they are; at the end both books are audited and compared. Afterwards set books.database. If it is interrupted, the
database has books that nobody can open: drop it, and move again.")]
pub struct MigrateBooksArgs {
    /// The folder with the books
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// The database [default: books.database of the configuration]
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    #[command(flatten)]
    place: Place,
}

pub fn run(args: &MigrateBooksArgs, json: bool) -> anyhow::Result<Exit> {
    let to = match &args.to {
        Some(url) => DatabaseUrl::new(url.clone()),
        None => args.place.load()?.config.books.database.url().ok_or_else(|| {
            Usage("say where the books go: --to postgres://user@host/database, or books.database".into())
        })?,
    };
    let moving = Move { from: args.from.clone(), to, migrations: flows::migrations(), now: Clock::machine().now() };
    let bar = if json { ProgressBar::hidden() } else { ProgressBar::no_length() };
    bar.set_style(ProgressStyle::with_template("{msg:24} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}")?);
    let show = |what: &'static str, progress: Progress| {
        bar.set_message(what);
        bar.set_length(progress.rows_total);
        bar.set_position(progress.rows);
    };
    let moved = moving.run(|moving| match moving {
        Moving::AuditingOld(progress) => show("auditing the folder", progress),
        Moving::Copying(progress) => show("copying the journal", progress),
        Moving::AuditingNew(progress) => show("auditing the database", progress),
    });
    bar.finish_and_clear();
    let report = moved.context("the books have not moved; those in the folder are as they were")?;
    let head: String = report.head.iter().map(|byte| format!("{byte:02x}")).collect();
    if json {
        let told = json!({ "moved": true, "records": report.rows, "batches": report.batches,
                           "accounts": report.accounts, "head": head });
        terminal::answer_json(&told)?;
    } else {
        terminal::answer(&format!(
            "{} {} records in {} batches, {} accounts: the same in the database, to the wei\nhead {head}\n\nNext: set books.database, and keep the folder as a backup.\n",
            Paint::stdout().good("moved"),
            thousands(report.rows),
            thousands(report.batches),
            thousands(report.accounts),
        ))?;
    }
    Ok(Exit::Ok)
}
