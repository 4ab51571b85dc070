//! `bankroll migrate-books`: moves books from a folder to a Postgres database, and proves that they are the same.

use std::path::PathBuf;

use anyhow::Context;
use bankroll_roles::flows;
use bankroll_store::{
    AuditProgress, BooksMove, BooksMoveStage, Clock, DatabaseUrl, LeaseWatch, MovedBooks, Reader, StoreError,
};
use bankroll_terminal::{self as terminal, Exit, Paint, UsageError, counted};
use clap::Args;
use serde_json::json;

use crate::{location::LocationArgs, stage_bar::StageBar};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll migrate-books --from casino --to postgres://bank@127.0.0.1:5432/casino
  BANKROLL__BOOKS__DATABASE=postgres://bank:secret@db/casino bankroll migrate-books --from casino

The folder is locked meanwhile. The database must have no books yet. Journal,
hash chain and receipts stay the same; at the end both books are audited and
compared. Then the books in the folder are marked as moved: they can be read and
audited, and no writer opens them again. Afterwards set books.database.

If the move is interrupted, run the same command again. If it answers that the
database is leased to a move, drop that database and create it anew before.

To undo a move: stop all nodes, drop the database, and run
  bankroll migrate-books --undo --from casino --to postgres://bank@127.0.0.1:5432/casino
It refuses as long as the database has the books. If the server is lost for good,
give --database-is-lost: then nothing is checked. What was written in the
database since the move is not in the folder: its deposits and payouts are
missing there.")]
pub struct MigrateBooksArgs {
    /// The folder with the books
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// The database [default: books.database of the configuration]
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    /// Undo an earlier move: the books in the folder are the ledger again
    #[arg(long)]
    undo: bool,
    /// With --undo: the database is gone for good, and cannot be asked
    #[arg(long, requires = "undo")]
    database_is_lost: bool,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &MigrateBooksArgs, json: bool) -> anyhow::Result<Exit> {
    let to = match &args.to {
        Some(url) => Some(DatabaseUrl::new(url.clone())),
        None => args.location.load()?.config.books.database.url(),
    };
    if args.undo {
        return undo(args, to, json);
    }
    let to = to.ok_or_else(|| {
        UsageError("give a destination: --to postgres://user@host/database, or books.database".into())
    })?;
    let shown = to.shown();
    let moving =
        BooksMove { from: args.from.clone(), to, migrations: flows::migrations(), now: Clock::machine().now() };
    let bar = StageBar::new(json)?;
    let show = |what: &'static str, progress: AuditProgress| bar.show(what, progress);
    let moved = moving.run(|moving| match moving {
        BooksMoveStage::AuditingOld(progress) => show("auditing the folder", progress),
        BooksMoveStage::Copying(progress) => show("copying the journal", progress),
        BooksMoveStage::AuditingNew(progress) => show("auditing the database", progress),
    });
    bar.end();
    let report = moved.map_err(|error| {
        // The last step of a move releases the database: if it fails, the folder is marked already.
        let is_marked = matches!(Reader::open(&args.from).and_then(|reader| reader.moved()), Ok(Some(_)));
        let what = match (&error, is_marked) {
            (StoreError::Moved { .. }, _) => "the books are not moved again; nothing was changed",
            (_, true) => "the move is not complete: run the same command again",
            (_, false) => "the books were not moved; those in the folder are unchanged",
        };
        anyhow::Error::from(error).context(what)
    })?;
    let head: String = report.head.iter().map(|byte| format!("{byte:02x}")).collect();
    if json {
        let outcome = json!({ "moved": true, "records": report.rows, "batches": report.batches,
                           "accounts": report.accounts, "head": head });
        terminal::answer_json(&outcome)?;
    } else {
        terminal::answer(&format!(
            "{} {} in {}, {}: the same in the database, to the wei\nhead {head}\n\n\
             Next: set books.database = \"{shown}\"\n      \
             (a URL with a password: in the environment, BANKROLL__BOOKS__DATABASE)\n\
             The books in {} are marked as moved: they can be read, and no writer opens them.\n",
            Paint::stdout().good("moved"),
            counted(report.rows, "record", "records"),
            counted(report.batches, "batch", "batches"),
            counted(report.accounts, "account", "accounts"),
            args.from.display(),
        ))?;
    }
    Ok(Exit::Ok)
}

fn undo(args: &MigrateBooksArgs, to: Option<DatabaseUrl>, json: bool) -> anyhow::Result<Exit> {
    // Read before anything is asked of the database.
    let marked = Reader::open(&args.from)?.moved()?;
    match (&marked, &to) {
        (Some(moved), Some(url)) if moved.to == url.shown() => refuse_two_ledgers(url)?,
        (Some(moved), _) if !args.database_is_lost => {
            let there = &moved.to;
            let what = format!(
                "these books were moved to {there}: give --to {there}, so that it can be checked; \
                 if that database is lost for good, add --database-is-lost"
            );
            return Err(UsageError(what).into());
        }
        _ => {}
    }
    let MovedBooks { to, at } = BooksMove::undo(&args.from)?;
    if json {
        terminal::answer_json(&json!({ "undone": true, "moved_to": to, "moved_at": at }))?;
    } else {
        terminal::answer(&format!(
            "{}: the books in {} are the ledger again, as they were at {at}\n\
             Never open those in {to} again.\n\
             What was written there since is missing here.\n",
            Paint::stdout().good("undone"),
            args.from.display(),
        ))?;
    }
    Ok(Exit::Ok)
}

/// Two ledgers of one wallet would pay twice. Books whose move is not complete cannot be opened, and do not count.
fn refuse_two_ledgers(url: &DatabaseUrl) -> anyhow::Result<()> {
    let what = || format!("cannot check that the books are not in {} any more; nothing was changed", url.shown());
    match Reader::open(url.clone()) {
        Err(error) if matches!(error, StoreError::NoBooks) || error.is_database_missing() => Ok(()),
        Err(error) => Err(error).with_context(what),
        Ok(_) => {
            let holder = LeaseWatch::new(url.clone()).holder().with_context(what)?;
            anyhow::ensure!(
                holder.is_some_and(|holder| holder.is_move() && !holder.left.is_zero()),
                "the books are in {}, and can be opened there: drop that database first; nothing was changed",
                url.shown()
            );
            Ok(())
        }
    }
}
