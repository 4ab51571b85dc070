//! `bankroll hand show`.

use std::{collections::BTreeMap, path::PathBuf};

use bankroll_deck::Curve;
use bankroll_poker::{
    Card, Chips, Hand, HandEvent, Phase, SeatStatus, Settlement, Street,
    log::{Actor, MessageKind, VerificationReport, bundle::BundleReplay},
};
use bankroll_terminal::{self as terminal, Exit, Paint, table};
use clap::Args;
use serde_json::json;

use super::{
    Visit, read, unsound, visit,
    words::{cards_text, event_text, posted_text, void_text},
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll hand show hands/hand-7-1.hand
  bankroll hand show hands/hand-7-1.hand --json    all envelopes and receipts")]
pub struct HandShowArgs {
    /// The file of the hand
    file: PathBuf,
}

/// The description of a hand.
#[derive(Default)]
struct HandDescription {
    /// What happened, street by street.
    streets: Vec<(Street, Vec<Card>, Vec<String>)>,
    /// What happened after the last betting.
    showdown: Vec<String>,
    /// Who sent how many of what.
    sent: BTreeMap<Actor, BTreeMap<MessageKind, u32>>,
    end: Option<Hand>,
}

impl Visit for HandDescription {
    fn visit<C: Curve>(&mut self, mut replay: BundleReplay<'_, C>) -> anyhow::Result<()> {
        let mut before = replay.table().hand().clone();
        while let Some(step) = replay.step() {
            let step = step.map_err(|fault| unsound(&fault))?;
            let header = &step.envelope.header;
            *self.sent.entry(header.actor).or_default().entry(header.kind).or_default() += 1;
            let hand = replay.table().hand();
            if let Some(event) = &step.event {
                self.record(event, &before, hand);
            }
            before = hand.clone();
        }
        self.end = Some(replay.table().hand().clone());
        Ok(())
    }
}

impl HandDescription {
    fn record(&mut self, event: &HandEvent, before: &Hand, after: &Hand) {
        match event {
            HandEvent::HoleCardsDealt => self.streets.push((Street::Preflop, Vec::new(), posted_text(after))),
            HandEvent::BoardOpened { cards } => self.streets.push((after.street(), cards.clone(), Vec::new())),
            HandEvent::Acted { .. } | HandEvent::TimedOut { .. } if self.showdown.is_empty() => {
                if let Some((.., actions)) = self.streets.last_mut() {
                    actions.push(event_text(event, before));
                }
            }
            other => self.showdown.push(event_text(other, before)),
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
    let mut description = HandDescription::default();
    visit(&bundle, &report.config.curve, report.config.cards, &mut description)?;
    terminal::answer(&summary(&report, &description))?;
    Ok(Exit::Ok)
}

fn summary(report: &VerificationReport, description: &HandDescription) -> String {
    let (paint, config) = (Paint::stdout(), &report.config);
    let rules = config.snapshot.rules();
    let mut text = format!(
        "{}  blinds {} / {}\n\n",
        paint.strong(&format!("{} / {} / {}", config.deployment, config.game, config.hand)),
        rules.small_blind,
        rules.big_blind
    );
    text += &seats(report, description.end.as_ref());
    for (street, cards, actions) in &description.streets {
        let name = json!(street);
        let name = paint.strong(name.as_str().unwrap_or_default());
        let cards = if cards.is_empty() { String::new() } else { format!(" {}", cards_text(cards)) };
        text += &format!("\n{name}{cards}\n");
        text += &actions.iter().map(|line| format!("  {line}\n")).collect::<String>();
    }
    if !description.showdown.is_empty() {
        text += &format!("\n{}\n", paint.strong("showdown"));
        text += &description.showdown.iter().map(|line| format!("  {line}\n")).collect::<String>();
    }
    match description.end.as_ref().map(Hand::phase) {
        Some(Phase::Settled(settlement)) => text += &pots(settlement, description.end.as_ref(), paint),
        Some(Phase::Void(cause)) => text += &format!("\n{} {}\n", paint.bad("void:"), void_text(cause)),
        _ => {}
    }
    text += &format!("\n{}\n{}", paint.strong("who proved what"), proofs(report, description));
    text
}

fn seats(report: &VerificationReport, end: Option<&Hand>) -> String {
    let config = &report.config;
    let mut table = table(&["SEAT", "", "PLAYER", "BEFORE", "AFTER", "CARDS"], &[0, 3, 4]);
    for seated in config.snapshot.seats() {
        let seat = seated.seat;
        let after = report.stacks.iter().find(|(other, _)| *other == seat).map_or(Chips::ZERO, |(_, chips)| *chips);
        let cards = match end.and_then(|hand| hand.player(seat)).map(|player| player.status) {
            Some(SeatStatus::Shown(cards)) => cards_text(&cards),
            Some(SeatStatus::Folded) => "folded".into(),
            Some(SeatStatus::Mucked { .. }) => "mucked".into(),
            _ => "not shown".into(),
        };
        let button = if seat == config.snapshot.button() { "button" } else { "" };
        let name = config.participant(Actor::Seat(seat)).map_or("", |participant| &participant.name);
        let (before, after) = (seated.stack.to_string(), after.to_string());
        table.add_row([seat.0.to_string(), button.into(), name.to_owned(), before, after, cards]);
    }
    format!("{}\n", table.trim_fmt())
}

fn pots(settlement: &Settlement, end: Option<&Hand>, paint: Paint) -> String {
    let mut text = format!("\n{}\n", paint.strong("pots"));
    for (seat, chips) in end.map(Hand::returned).unwrap_or_default() {
        text += &format!("  {chips} that no seat called: back to {seat}\n");
    }
    for (award, number) in settlement.awards.iter().zip(1..) {
        let winners: Vec<String> = award.winners.iter().map(|(seat, chips)| format!("{seat} wins {chips}")).collect();
        let rake = if award.rake.is_zero() { String::new() } else { format!(", rake {}", award.rake) };
        text += &format!("  pot {number} of {}: {}{rake}\n", award.pot.amount, winners.join(", "));
    }
    text
}

fn proofs(report: &VerificationReport, description: &HandDescription) -> String {
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
    for (actor, sent) in description.sent.iter().filter(|(actor, _)| **actor != Actor::Operator) {
        let name = report.config.participant(*actor).map_or("", |participant| &participant.name);
        let count = |kind| sent.get(kind).map_or_else(|| "-".to_owned(), ToString::to_string);
        let counts = kinds.iter().map(|(_, kind)| count(kind));
        table.add_row([actor.to_string(), name.to_owned()].into_iter().chain(counts));
    }
    table.trim_fmt()
}
