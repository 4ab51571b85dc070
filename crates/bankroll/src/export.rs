//! `bankroll export`: a whole statement, or the whole journal, streamed to standard output a page at a time.

use std::io::{self, BufWriter, Write};

use anyhow::Context;
use bankroll_ledger::{AccountId, Amount, Effects, HoldState, Record, References, Seq, Verdict};
use bankroll_store::{JournalEntry, Reader, StatementQuery};
use bankroll_terminal::{Exit, Sheet, when};
use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::{
    accounts::find,
    journal::{DisplayContext, entry_json, namespace_word, principal_words},
    location::LocationArgs,
    statement::{HEADER, line_cells, line_json},
};

/// Records per read. Short reads keep the write-ahead log of a busy writer short.
const PAGE: usize = 2_000;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll export --format csv > journal.csv
  bankroll export --account arena/world/1 --format csv > world.csv
  bankroll export --format json | jq -c 'select(.type == \"decided\")'

JSON is one object per line. The journal's CSV has a row for each posting and
each change of a hold, and one for each record without either. A posting debits
one account and credits another; `direction` says what that means: `in` both
balances rise, `out` both fall, `move` one falls and the other rises. A cell that
would be a formula in a spreadsheet begins with an apostrophe.")]
pub struct ExportArgs {
    /// Only the statement of this account, by its number or name
    #[arg(long, value_name = "ACCOUNT")]
    account: Option<String>,
    /// The output format
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    format: ExportFormat,
    #[command(flatten)]
    location: LocationArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    Csv,
    Json,
}

pub fn run(args: &ExportArgs, json: bool) -> anyhow::Result<Exit> {
    let reader = args.location.reader()?;
    let display = DisplayContext::new(&reader)?;
    let format = if json { ExportFormat::Json } else { args.format };
    match &args.account {
        Some(account) => export_statement(&reader, account, &display, format)?,
        None => export_journal(&reader, &display, format)?,
    }
    Ok(Exit::Ok)
}

enum ExportWriter<W: Write> {
    Csv(Box<Sheet<W>>),
    Json(W),
}

impl ExportWriter<BufWriter<io::StdoutLock<'static>>> {
    fn open(format: ExportFormat, header: &[&str]) -> anyhow::Result<Self> {
        let out = BufWriter::new(io::stdout().lock());
        Ok(match format {
            ExportFormat::Csv => Self::Csv(Box::new(Sheet::new(out, header)?)),
            ExportFormat::Json => Self::Json(out),
        })
    }

    fn put(&mut self, rows: impl FnOnce() -> Vec<Vec<String>>, object: impl FnOnce() -> Value) -> anyhow::Result<()> {
        match self {
            Self::Csv(sheet) => rows().into_iter().try_for_each(|row| sheet.row(row)),
            Self::Json(out) => writeln!(out, "{}", object()).context("cannot write to standard output"),
        }
    }

    fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Csv(sheet) => sheet.finish(),
            Self::Json(mut out) => out.flush().context("cannot write to standard output"),
        }
    }
}

fn export_statement(
    reader: &Reader,
    account: &str,
    display: &DisplayContext<'_>,
    format: ExportFormat,
) -> anyhow::Result<()> {
    let account = find(reader, account)?;
    let mut out = ExportWriter::open(format, &HEADER)?;
    let mut query = StatementQuery { most: PAGE, ..StatementQuery::of(account.id) };
    loop {
        let page = reader.statement(&query)?;
        for line in &page.items {
            out.put(|| vec![line_cells(&account, line, display)], || line_json(&account, line, display))?;
        }
        query.after = page.next;
        if query.after.is_none() {
            return out.finish();
        }
    }
}

fn export_journal(reader: &Reader, display: &DisplayContext<'_>, format: ExportFormat) -> anyhow::Result<()> {
    let mut out = ExportWriter::open(format, &JOURNAL_HEADER)?;
    let mut after = Seq(0);
    loop {
        let page = reader.journal_after(after, PAGE)?;
        for entry in &page {
            let reversed_by = reader.reversal_of(entry.seq)?;
            out.put(|| rows_of(entry, display), || entry_json(entry, reversed_by, display))?;
        }
        match page.last() {
            Some(last) => after = last.seq,
            None => return out.finish(),
        }
    }
}

/// The columns of the journal. New ones go to the end.
const JOURNAL_HEADER: [&str; 27] = [
    "seq",
    "at",
    "type",
    "result",
    "key_namespace",
    "key_scope",
    "key",
    "principal",
    "debit",
    "credit",
    "amount",
    "amount_decimal",
    "symbol",
    "debit_balance_after",
    "credit_balance_after",
    "hold",
    "hold_state",
    "hold_remaining",
    "held_after",
    "deposit",
    "intent",
    "tx_hash",
    "hand",
    "block",
    "reverses",
    "direction",
    "account",
];

/// The cells that differ between rows of one record: the columns from `debit` to `held_after`, and the last two.
#[derive(Default)]
struct MoveCells {
    middle: [String; 11],
    last: [String; 2],
}

/// A row for each posting and each change of a hold; one for a record that has neither.
fn rows_of(entry: &JournalEntry, display: &DisplayContext<'_>) -> Vec<Vec<String>> {
    let none = Effects::default();
    let no_references = References::default();
    let (record_type, result, request, effects) = match &entry.record {
        Record::AssetListed { .. } => ("asset_listed", "", None, &none),
        Record::AccountOpened { .. } => ("account_opened", "", None, &none),
        Record::HoldExpired(_) => ("hold_expired", "", None, &none),
        Record::LossAccepted(_) => ("loss_accepted", "", None, &none),
        Record::Decided { request, verdict: Verdict::Applied(effects) } => {
            ("decided", "applied", Some(request), effects)
        }
        Record::Decided { request, verdict: Verdict::Rejected(rejection) } => {
            ("decided", rejection.code(), Some(request), &none)
        }
    };
    let text = |text: Option<&String>| text.cloned().unwrap_or_default();
    let key = request.map(|request| &request.key);
    let by = match &entry.record {
        Record::AccountOpened { by, .. } => Some(by),
        _ => request.map(|request| &request.principal),
    };
    let before = [
        entry.seq.to_string(),
        when::show(entry.at),
        record_type.into(),
        result.into(),
        key.map_or_else(String::new, |key| namespace_word(key.namespace).into()),
        key.map_or_else(String::new, |key| key.scope.to_string()),
        text(key.map(|key| &key.text)),
        by.map_or_else(String::new, principal_words),
    ];
    let about = request.map_or(&no_references, |request| &request.references);
    let behind = [
        text(about.deposit.as_ref()),
        text(about.intent.as_ref()),
        text(about.tx_hash.as_ref()),
        text(about.hand.as_ref()),
        about.block.as_ref().map_or_else(String::new, |block| format!("{} {}", block.number, block.hash)),
        effects.reverses.map_or_else(String::new, |seq| seq.to_string()),
    ];
    let moved = moved(&entry.record, effects, display);
    let row = |moved: MoveCells| {
        before.iter().cloned().chain(moved.middle).chain(behind.iter().cloned()).chain(moved.last).collect()
    };
    moved.into_iter().map(row).collect()
}

fn moved(record: &Record, effects: &Effects, display: &DisplayContext<'_>) -> Vec<MoveCells> {
    let postings = effects.postings.iter().map(|posting| {
        let [amount, decimal, symbol] = amount_cells(posting.from, posting.amount, display);
        let (from, to) = (display.account(posting.from), display.account(posting.to));
        let after = [posting.from_after, posting.to_after].map(|after| after.to_string());
        let [from_after, to_after] = after;
        let none = String::new;
        let middle = [from, to, amount, decimal, symbol, from_after, to_after, none(), none(), none(), none()];
        let direction = display.readable(posting).map_or_else(none, |posting| posting.direction.word().to_owned());
        MoveCells { middle, last: [direction, none()] }
    });
    let expired = if let Record::HoldExpired(change) = record { Some(change) } else { None };
    let holds = effects.holds.iter().chain(expired).map(|change| {
        let hold = &change.hold;
        let mut moved = MoveCells { last: [String::new(), display.account(hold.account)], ..MoveCells::default() };
        let cells = &mut moved.middle;
        cells[4] = amount_cells(hold.account, hold.remaining, display)[2].clone();
        let state = match hold.state {
            HoldState::Open => "open",
            HoldState::Settled => "settled",
            HoldState::Expired => "expired",
        };
        cells[7] = hold.id.to_string();
        cells[8] = state.into();
        cells[9] = hold.remaining.to_string();
        cells[10] = change.held_after.to_string();
        moved
    });
    let all: Vec<MoveCells> = postings.chain(holds).collect();
    if !all.is_empty() {
        return all;
    }
    let opened = if let Record::AccountOpened { name, .. } = record { name.to_string() } else { String::new() };
    vec![MoveCells { last: [String::new(), opened], ..MoveCells::default() }]
}

fn amount_cells(account: AccountId, amount: Amount, display: &DisplayContext<'_>) -> [String; 3] {
    let asset = display.asset_of(account);
    let decimal = asset.map_or_else(String::new, |asset| display.assets.decimal(asset, amount));
    let symbol =
        asset.and_then(|asset| display.assets.get(asset)).map_or_else(String::new, |asset| asset.symbol.clone());
    [amount.to_string(), decimal, symbol]
}
