//! Records in words: a line that says what and who, and below it what moved.

use std::fmt::{self, Write};

use bankroll_ledger::{Action, Effects, HoldChange, HoldState, Leg, Record, References, Request, Seq, Verdict};
use bankroll_store::Entry;
use bankroll_terminal::{Paint, when};

use super::{Shown, namespace_word, principal_words};

/// One record, told over a few lines.
pub fn told(entry: &Entry, reversed_by: Option<Seq>, shown: &Shown<'_>, paint: Paint) -> Result<String, fmt::Error> {
    let mut text = String::new();
    write!(text, "{} {}  ", paint.strong(&format!("#{}", entry.seq)), paint.quiet(&when::show(entry.at)))?;
    match &entry.record {
        Record::AssetListed { id, asset } => writeln!(text, "asset {id} listed: {} on {}", asset.symbol, asset.chain)?,
        Record::AccountOpened { id, name, by, .. } => {
            writeln!(text, "account {id} opened: {name}, by {}", principal_words(by))?;
        }
        Record::HoldExpired(change) => {
            writeln!(text, "a hold's time was over")?;
            writeln!(text, "    {}", hold_words("expired", change, shown))?;
        }
        Record::Decided { request, verdict } => tell_decided(&mut text, request, verdict, reversed_by, shown, paint)?,
    }
    Ok(text)
}

fn tell_decided(
    text: &mut String,
    request: &Request,
    verdict: &Verdict,
    reversed_by: Option<Seq>,
    shown: &Shown<'_>,
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
        Verdict::Applied(effects) => tell_effects(text, request, effects, shown)?,
        Verdict::Rejected(_) => tell_asked(text, &request.action, shown)?,
    }
    let references = told_references(&request.references);
    if !references.is_empty() {
        writeln!(text, "    about {references}")?;
    }
    for event in &request.events {
        writeln!(text, "    announced {} {}", event.kind, plain(&event.resource))?;
    }
    if let Some(reversal) = reversed_by {
        writeln!(text, "    {} by #{reversal}", paint.bad("reversed"))?;
    }
    Ok(())
}

fn tell_effects(text: &mut String, request: &Request, effects: &Effects, shown: &Shown<'_>) -> fmt::Result {
    if let Some(original) = effects.reverses {
        writeln!(text, "    takes back #{original}")?;
    }
    for posting in &effects.postings {
        let (from, to) = (shown.account(posting.from), shown.account(posting.to));
        writeln!(text, "    {from} -> {to}  {}", shown.amount(posting.from, posting.amount))?;
    }
    let legs = if let Action::Legs(legs) = &request.action { legs.as_slice() } else { &[] };
    let about_holds = legs.iter().filter(|leg| !matches!(leg, Leg::Move { .. }));
    for (leg, change) in about_holds.zip(&effects.holds) {
        let word = match leg {
            Leg::Post { .. } => "posted",
            Leg::Release { .. } => "released",
            Leg::Hold { .. } | Leg::Move { .. } => "made",
        };
        writeln!(text, "    {}", hold_words(word, change, shown))?;
    }
    Ok(())
}

/// What a rejected request had asked for.
fn tell_asked(text: &mut String, action: &Action, shown: &Shown<'_>) -> fmt::Result {
    match action {
        Action::Reverse(seq) => writeln!(text, "    asked to take back #{seq}"),
        Action::Legs(legs) => legs.iter().try_for_each(|leg| match leg {
            Leg::Move { from, to, amount } => {
                let (source, target) = (shown.account(*from), shown.account(*to));
                writeln!(text, "    asked: {source} -> {target}  {}", shown.amount(*from, *amount))
            }
            Leg::Hold { account, amount, .. } => {
                writeln!(text, "    asked to hold {} in {}", shown.amount(*account, *amount), shown.account(*account))
            }
            Leg::Post { hold, to, amount } => {
                writeln!(
                    text,
                    "    asked to post {} of hold {hold} to {}",
                    shown.amount(*to, *amount),
                    shown.account(*to)
                )
            }
            Leg::Release { hold } => writeln!(text, "    asked to release hold {hold}"),
        }),
    }
}

fn hold_words(what: &str, change: &HoldChange, shown: &Shown<'_>) -> String {
    let hold = &change.hold;
    let left = match hold.state {
        HoldState::Open => format!("{} set aside", shown.amount(hold.account, hold.remaining)),
        HoldState::Settled => "nothing left".into(),
        HoldState::Expired => "the rest is free".into(),
    };
    let held = shown.amount(hold.account, change.held_after);
    format!("hold {} in {} {what}: {left}; held there in all {held}", hold.id, shown.account(hold.account))
}

/// The references in words; nothing if there are none.
pub fn told_references(references: &References) -> String {
    let References { deposit, intent, tx_hash, hand, block } = references;
    let named = |kind: &str, text: &Option<String>| text.as_ref().map(|text| format!("{kind} {}", plain(text)));
    let block = block.as_ref().map(|block| format!("block {} {}", block.number, plain(&block.hash)));
    let all = [named("deposit", deposit), named("intent", intent), named("tx", tx_hash), named("hand", hand), block];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A text that somebody else chose, without anything that a terminal would obey: the ledger lets no control characters
/// in, but turning the direction of writing is none to it.
fn plain(text: &str) -> String {
    let steers = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect()
}
