//! Records as text: a line with the key and the verdict, one with the principal, then the money.

use std::fmt::{self, Write};

use bankroll_ledger::{
    AccountKind, Action, Amount, Effects, HoldChange, HoldState, Leg, Posting, Record, References, Request, Seq,
    Verdict,
};
use bankroll_store::JournalEntry;
use bankroll_terminal::{Paint, Width, when};

use super::{DisplayContext, MoneyDirection, ReadablePosting, namespace_word, principal_words};

/// The longest line after an indentation of four that fits 100 columns.
const LINE_MAX: usize = 96;

pub fn entry_text(
    entry: &JournalEntry,
    reversed_by: Option<Seq>,
    display: &DisplayContext<'_>,
    paint: Paint,
) -> Result<String, fmt::Error> {
    let mut text = String::new();
    let at = if display.width.is_wide() { when::show(entry.at) } else { when::seconds(entry.at) };
    write!(text, "{} {}  ", paint.strong(&format!("#{}", entry.seq)), paint.quiet(&at))?;
    match &entry.record {
        Record::AssetListed { id, asset } => writeln!(text, "asset {id} listed: {} on {}", asset.symbol, asset.chain)?,
        Record::AccountOpened { id, name, by, .. } => {
            let name = display.width.fit_to(&name.to_string(), 40);
            writeln!(text, "account {id} opened: {name}, by {}", display.width.fit(&principal_words(by)))?;
        }
        Record::LossAccepted(loss) => {
            let (by, why) = (display.width.fit(&loss.by), display.width.fit(&loss.why));
            writeln!(text, "the loss of records up to #{} (batch {}) was accepted", loss.seq, loss.batch)?;
            writeln!(text, "    by {by}: {why}")?;
        }
        Record::HoldExpired(change) => {
            writeln!(text, "a hold expired")?;
            writeln!(text, "    {}", hold_words("expired", change, display))?;
        }
        Record::Decided { request, verdict } => {
            write_decided(&mut text, request, verdict, reversed_by, display, paint)?
        }
    }
    Ok(text)
}

fn write_decided(
    text: &mut String,
    request: &Request,
    verdict: &Verdict,
    reversed_by: Option<Seq>,
    display: &DisplayContext<'_>,
    paint: Paint,
) -> fmt::Result {
    let (key, by) = (&request.key, display.width.fit(&principal_words(&request.principal)));
    let verdict_words = match verdict {
        Verdict::Applied(_) => paint.good("applied"),
        Verdict::Rejected(rejection) => paint.bad(rejection.code()),
    };
    writeln!(text, "{verdict_words}  {}", display.width.fit_to(&plain(&key.text), 56))?;
    writeln!(text, "    by {by}; namespace {}, scope {}", namespace_word(key.namespace), key.scope)?;
    if let Verdict::Rejected(rejection) = verdict {
        writeln!(text, "    {rejection}")?;
    }
    match verdict {
        Verdict::Applied(effects) => write_effects(text, request, effects, display)?,
        Verdict::Rejected(_) => write_requested(text, &request.action, display)?,
    }
    for reference in reference_lines(&request.references, display.width) {
        writeln!(text, "    {reference}")?;
    }
    let announced = if matches!(verdict, Verdict::Applied(_)) { request.events.as_slice() } else { &[] };
    for event in announced {
        writeln!(text, "    announced {} {}", event.kind, display.width.fit_to(&plain(&event.resource), 56))?;
    }
    if let Some(reversal) = reversed_by {
        writeln!(text, "    {} by #{reversal}", paint.bad("reversed"))?;
    }
    Ok(())
}

fn write_effects(text: &mut String, request: &Request, effects: &Effects, display: &DisplayContext<'_>) -> fmt::Result {
    if let Some(original) = effects.reverses {
        writeln!(text, "    reverses #{original}")?;
    }
    for posting in &effects.postings {
        writeln!(text, "    {}", posting_words(posting, display))?;
    }
    let legs = if let Action::Legs(legs) = &request.action { legs.as_slice() } else { &[] };
    let about_holds = legs.iter().filter(|leg| !matches!(leg, Leg::Move { .. }));
    for (leg, change) in about_holds.zip(&effects.holds) {
        let word = match leg {
            Leg::Post { .. } => "posted",
            Leg::Release { .. } => "released",
            Leg::Hold { .. } | Leg::Move { .. } => "created",
        };
        writeln!(text, "    {}", hold_words(word, change, display))?;
    }
    Ok(())
}

/// What a rejected request had requested.
fn write_requested(text: &mut String, action: &Action, display: &DisplayContext<'_>) -> fmt::Result {
    match action {
        Action::Reverse(seq) => writeln!(text, "    requested: reverse #{seq}"),
        Action::Legs(legs) => legs.iter().try_for_each(|leg| match leg {
            Leg::Move { from, to, amount } => {
                let posting =
                    Posting { from: *from, to: *to, amount: *amount, from_after: Amount::ZERO, to_after: Amount::ZERO };
                writeln!(text, "    requested: {}", posting_words(&posting, display))
            }
            Leg::Hold { account, amount, .. } => {
                let (amount, account) = (display.amount(*account, *amount), display.account_text(*account));
                writeln!(text, "    requested: hold {amount} in {account}")
            }
            Leg::Post { hold, to, amount } => {
                let (amount, account) = (display.amount(*to, *amount), display.account_text(*to));
                writeln!(text, "    requested: post {amount} of hold {hold}, paid from {account}")
            }
            Leg::Release { hold } => writeln!(text, "    requested: release hold {hold}"),
        }),
    }
}

/// A posting as people read it; without books, by the numbers of its accounts.
fn posting_words(posting: &Posting, display: &DisplayContext<'_>) -> String {
    let amount = display.amount(posting.from, posting.amount);
    let Some(ReadablePosting { direction, first, second }) = display.readable(posting) else {
        let (debit, credit) = (posting.from, posting.to);
        return format!("{amount}: debit account {debit}, credit account {credit}");
    };
    let is_debt = display.name_of(second).is_some_and(|name| name.kind == AccountKind::Debt);
    let (first, second) = (display.account_text(first), display.account_text(second));
    let between = match direction {
        MoneyDirection::Move => " -> ",
        MoneyDirection::In if is_debt => ", owed in ",
        MoneyDirection::In => ", kept in ",
        MoneyDirection::Out if is_debt => ", repays ",
        MoneyDirection::Out => ", paid from ",
    };
    let line = format!("{:<4} {amount}  {first}{between}{second}", direction.word());
    if display.width.is_wide() || line.chars().count() <= LINE_MAX {
        return line;
    }
    format!("{:<4} {amount}\n         {first}{between}{second}", direction.word())
}

fn hold_words(what: &str, change: &HoldChange, display: &DisplayContext<'_>) -> String {
    let hold = &change.hold;
    let left = match hold.state {
        HoldState::Open => format!("{} held", display.amount(hold.account, hold.remaining)),
        HoldState::Settled => "nothing left".into(),
        HoldState::Expired => "the rest is released".into(),
    };
    let held = display.amount(hold.account, change.held_after);
    let text = format!("hold {} in {} {what}: {left}", hold.id, display.account_text(hold.account));
    if display.width.is_wide() { format!("{text}; total held {held}") } else { text }
}

/// The references in one line; empty if there are none.
pub fn references_text(references: &References) -> String {
    reference_lines(references, Width::Wide).join(", ")
}

/// A line for each reference. In short text the transaction is left out where the deposit's id contains it.
fn reference_lines(references: &References, width: Width) -> Vec<String> {
    let References { deposit, intent, tx_hash, hand, block } = references;
    let named =
        |kind: &str, text: Option<&String>| text.map(|text| format!("{kind} {}", width.fit_to(&plain(text), 60)));
    let block = block.as_ref().map(|block| format!("block {} {}", block.number, width.fit_to(&plain(&block.hash), 60)));
    let is_in_deposit = |tx: &&String| deposit.as_ref().is_some_and(|deposit| deposit.contains(tx.as_str()));
    let tx = tx_hash.as_ref().filter(|tx| width.is_wide() || !is_in_deposit(tx));
    let all = [
        named("deposit", deposit.as_ref()),
        named("intent", intent.as_ref()),
        named("tx", tx),
        named("hand", hand.as_ref()),
        block,
    ];
    all.into_iter().flatten().collect()
}

/// Untrusted text without characters that a terminal would obey. The ledger refuses control characters, but accepts
/// those that change the direction of writing.
pub fn plain(text: &str) -> String {
    let steers = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect()
}
