//! `bankroll audit`: recomputes the books from the journal and reports the first difference.

use bankroll_deposits::{audit::AuditedDeposits, review, view};
use bankroll_operators::Operators;
use bankroll_registry::{audit_operators, check_overrides};
use bankroll_roles::audit::{self, AuditOutcome};
use bankroll_store::{AcceptedLoss, IndexReport, Location, SchemaReport, StoreError};
use bankroll_terminal::{self as terminal, Assets, Exit, Paint, counted, thousands};
use clap::Args;
use serde_json::{Value, json};

use crate::{journal::loss_json, kept_head::KeptHead, location::LocationArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll audit --dir casino            while a writer is running, or after it ended
  bankroll audit --dir backup --full     a copy, with its indexes
  bankroll audit --head head.json        against a head that you kept
  bankroll audit --head 1042:9f2c...     the same, as an audit printed it
  bankroll audit --json

The audit hashes every batch, follows the hash chain, and decides every request
again. Then it compares every account, hold, reversal and asset with its table,
and every deposit and payout with the journal. The first difference is reported
with its record: exit code 4. Tables, columns, indexes, triggers and constraints
must be what the migrations made; the guards of deposits and payouts are decided
again as far as the journal decides them. Every column of every deposit must be
what the scanner's log says, and the log must be whole, link by link, up to the
events that the journal names. Of the audit log of people it checks
each hash, each signature, every rule, and that the journal has the same entries.
With --full it also checks every page of the file (SQLite's integrity check), and
compares the key index and the statement index with the journal; a damaged index
of these two does not endanger money (exit code 1). The comparison reads one
snapshot, so the write-ahead log of a busy writer grows meanwhile.

A journal that ends too early is sound by itself. So the audit compares it with
the newest head that the node has noted (books.head, the statement index), with
every head that it has published, and with --head with one from outside: a file
of `bankroll head --json`, whose signature must fit, or BATCH:HASH. An older
copy, or a journal that was written anew, does not have it (exit code 4).")]
pub struct AuditArgs {
    #[command(flatten)]
    location: LocationArgs,
    /// Check every page, and compare the derived indexes with the journal as well
    #[arg(long)]
    full: bool,
    /// A head that the journal must have: a file of `bankroll head --json`, or BATCH:HASH
    #[arg(long, value_name = "HEAD")]
    head: Option<KeptHead>,
}

pub fn command(args: &AuditArgs, json: bool) -> anyhow::Result<Exit> {
    let kept = args.head.as_ref().map(KeptHead::read).transpose()?;
    // Opened first: its error says where the demo's books are if there are none here.
    let reader = args.location.reader()?;
    if args.full {
        reader.check_pages(None)?;
    }
    let loaded = args.location.load()?;
    // Noted heads first: a writer that runs may note newer ones meanwhile.
    let noted = reader.noted_heads(Some(&loaded.head_file()))?;
    let audited = audit::run(&loaded.books(), json)?;
    let people = audit_operators(&reader)?;
    let deposits = if view::has_tables(&reader)? { Some(bankroll_deposits::audit::run(&reader)?) } else { None };
    if let Some(people) = &people {
        check_overrides(&reader, people, &audited.report.overrides, &review::is_carried_out_by)?;
    }
    reader.check_noted(&noted)?;
    if let Some((batch, head)) = kept
        && !reader.has_head(batch, &head)?
    {
        return Err(audit::HeadMissing { batch, journal: reader.head()? }.into());
    }
    let heads = bankroll_heads::audit::run(&reader)?;
    let losses = reader.accepted_losses()?;
    let finding = reader.finding()?;
    let indexes = if args.full { Some(audit::check_indexes(&reader, json)) } else { None };
    let assets = Assets::new(reader.assets()?);
    let moved = reader.moved()?.map(|moved| json!({ "to": moved.to, "at": moved.at }));
    let report = &audited.report;
    if json {
        let totals: Vec<Value> = report
            .totals
            .iter()
            .map(|(asset, (debits, credits))| {
                json!({ "asset": asset, "debits": debits.to_string(), "credits": credits.to_string() })
            })
            .collect();
        let indexes = indexes.as_ref().map(|checked| match checked {
            Ok(report) => json!({ "ok": true, "keys": report.keys, "terms": report.terms, "covered": report.covered }),
            Err(error) => json!({ "ok": false, "found": error.to_string() }),
        });
        terminal::answer_json(&json!({
            "ok": audited.schema.differences.is_empty(), "rows": report.rows, "batches": report.batches, "accounts": report.accounts,
            "flow_rows": report.flow_rows, "deposits": deposits.map(deposits_json), "published_heads": heads, "head": hex::encode(report.head), "totals": totals,
            "rows_per_s": audited.rows_per_s(), "indexes": indexes, "moved": moved, "audit_log": people.as_ref().map(log_json), "finding": finding,
            "accepted_losses": losses.iter().map(|(_, loss)| loss_json(loss)).collect::<Vec<_>>(),
            "schema": {
                "ok": audited.schema.differences.is_empty(), "objects": audited.schema.objects,
                "differences": audited.schema.differences, "not_compared": audited.schema.not_compared,
            },
        }))?;
    } else {
        let text = text(&audited, &assets, indexes.as_ref(), &losses, heads, &loaded.books());
        let found = deposits.map(deposits_text).unwrap_or_default();
        terminal::answer(&(text + &found + &log_text(people.as_ref()) + &finding_text(finding.as_deref())))?;
    }
    Ok(match indexes {
        _ if !audited.schema.differences.is_empty() => Exit::Unsound,
        Some(Err(_)) => Exit::Failed,
        _ => Exit::Ok,
    })
}

fn deposits_json(audited: AuditedDeposits) -> Value {
    json!({ "rows": audited.deposits, "events": audited.events, "headers": audited.headers })
}

fn deposits_text(audited: AuditedDeposits) -> String {
    let AuditedDeposits { deposits, events, .. } = audited;
    if events == 0 {
        return String::new();
    }
    let (deposits, events) = (counted(deposits, "deposit", "deposits"), counted(events, "event", "events"));
    format!("  {deposits} are what {events} of the scanner's log say, column by column\n")
}

fn text(
    audited: &AuditOutcome,
    assets: &Assets,
    indexes: Option<&Result<IndexReport, StoreError>>,
    losses: &[(u64, AcceptedLoss)],
    heads: u64,
    books: &Location,
) -> String {
    let (paint, report) = (Paint::stdout(), &audited.report);
    let (records, batches) = (counted(report.rows, "record", "records"), counted(report.batches, "batch", "batches"));
    let accounts = counted(report.accounts, "account", "accounts");
    let mut text = format!("{} books balance to the wei\n", paint.good("\u{2713}"));
    text += &format!("  {records} in {batches} decided again, {accounts} compared\n");
    if report.flow_rows > 0 {
        let rows = counted(report.flow_rows, "row", "rows");
        text += &format!("  {rows} of deposits and payouts agree with the journal\n");
    }
    text += &format!("  {} records/s, {:.1} s\n", thousands(audited.rows_per_s()), audited.took.as_secs_f32());
    for (asset, (debits, _)) in &report.totals {
        let total = debits.amount().map_or_else(|| debits.to_string(), |sum| assets.with_symbol(*asset, sum));
        text += &format!("  asset {asset}: {total} on each side\n");
    }
    text += &format!("  head {}:{}\n", report.batches, hex::encode(report.head));
    if heads > 0 {
        let heads = counted(heads, "published head", "published heads");
        text += &format!("  {heads} and the tree over them agree with the journal\n");
    }
    for (batch, loss) in losses {
        text += &format!("  batch {batch} accepts the loss of records up to {} (batch {})\n", loss.seq, loss.batch);
        text += &format!("    by {}: {}\n", loss.by, loss.why);
    }
    text += &schema_text(&audited.schema, paint, books);
    match indexes {
        None => {}
        Some(Ok(found)) => {
            let (keys, terms) = (counted(found.keys, "key", "keys"), counted(found.terms, "term", "terms"));
            let sizes = format!("{keys} written out, {terms}");
            text += &format!("{} the indexes agree with the journal: {sizes}\n", paint.good("\u{2713}"));
        }
        Some(Err(error)) => {
            text += &format!(
                "{} {error}\n  {} open the books for writing: that rebuilds the index\n",
                paint.bad("\u{2717}"),
                paint.strong("fix:")
            );
        }
    }
    text
}

fn log_json(people: &Operators) -> Value {
    json!({ "entries": people.entries(), "hash": hex::encode(people.head().0) })
}

/// What people did: the audit has verified each signature again.
fn log_text(people: Option<&Operators>) -> String {
    let Some(people) = people.filter(|people| people.entries() > 0) else { return String::new() };
    let (entries, mark) = (counted(people.entries(), "entry", "entries"), Paint::stdout().good("\u{2713}"));
    format!(
        "{mark} {entries} of the audit log verified: hashes, signatures, rules, and the journal\n  log {}:{}\n",
        people.entries(),
        hex::encode(people.head().0)
    )
}

/// An audit changes nothing, so a finding stays noted even if the audit finds nothing.
fn finding_text(finding: Option<&str>) -> String {
    let (paint, Some(finding)) = (Paint::stdout(), finding) else { return String::new() };
    format!(
        "{} a node has noted this finding, and no node opens these books: {finding}\n  {} `bankroll rebuild` with the \
         same books.database verifies them, and lifts the finding if they are sound\n",
        paint.bad("\u{2717}"),
        paint.strong("fix:")
    )
}

/// What the operator does about a changed schema, where the location is not known. A rebuild makes the file of a folder
/// with every migration.
pub const SCHEMA_FIX: &str =
    "of books in a folder: `bankroll rebuild` makes a new file; of a database: undo the change";

fn schema_text(schema: &SchemaReport, paint: Paint, books: &Location) -> String {
    let fix = match books {
        Location::Folder(folder) => format!("`bankroll rebuild --dir {}` makes a new file", folder.display()),
        Location::Postgres(_) => "undo the change in the database".to_owned(),
    };
    let mut text = match &schema.differences[..] {
        [] if schema.objects == 0 => String::new(),
        [] => format!("{} tables, indexes and triggers are what the migrations made\n", paint.good("\u{2713}")),
        differences => format!(
            "{} the schema is not what the migrations made: {}\n  {} {fix}\n",
            paint.bad("\u{2717}"),
            differences.join("; "),
            paint.strong("fix:")
        ),
    };
    if let Some(what) = &schema.not_compared {
        text += &format!("{} not compared with the migrations: {what}\n", paint.strong("!"));
    }
    text
}
