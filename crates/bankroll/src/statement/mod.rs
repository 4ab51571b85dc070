//! `bankroll statement`: line by line, how an account got where it stands.

mod rows;

use anyhow::Context;
use bankroll_ledger::{Account, Time};
use bankroll_store::{Change, Cursor, Direction, Line, Page, StatementQuery};
use bankroll_terminal::{self as terminal, Exit, Paint, Sheet, table, when};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::{
    accounts::{account_json, find},
    journal::{Shown, told_references},
    place::Place,
};
pub use rows::{HEADER, line_cells, line_json};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll statement arena/world/1 --dir bankroll-demo
  bankroll statement arena/funds/1/0xab12 --descending --limit 20
  bankroll statement 3 --from 2026-11-01 --to 2026-11-30T23:59:59Z --format csv > november.csv
  bankroll statement 3 --after CURSOR --json     the page behind the one that gave the cursor

Every line names the other account of its leg and has the balance after it. In
the table amounts stand with the asset's decimals and in base units.")]
pub struct StatementArgs {
    /// Its number, or its name
    #[arg(value_name = "ACCOUNT")]
    account: String,
    /// Only from this time on
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    from: Option<Time>,
    /// Only until this time, included
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    to: Option<Time>,
    /// Only behind the page that gave this cursor
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// How many lines at the most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Newest first
    #[arg(long)]
    descending: bool,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[command(flatten)]
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    Csv,
    Json,
}

pub fn run(args: &StatementArgs, json: bool) -> anyhow::Result<Exit> {
    let reader = args.place.reader()?;
    let account = find(&reader, &args.account)?;
    let after: Option<Cursor> = args.after.as_ref().map(|text| text.parse()).transpose().context("--after")?;
    let query = StatementQuery {
        from: args.from,
        to: args.to,
        descending: args.descending,
        after,
        most: args.limit as usize,
        ..StatementQuery::of(account.id)
    };
    let page = reader.statement(&query)?;
    let shown = Shown::new(&reader)?;
    let format = if json { Format::Json } else { args.format };
    match format {
        Format::Table => terminal::answer(&told(&account, &page, &shown))?,
        Format::Json => {
            let lines: Vec<Value> = page.items.iter().map(|line| line_json(&account, line, &shown)).collect();
            let next = page.next.as_ref().map(ToString::to_string);
            let account = account_json(&account, &shown.assets);
            terminal::answer_json(&json!({ "account": account, "lines": lines, "next": next }))?;
        }
        Format::Csv => {
            let mut sheet = Sheet::new(std::io::stdout().lock(), &HEADER)?;
            page.items.iter().try_for_each(|line| sheet.row(line_cells(&account, line, &shown)))?;
            sheet.finish()?;
            if let Some(next) = &page.next {
                // Not among the rows, which a program reads.
                eprintln!("more: --after {next}");
            }
        }
    }
    Ok(Exit::Ok)
}

fn told(account: &Account, page: &Page<Line>, shown: &Shown<'_>) -> String {
    let paint = Paint::stdout();
    let asset = account.name.asset;
    let head = paint.strong(&account.name.to_string());
    if page.items.is_empty() {
        return format!("{head}\nno line");
    }
    let symbol = shown.assets.get(asset).map_or_else(String::new, |asset| format!(" {}", asset.symbol));
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
        "ABOUT",
    ];
    let mut table = table(&header, &[0, 4, 5, 6, 7]);
    for line in &page.items {
        let other = if let Change::Moved { other, .. } = line.change { shown.account(other) } else { String::new() };
        let sign = rows::sign(account, line);
        table.add_row([
            line.seq.to_string(),
            when::show(line.at),
            word(line.change).to_owned(),
            other,
            format!("{sign}{}", shown.assets.decimal(asset, line.amount)),
            format!("{sign}{}", line.amount),
            shown.assets.decimal(asset, line.balance),
            shown.assets.decimal(asset, line.held),
            line.key.as_ref().map_or_else(String::new, |key| key.text.clone()),
            told_references(&line.references),
        ]);
    }
    let hint = page.next.as_ref().map(|next| paint.quiet(&format!("\nmore: --after {next}")));
    format!("{head}\n{}{}", table.trim_fmt(), hint.unwrap_or_default())
}

/// What a line is about, in a word that never changes: CSV and JSON have it too.
pub const fn word(change: Change) -> &'static str {
    match change {
        Change::Moved { direction: Direction::In, .. } => "in",
        Change::Moved { direction: Direction::Out, .. } => "out",
        Change::Held(_) => "held",
        Change::Posted(_) => "posted",
        Change::Released(_) => "released",
        Change::Expired(_) => "expired",
    }
}
