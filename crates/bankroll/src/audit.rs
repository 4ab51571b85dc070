//! `bankroll audit`: the books computed again from the journal, and what that found.

use bankroll_roles::audit::{self, Audited};
use bankroll_store::{IndexReport, StoreError};
use bankroll_terminal::{self as terminal, Assets, Exit, Paint, thousands};
use clap::Args;
use serde_json::{Value, json};

use crate::place::Place;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll audit --dir casino            beside a running writer, or of closed books
  bankroll audit --dir backup --full     a copy, and the indexes beside the books too
  bankroll audit --json

Every batch is hashed again and followed along the chain, every request decided
again, and at the end every account, hold, reversal and asset compared with its
table, and every deposit and payout with what the journal has set of it. The
first difference is named, with the record it is at: exit code 4.
With --full the key index and the statement index are compared with the journal
as well; what is wrong with those is no danger to money (exit code 1). That is
done as of one moment, so that the log of a busy writer grows meanwhile.")]
pub struct AuditArgs {
    #[command(flatten)]
    place: Place,
    /// Compare the derived indexes with the journal as well
    #[arg(long)]
    full: bool,
}

pub fn command(args: &AuditArgs, json: bool) -> anyhow::Result<Exit> {
    // Says where the demo's books are, if these are none.
    let reader = args.place.reader()?;
    let audited = audit::run(&args.place.load()?.books(), json)?;
    let indexes = if args.full { Some(audit::check_indexes(&reader, json)) } else { None };
    let assets = Assets::new(reader.assets()?);
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
            "ok": true, "rows": report.rows, "batches": report.batches, "accounts": report.accounts,
            "flow_rows": report.flow_rows, "head": hex::encode(report.head), "totals": totals, "rows_per_s": audited.rows_per_s(), "indexes": indexes,
        }))?;
    } else {
        terminal::answer(&told(&audited, &assets, indexes.as_ref()))?;
    }
    Ok(if matches!(indexes, Some(Err(_))) { Exit::Failed } else { Exit::Ok })
}

fn told(audited: &Audited, assets: &Assets, indexes: Option<&Result<IndexReport, StoreError>>) -> String {
    let (paint, report) = (Paint::stdout(), &audited.report);
    let (rows, batches, accounts) = (thousands(report.rows), thousands(report.batches), thousands(report.accounts));
    let mut text = format!("{} books balance to the wei\n", paint.good("\u{2713}"));
    text += &format!("  {rows} records in {batches} batches decided again, {accounts} accounts compared\n");
    if report.flow_rows > 0 {
        text += &format!(
            "  {} rows of deposits and payouts are as the journal has left them\n",
            thousands(report.flow_rows)
        );
    }
    text += &format!("  {} records/s, {:.1} s\n", thousands(audited.rows_per_s()), audited.took.as_secs_f32());
    for (asset, (debits, _)) in &report.totals {
        let total = debits.amount().map_or_else(|| debits.to_string(), |sum| assets.with_symbol(*asset, sum));
        text += &format!("  asset {asset}: {total} on either side\n");
    }
    text += &format!("  head {}\n", hex::encode(report.head));
    match indexes {
        None => {}
        Some(Ok(found)) => {
            let (keys, terms) = (thousands(found.keys), thousands(found.terms));
            text += &format!(
                "{} the indexes say what the journal says: {keys} keys, {terms} terms\n",
                paint.good("\u{2713}")
            );
        }
        Some(Err(error)) => {
            text += &format!(
                "{} {error}\n  {} open the books for writing: it is made again\n",
                paint.bad("\u{2717}"),
                paint.strong("fix:")
            );
        }
    }
    text
}
