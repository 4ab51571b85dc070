//! `bankroll explain`: what happened to a wallet, a transaction, a deposit, a payout or a key.
//!
//! A wallet is shown as a story, everything else with its records. Deposits and payouts are read from their
//! flows too, so that one the books do not have yet is known.

mod play;
mod story;

use crate::wallet_name::{WalletNameError, wallet_name};
use bankroll_deposits::view::{self, DepositFilter, DepositView};
use bankroll_ledger::Name;
use bankroll_store::{AccountFilter, KeyQuery, Reader, SearchSubject, Timeline};
use bankroll_terminal::{self as terminal, Exit, NotFound, Paint, UsageError, Width};
use bankroll_withdrawals::views::{self, PayoutView};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    accounts::account_json,
    deposits::{deposit_json, details},
    journal::{self, DisplayContext, entry_json},
    location::LocationArgs,
    withdrawals::{PayoutDetails, payout_json},
};

/// Records that a story is made of, at most.
const STORY_RECORDS: usize = 10_000;
/// Deposits and payouts of one wallet that are read, at most; the newest ones.
const FLOWS_MAX: usize = 200;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll explain 0x63fa0a97...                           a wallet: what it paid, played and got
  bankroll explain 0x63fa0a97... --all                     the same, every record
  bankroll explain 0x5f3a...                               a transaction: a deposit or a payout
  bankroll explain eip155:31337:0x5f3a...:native:0         a deposit
  bankroll explain wd-2f6e8b...                            a payout
  bankroll explain 0-2-000024278 --json                    a key of the game server

The kind of the value is found by looking it up; if it has several meanings, each
is shown. Give the full value. A wallet's story sums up long stretches of play;
--all lists every record. Of a key, a deposit or a payout, holds are followed to
their end and reversals both ways. Times are UTC.

`in` is money that came in (the player's balance and the wallet's custody rise),
`out` money that went out (both fall), `move` money inside the books. Hashes and
addresses of records are shortened; --wide and --json have them whole.")]
pub struct ExplainArgs {
    /// A wallet, a transaction hash, a deposit, a payout, a key, a hand or a block's hash
    #[arg(value_name = "WALLET|TX|ID|KEY")]
    what: String,
    /// Of a wallet: every record instead of the story
    #[arg(long)]
    all: bool,
    /// Show whole hashes and addresses, microseconds and base units
    #[arg(long)]
    wide: bool,
    /// Maximum number of records that are listed
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = terminal::whole::<u32>(1..=10_000, "the limit"))]
    limit: u32,
    #[command(flatten)]
    location: LocationArgs,
}

/// What was found about the value.
struct Findings {
    wallet: Option<Name>,
    /// By meaning; a wallet's is the last.
    timelines: Vec<(&'static str, Timeline)>,
    deposits: Vec<DepositView>,
    payouts: Vec<PayoutView>,
}

pub fn run(args: &ExplainArgs, json: bool) -> anyhow::Result<Exit> {
    let wallet = match wallet_name(&args.what) {
        Ok(name) => Some(name),
        Err(error @ WalletNameError::Checksum { .. }) => return Err(UsageError(error.to_string()).into()),
        // A text that is not a name is not a wallet either.
        Err(WalletNameError::Name(_)) => None,
    };
    let reader = args.location.reader()?;
    let is_story = !json && !args.all;
    let wallet_records = if is_story { STORY_RECORDS } else { args.limit as usize };
    let findings = find(&reader, &args.what, wallet, args.limit as usize, wallet_records)?;
    let Findings { timelines, deposits, payouts, .. } = &findings;
    if timelines.is_empty() && deposits.is_empty() && payouts.is_empty() {
        let message = format!(
            "no match for {:?} among wallets, transactions, deposits, payouts, keys, hands and blocks; give the full value",
            args.what
        );
        return Err(NotFound(message).into());
    }
    let display = DisplayContext::new(&reader)?.with_width(Width::of_flag(args.wide));
    if json {
        terminal::answer_json(&findings.json(&args.what, &reader, &display)?)?;
    } else {
        terminal::answer(&findings.text(args, &reader, &display)?)?;
    }
    Ok(Exit::Ok)
}

fn find(
    reader: &Reader,
    text: &str,
    wallet: Option<Name>,
    most: usize,
    wallet_records: usize,
) -> anyhow::Result<Findings> {
    let mut subjects = vec![
        ("key", SearchSubject::Key(KeyQuery { text: text.to_owned(), namespace: None, scope: None }), most),
        ("transaction", SearchSubject::Transaction(text.to_owned()), most),
        ("deposit", SearchSubject::Deposit(text.to_owned()), most),
        ("payout", SearchSubject::Intent(text.to_owned()), most),
        ("hand", SearchSubject::Hand(text.to_owned()), most),
        ("block", SearchSubject::Block(text.to_owned()), most),
    ];
    subjects.extend(wallet.clone().map(|wallet| ("wallet", SearchSubject::Wallet(wallet), wallet_records)));
    let mut timelines = Vec::new();
    for (meaning, subject, most) in subjects {
        let timeline = reader.timeline(&subject, most)?;
        if !timeline.entries.is_empty() {
            timelines.push((meaning, timeline));
        }
    }
    let mut deposits = Vec::new();
    if view::has_tables(reader)? {
        deposits = view::find(reader, text)?;
        if deposits.is_empty() && wallet.is_some() {
            let filter = DepositFilter { wallet: wallet.clone(), ..DepositFilter::default() };
            deposits = view::list(reader, &filter, FLOWS_MAX)?;
        }
    }
    let mut payouts = Vec::new();
    if views::has_tables(reader)? {
        payouts = views::find_payouts(reader, wallet.as_ref().map_or(text, Name::as_str), FLOWS_MAX)?;
    }
    let is_wallets = |deposit: &DepositView, wallet: &Name| {
        deposit.from == wallet.as_str() || deposit.wallet.as_deref() == Some(wallet.as_str())
    };
    let is_paid = |payout: &PayoutView, wallet: &Name| {
        payout.wallet == wallet.as_str() || payout.to.lower_hex() == wallet.as_str()
    };
    let wallet = wallet.filter(|wallet| {
        timelines.iter().any(|(meaning, _)| *meaning == "wallet")
            || deposits.iter().any(|deposit| is_wallets(deposit, wallet))
            || payouts.iter().any(|payout| is_paid(payout, wallet))
    });
    Ok(Findings { wallet, timelines, deposits, payouts })
}

impl Findings {
    fn text(&self, args: &ExplainArgs, reader: &Reader, display: &DisplayContext<'_>) -> anyhow::Result<String> {
        let paint = Paint::stdout();
        let mut output = String::new();
        if self.wallet.is_none() || args.all {
            for deposit in &self.deposits {
                output.push_str(&details(deposit, &display.assets, paint)?);
            }
            for payout in &self.payouts {
                output.push_str(&PayoutDetails::read(reader, payout.clone())?.text(&display.assets, paint)?);
            }
        }
        for (meaning, timeline) in &self.timelines {
            if *meaning == "wallet" && !args.all {
                continue;
            }
            output.push_str(&format!(
                "{}\n",
                paint.strong(&format!("records of {meaning} {}", display.width.fit(&args.what)))
            ));
            for entry in &timeline.entries {
                output.push_str(&journal::entry_text(entry, reader.reversal_of(entry.seq)?, display, paint)?);
            }
            if !timeline.complete {
                let hint = if *meaning == "wallet" { "older" } else { "more" };
                output.push_str(
                    &paint.quiet(&format!("there are {hint} records: raise --limit, or use `bankroll search`\n")),
                );
            }
        }
        if let Some(wallet) = self.wallet.as_ref().filter(|_| !args.all) {
            output.push_str(&self.story(wallet, reader, display, paint)?);
        }
        Ok(output)
    }

    fn story(
        &self,
        wallet: &Name,
        reader: &Reader,
        display: &DisplayContext<'_>,
        paint: Paint,
    ) -> anyhow::Result<String> {
        let timeline = self.timelines.iter().find(|(meaning, _)| *meaning == "wallet").map(|(_, timeline)| timeline);
        let filter = AccountFilter { owner: Some(wallet.clone()), ..AccountFilter::default() };
        let wallet_story = story::WalletStory {
            wallet,
            entries: timeline.map_or(&[], |timeline| &timeline.entries[..]),
            is_complete: timeline.is_none_or(|timeline| timeline.complete),
            deposits: &self.deposits,
            payouts: &self.payouts,
            accounts: &reader.accounts(&filter, FLOWS_MAX)?,
        };
        Ok(wallet_story.text(display, paint))
    }

    fn json(&self, what: &str, reader: &Reader, display: &DisplayContext<'_>) -> anyhow::Result<Value> {
        let mut timelines = Vec::new();
        for (meaning, timeline) in &self.timelines {
            let mut entries = Vec::new();
            for entry in &timeline.entries {
                entries.push(entry_json(entry, reader.reversal_of(entry.seq)?, display));
            }
            timelines.push(json!({ "as": meaning, "entries": entries, "complete": timeline.complete }));
        }
        let mut payouts = Vec::new();
        for payout in &self.payouts {
            payouts.push(payout_json(&PayoutDetails::read(reader, payout.clone())?, &display.assets));
        }
        let accounts = match &self.wallet {
            Some(wallet) => {
                let filter = AccountFilter { owner: Some(wallet.clone()), ..AccountFilter::default() };
                reader.accounts(&filter, FLOWS_MAX)?
            }
            None => Vec::new(),
        };
        let deposits: Vec<Value> = self.deposits.iter().map(|deposit| deposit_json(deposit, &display.assets)).collect();
        let accounts: Vec<Value> = accounts.iter().map(|account| account_json(account, &display.assets)).collect();
        Ok(json!({
            "what": what, "accounts": accounts, "deposits": deposits, "withdrawals": payouts, "timelines": timelines,
        }))
    }
}
