//! Records as text: a line with the kind and the principal, then the moves.

use std::fmt::{self, Write};

use bankroll_ledger::{Action, Effects, HoldChange, HoldState, Leg, Record, References, Request, Seq, Verdict};
use bankroll_store::JournalEntry;
use bankroll_terminal::{Paint, when};

use super::{DisplayContext, namespace_word, principal_words};

pub fn entry_text(
    entry: &JournalEntry,
    reversed_by: Option<Seq>,
    display: &DisplayContext<'_>,
    paint: Paint,
) -> Result<String, fmt::Error> {
    let mut text = String::new();
    write!(text, "{} {}  ", paint.strong(&format!("#{}", entry.seq)), paint.quiet(&when::show(entry.at)))?;
    match &entry.record {
        Record::AssetListed { id, asset } => writeln!(text, "asset {id} listed: {} on {}", asset.symbol, asset.chain)?,
        Record::AccountOpened { id, name, by, .. } => {
            writeln!(text, "account {id} opened: {name}, by {}", principal_words(by))?;
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
    let (key, by) = (&request.key, principal_words(&request.principal));
    let verdict_words = match verdict {
        Verdict::Applied(_) => paint.good("applied"),
        Verdict::Rejected(rejection) => format!("{} ({rejection})", paint.bad(rejection.code())),
    };
    writeln!(
        text,
        "{} ({} of {}) by {by}: {verdict_words}",
        plain(&key.text),
        namespace_word(key.namespace),
        key.scope
    )?;
    match verdict {
        Verdict::Applied(effects) => write_effects(text, request, effects, display)?,
        Verdict::Rejected(_) => write_requested(text, &request.action, display)?,
    }
    let references = references_text(&request.references);
    if !references.is_empty() {
        writeln!(text, "    references {references}")?;
    }
    for event in &request.events {
        writeln!(text, "    announced {} {}", event.kind, plain(&event.resource))?;
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
        let (from, to) = (display.account(posting.from), display.account(posting.to));
        writeln!(text, "    {from} -> {to}  {}", display.amount(posting.from, posting.amount))?;
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
                let (source, target) = (display.account(*from), display.account(*to));
                writeln!(text, "    requested: {source} -> {target}  {}", display.amount(*from, *amount))
            }
            Leg::Hold { account, amount, .. } => {
                writeln!(
                    text,
                    "    requested: hold {} in {}",
                    display.amount(*account, *amount),
                    display.account(*account)
                )
            }
            Leg::Post { hold, to, amount } => {
                writeln!(
                    text,
                    "    requested: post {} of hold {hold} to {}",
                    display.amount(*to, *amount),
                    display.account(*to)
                )
            }
            Leg::Release { hold } => writeln!(text, "    requested: release hold {hold}"),
        }),
    }
}

fn hold_words(what: &str, change: &HoldChange, display: &DisplayContext<'_>) -> String {
    let hold = &change.hold;
    let left = match hold.state {
        HoldState::Open => format!("{} held", display.amount(hold.account, hold.remaining)),
        HoldState::Settled => "nothing left".into(),
        HoldState::Expired => "the rest is released".into(),
    };
    let held = display.amount(hold.account, change.held_after);
    format!("hold {} in {} {what}: {left}; total held {held}", hold.id, display.account(hold.account))
}

/// The references as text; empty if there are none.
pub fn references_text(references: &References) -> String {
    let References { deposit, intent, tx_hash, hand, block } = references;
    let named = |kind: &str, text: &Option<String>| text.as_ref().map(|text| format!("{kind} {}", plain(text)));
    let block = block.as_ref().map(|block| format!("block {} {}", block.number, plain(&block.hash)));
    let all = [named("deposit", deposit), named("intent", intent), named("tx", tx_hash), named("hand", hand), block];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Untrusted text without characters that a terminal would obey. The ledger refuses control characters, but accepts
/// those that change the direction of writing.
fn plain(text: &str) -> String {
    let steers = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect()
}
