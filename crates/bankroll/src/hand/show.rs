//! `bankroll hand show`.

use std::{collections::BTreeMap, path::PathBuf};

use bankroll_deck::Curve;
use bankroll_poker::{
    Action, Card, Chips, Event, Hand, Phase, Seat, Settlement, Standing, Street, VoidCause,
    log::{Actor, MessageKind, Report, bundle::Replay},
};
use bankroll_terminal::{self as terminal, Exit, Paint, table};
use clap::Args;
use serde_json::json;

use super::{Visit, read, unsound, visit};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll hand show hands/hand-7-1.hand
  bankroll hand show hands/hand-7-1.hand --json    every envelope and receipt, decoded")]
pub struct HandShowArgs {
    /// The hand file
    file: PathBuf,
}

/// What `hand show` prints about a hand.
#[derive(Default)]
struct HandStory {
    /// The events of each street.
    streets: Vec<(Street, Vec<Card>, Vec<String>)>,
    /// The events after the last betting.
    showdown: Vec<String>,
    /// How many messages of each kind each party sent.
    sent: BTreeMap<Actor, BTreeMap<MessageKind, u32>>,
    end: Option<Hand>,
}

impl Visit for HandStory {
    fn visit<C: Curve>(&mut self, mut replay: Replay<'_, C>) -> anyhow::Result<()> {
        while let Some(step) = replay.step() {
            let step = step.map_err(|fault| unsound(&fault))?;
            let header = &step.envelope.header;
            *self.sent.entry(header.actor).or_default().entry(header.kind).or_default() += 1;
            let hand = replay.table().hand();
            if let Some(event) = &step.event {
                self.add(event, hand);
            }
        }
        self.end = Some(replay.table().hand().clone());
        Ok(())
    }
}

impl HandStory {
    fn add(&mut self, event: &Event, after: &Hand) {
        match event {
            Event::HoleCardsDealt => self.streets.push((Street::Preflop, Vec::new(), Vec::new())),
            Event::BoardOpened { cards } => self.streets.push((after.street(), cards.clone(), Vec::new())),
            Event::Acted { .. } | Event::TimedOut { .. } if self.showdown.is_empty() => {
                if let Some((.., lines)) = self.streets.last_mut() {
                    lines.push(event_text(event));
                }
            }
            other => self.showdown.push(event_text(other)),
        }
    }
}

pub fn run(args: &HandShowArgs, json: bool) -> anyhow::Result<Exit> {
    let bundle = read(&args.file)?;
    let report = bundle.verify(None).map_err(|fault| unsound(&fault))?;
    if json {
        terminal::answer_json(&json!(bundle.view()?))?;
        return Ok(Exit::Ok);
    }
    let mut story = HandStory::default();
    visit(&bundle, &report.config.curve, report.config.cards, &mut story)?;
    terminal::answer(&text(&report, &story))?;
    Ok(Exit::Ok)
}

fn text(report: &Report, story: &HandStory) -> String {
    let (paint, config) = (Paint::stdout(), &report.config);
    let rules = config.snapshot.rules();
    let mut text = format!(
        "{}  blinds {} / {}\n\n",
        paint.strong(&format!("{} / {} / {}", config.deployment, config.game, config.hand)),
        rules.small_blind,
        rules.big_blind
    );
    text += &seats(report, story.end.as_ref());
    for (street, cards, actions) in &story.streets {
        let name = json!(street);
        let name = paint.strong(name.as_str().unwrap_or_default());
        text += &format!("\n{name} {}\n", cards_text(cards));
        text += &actions.iter().map(|line| format!("  {line}\n")).collect::<String>();
    }
    if !story.showdown.is_empty() {
        text += &format!("\n{}\n", paint.strong("showdown"));
        text += &story.showdown.iter().map(|line| format!("  {line}\n")).collect::<String>();
    }
    match story.end.as_ref().map(Hand::phase) {
        Some(Phase::Settled(settlement)) => text += &pots(settlement, paint),
        Some(Phase::Void(cause)) => text += &format!("\n{} {}\n", paint.bad("void:"), void_text(cause)),
        _ => {}
    }
    text += &format!("\n{}\n{}", paint.strong("who proved what"), proofs(report, story));
    text
}

fn seats(report: &Report, end: Option<&Hand>) -> String {
    let config = &report.config;
    let mut table = table(&["SEAT", "", "PLAYER", "BEFORE", "AFTER", "CARDS"], &[0, 3, 4]);
    for seated in config.snapshot.seats() {
        let seat = seated.seat;
        let after = report.stacks.iter().find(|(other, _)| *other == seat).map_or(Chips::ZERO, |(_, chips)| *chips);
        let cards = match end.and_then(|hand| hand.player(seat)).map(|player| player.standing) {
            Some(Standing::Shown(cards)) => cards_text(&cards),
            Some(Standing::Folded) => "folded".into(),
            Some(Standing::Mucked { .. }) => "mucked".into(),
            _ => "not shown".into(),
        };
        let button = if seat == config.snapshot.button() { "button" } else { "" };
        let name = config.participant(Actor::Seat(seat)).map_or("", |participant| &participant.name);
        let (before, after) = (seated.stack.to_string(), after.to_string());
        table.add_row([seat.0.to_string(), button.into(), name.to_owned(), before, after, cards]);
    }
    format!("{}\n", table.trim_fmt())
}

fn pots(settlement: &Settlement, paint: Paint) -> String {
    let mut text = format!("\n{}\n", paint.strong("pots"));
    for (award, number) in settlement.awards.iter().zip(1..) {
        let winners: Vec<String> = award.winners.iter().map(|(seat, chips)| format!("{seat} wins {chips}")).collect();
        let rake = if award.rake.is_zero() { String::new() } else { format!(", rake {}", award.rake) };
        text += &format!("  pot {number} of {}: {}{rake}\n", award.pot.amount, winners.join(", "));
    }
    text
}

fn proofs(report: &Report, story: &HandStory) -> String {
    let kinds = [
        ("KEY", MessageKind::KeyRegistration),
        ("SHUFFLE", MessageKind::Shuffle),
        ("BLINDED", MessageKind::Blinding),
        ("UNBLINDED", MessageKind::Unblinding),
        ("BOARD", MessageKind::Community),
        ("SHOWN", MessageKind::Showdown),
        ("DECISIONS", MessageKind::Player),
    ];
    let header: Vec<&str> = ["", "NAME"].into_iter().chain(kinds.iter().map(|(name, _)| *name)).collect();
    let mut table = table(&header, &[2, 3, 4, 5, 6, 7, 8]);
    for (actor, sent) in story.sent.iter().filter(|(actor, _)| **actor != Actor::Operator) {
        let name = report.config.participant(*actor).map_or("", |participant| &participant.name);
        let count = |kind| sent.get(kind).map_or_else(|| "-".to_owned(), ToString::to_string);
        let counts = kinds.iter().map(|(_, kind)| count(kind));
        table.add_row([actor.to_string(), name.to_owned()].into_iter().chain(counts));
    }
    table.trim_fmt()
}

fn cards_text(cards: &[Card]) -> String {
    cards.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn void_text(cause: &VoidCause) -> String {
    match cause {
        VoidCause::Missing { who } => format!("missing: {who:?}"),
        VoidCause::HostEnded => "the host ended the game".into(),
    }
}

pub fn event_text(event: &Event) -> String {
    let decision = |seat: &Seat, action: &Action| match action {
        Action::Fold => format!("{seat} folds"),
        Action::Check => format!("{seat} checks"),
        Action::Call => format!("{seat} calls"),
        Action::RaiseTo(to) => format!("{seat} raises to {to}"),
    };
    match event {
        Event::HoleCardsDealt => "hole cards dealt".into(),
        Event::Acted { seat, action } => decision(seat, action),
        Event::TimedOut { seat } => format!("{seat} times out"),
        Event::BoardOpened { cards } => format!("board {}", cards_text(cards)),
        Event::Shown { seat, cards } => format!("{seat} shows {}", cards_text(cards)),
        Event::Mucked { seat } => format!("{seat} mucks"),
        Event::ClockRestarted => "the clock restarts".into(),
        Event::Voided { cause } => format!("void: {}", void_text(cause)),
    }
}
