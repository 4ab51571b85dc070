//! `bankroll statement`: the entries of an account, each with the balance after it.

mod rows;

use bankroll_ledger::{Account, Time};
use bankroll_store::{Cursor, Page, StatementChange, StatementLine, StatementQuery};
use bankroll_terminal::{self as terminal, Exit, Paint, Sheet, UsageError, Width, table, when};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::{
    accounts::{account_json, find},
    journal::{DisplayContext, plain, references_text},
    location::LocationArgs,
};
pub use rows::{HEADER, line_cells, line_json};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll statement arena/world/1 --dir bankroll-demo
  bankroll statement arena/funds/1/0x63fa... --descending --limit 20
  bankroll statement 3 --from 2026-11-01 --to 2026-11-30T23:59:59Z --format csv > november.csv
  bankroll statement 3 --after CURSOR --json     the next page

Every entry names the other account and the balance after it. `in` adds to the
balance of this account and `out` takes from it: a deposit is `in` for the player
and for the wallet's custody, a payout is `out` for both. CSV and JSON also say
`debit` or `credit` in `entry`, as a bookkeeper does.

Times are UTC. A TIME is 2026-11-15T08:30:00Z, a date (its first moment), or a
number since 1970: 10 digits are seconds, 13 milliseconds, 16 microseconds. The
table is the same in a pipe; programs read --json or --format csv, which are whole.")]
pub struct StatementArgs {
    /// The account's number or name
    #[arg(value_name = "ACCOUNT")]
    account: String,
    /// Only entries from this time on
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    from: Option<Time>,
    /// Only entries until this time, inclusive
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    to: Option<Time>,
    /// Continue after this cursor
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// Maximum number of entries
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = terminal::whole::<u32>(1..=10_000, "the limit"))]
    limit: u32,
    /// Newest first
    #[arg(long)]
    descending: bool,
    /// Show whole names, microseconds, base units, keys and references in the table
    #[arg(long)]
    wide: bool,
    /// The output format
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: StatementFormat,
    #[command(flatten)]
    location: LocationArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatementFormat {
    Table,
    Csv,
    Json,
}

pub fn run(args: &StatementArgs, json: bool) -> anyhow::Result<Exit> {
    when::check_period(args.from, args.to).map_err(UsageError)?;
    let reader = args.location.reader()?;
    let account = find(&reader, &args.account)?;
    let after = args.after.as_deref().map(parse_cursor).transpose()?;
    let query = StatementQuery {
        from: args.from,
        to: args.to,
        descending: args.descending,
        after,
        most: args.limit as usize,
        ..StatementQuery::of(account.id)
    };
    let page = reader.statement(&query)?;
    let display = DisplayContext::new(&reader)?.with_width(Width::of_flag(args.wide));
    let format = if json { StatementFormat::Json } else { args.format };
    match format {
        StatementFormat::Table => {
            let is_part = args.from.is_some() || args.to.is_some() || args.after.is_some();
            terminal::answer(&text(&account, &page, is_part, &display))?;
        }
        StatementFormat::Json => {
            let lines: Vec<Value> = page.items.iter().map(|line| line_json(&account, line, &display)).collect();
            let next = page.next.as_ref().map(ToString::to_string);
            let account = account_json(&account, &display.assets);
            terminal::answer_json(&json!({ "account": account, "lines": lines, "next": next }))?;
        }
        StatementFormat::Csv => {
            let mut sheet = Sheet::new(std::io::stdout().lock(), &HEADER)?;
            page.items.iter().try_for_each(|line| sheet.row(line_cells(&account, line, &display)))?;
            sheet.finish()?;
            if let Some(next) = &page.next {
                // On standard error: programs read the rows.
                eprintln!("more: --after {next}");
            }
        }
    }
    Ok(Exit::Ok)
}

/// What the option `--after` gives.
pub fn parse_cursor(text: &str) -> Result<Cursor, UsageError> {
    let wrong = |_| UsageError(format!("--after {} is not a cursor; copy it from the line \"more:\"", plain(text)));
    text.parse().map_err(wrong)
}

/// `is_part` if there may be entries outside of what was requested.
fn text(account: &Account, page: &Page<StatementLine>, is_part: bool, display: &DisplayContext<'_>) -> String {
    let paint = Paint::stdout();
    let head = paint.strong(&account.name.to_string());
    if page.items.is_empty() {
        return format!("{head}\n{}", if is_part { "no entries in this period" } else { "no entries yet" });
    }
    let table = if display.width.is_wide() { wide(account, page, display) } else { narrow(account, page, display) };
    let hint = page.next.as_ref().map(|next| paint.quiet(&format!("\nmore: --after {next}")));
    format!("{head}\n{table}{}", hint.unwrap_or_default())
}

/// The table for a screen. Entries have no date of their own: a row with it stands before the first one of each day.
/// The names of other accounts get what the exact amounts leave of 100 columns.
fn narrow(account: &Account, page: &Page<StatementLine>, display: &DisplayContext<'_>) -> String {
    const OTHER: usize = 3;
    let asset = account.name.asset;
    let symbol = display.assets.get(asset).map_or_else(String::new, |asset| format!(" {}", asset.symbol));
    let header = ["RECORD", "UTC", "WHAT", "OTHER ACCOUNT", &format!("AMOUNT{symbol}"), &format!("BALANCE{symbol}")];
    let mut rows: Vec<[String; 6]> = Vec::new();
    let mut day = String::new();
    for line in &page.items {
        let at = when::seconds(line.at);
        let (date, time) = at.split_once(' ').unwrap_or(("", &at));
        if date != day {
            day = date.to_owned();
            rows.push(["", "", "", date, "", ""].map(str::to_owned));
        }
        let (other, sign) = match line.change {
            StatementChange::Moved { other, .. } => (display.account(other), rows::sign(account, line)),
            // What is held stays in the balance.
            _ => (String::new(), ""),
        };
        rows.push([
            line.seq.to_string(),
            time.to_owned(),
            rows::word(account, line).to_owned(),
            other,
            format!("{sign}{}", display.assets.decimal(asset, line.amount)),
            display.assets.decimal(asset, line.balance),
        ]);
    }
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    };
    // Two blanks between columns, and one before the first.
    let taken: usize = (0..header.len()).filter(|column| *column != OTHER).map(|column| widest(column) + 2).sum();
    let left = 99_usize.saturating_sub(taken).max(16);
    let mut table = table(&header, &[0, 4, 5]);
    for mut row in rows {
        row[OTHER] = display.width.fit_to(&row[OTHER], left);
        table.add_row(row);
    }
    let held = page.items.iter().max_by_key(|line| (line.seq, line.line)).map(|line| line.held);
    let held = held.filter(|held| !held.is_zero());
    let held =
        held.map(|held| format!("\nheld after the newest of these: {}", display.assets.with_symbol(asset, held)));
    format!("{}{}", table.trim_fmt(), held.unwrap_or_default())
}

fn wide(account: &Account, page: &Page<StatementLine>, display: &DisplayContext<'_>) -> String {
    let asset = account.name.asset;
    let symbol = display.assets.get(asset).map_or_else(String::new, |asset| format!(" {}", asset.symbol));
    let header = [
        "RECORD",
        "TIME",
        "WHAT",
        "OTHER ACCOUNT",
        &format!("AMOUNT{symbol}"),
        "BASE UNITS",
        &format!("BALANCE{symbol}"),
        "HELD",
        "KEY",
        "REFERENCES",
    ];
    let mut table = table(&header, &[0, 4, 5, 6, 7]);
    for line in &page.items {
        let other =
            if let StatementChange::Moved { other, .. } = line.change { display.account(other) } else { String::new() };
        let sign = rows::sign(account, line);
        table.add_row([
            line.seq.to_string(),
            when::show(line.at),
            rows::word(account, line).to_owned(),
            other,
            format!("{sign}{}", display.assets.decimal(asset, line.amount)),
            format!("{sign}{}", line.amount),
            display.assets.decimal(asset, line.balance),
            display.assets.decimal(asset, line.held),
            line.key.as_ref().map_or_else(String::new, |key| key.text.clone()),
            references_text(&line.references),
        ]);
    }
    table.trim_fmt()
}
