//! `bankroll hand play`.

use std::{
    fs,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use bankroll_deck::{Parameters, Secp256k1};
use bankroll_poker::{
    HandTime,
    log::{Bundle, VerificationReport},
    phh::{HandHistory, PhhError},
};
use bankroll_terminal::{self as terminal, Exit, Paint, counted, invocation, thousands};
use clap::Args;
use serde_json::{Value, json};

use super::{local_table::LocalTable, unsound};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll hand play --seats 6 --shufflers 3
  bankroll hand play --seats 2 --hands 10 --seed 7 --out hands
  bankroll hand play --json

Every key, card and decision follows from the seed: such hands are for looking
at, not for money. Each hand is written twice: hand-SEED-NUMBER.hand can be
verified offline, and the .phh file next to it is the hand history for other
poker programs. Nothing is ever overwritten.")]
pub struct PlayArgs {
    /// Number of players
    #[arg(
        long, value_name = "N", default_value_t = 6,
        value_parser = terminal::whole::<u8>(2..=10, "the number of seats")
    )]
    seats: u8,
    /// Number of shufflers
    #[arg(
        long, value_name = "N", default_value_t = 3,
        value_parser = terminal::whole::<u8>(1..=20, "the number of shufflers")
    )]
    shufflers: u8,
    /// Number of hands; stacks carry over from one to the next
    #[arg(
        long, value_name = "N", default_value_t = 1,
        value_parser = terminal::whole::<u32>(1..=10_000, "the number of hands")
    )]
    hands: u32,
    /// Random seed [default: a new one each time]
    #[arg(long, value_name = "N", value_parser = terminal::whole::<u64>(0..=u64::MAX, "the seed"))]
    seed: Option<u64>,
    /// The folder for the files; created if missing
    #[arg(long, value_name = "DIR", default_value = "bankroll-hands")]
    out: PathBuf,
}

pub fn run(args: &PlayArgs, json: bool) -> anyhow::Result<Exit> {
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(0..1_000_000_000));
    fs::create_dir_all(&args.out).with_context(|| format!("cannot create the folder {}", args.out.display()))?;
    let (mut table, parameters) = (LocalTable::new(seed, args.seats, args.shufflers), Parameters::standard());
    let mut hands = Vec::new();
    if !json {
        let shufflers = counted(args.shufflers.into(), "shuffler", "shufflers");
        let people = format!("{} seats, {shufflers}, seed {seed}", args.seats);
        terminal::answer(&format!("{}  {people}", Paint::stdout().strong("bankroll hand play")))?;
    }
    for number in 1..=args.hands {
        let begun = Instant::now();
        let bundle = table.play()?;
        let played = begun.elapsed();
        let begun = Instant::now();
        let report = bundle.verify(None).map_err(|fault| unsound(&fault))?;
        let verified = begun.elapsed();
        let file = args.out.join(format!("hand-{seed}-{number}.hand"));
        let bytes = bundle.encode();
        write(&file, &bytes)?;
        let phh = history(&bundle, &report, &parameters)?;
        let phh_file = file.with_extension("phh");
        write(&phh_file, phh.as_bytes())?;
        if json {
            hands.push(hand_json(&file, &phh_file, bytes.len(), &report, [played, verified]));
        } else {
            terminal::answer(&summary(&file, &phh_file, bytes.len(), &report, [played, verified]))?;
        }
    }
    if json {
        let all = json!({ "seed": seed, "seats": args.seats, "shufflers": args.shufflers, "hands": hands });
        terminal::answer_json(&all)?;
    } else {
        let (me, file) = (invocation(), args.out.join(format!("hand-{seed}-1.hand")));
        terminal::answer(&format!(
            "the .phh files are hand histories for other poker programs\n\n\
             Next:\n  {me} hand verify {0}\n  {me} hand show {0}\n",
            file.display()
        ))?;
    }
    Ok(Exit::Ok)
}

fn write(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let made = match fs::File::create_new(file) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} exists, and nothing is overwritten; give another --seed or --out", file.display())
        }
        made => made.with_context(|| format!("cannot create {}", file.display())),
    };
    made?.write_all(bytes).with_context(|| format!("cannot write {}", file.display()))
}

/// The hand as other programs read it.
fn history(bundle: &Bundle, report: &VerificationReport, parameters: &Parameters<Secp256k1>) -> anyhow::Result<String> {
    let events = bundle.events(parameters).map_err(|fault| unsound(&fault))?;
    let (snapshot, began): (_, HandTime) = (&report.config.snapshot, report.times.0);
    let mut history: HandHistory = HandHistory::of(snapshot, began, &events, |_| None)?;
    let name = |seated: bankroll_poker::SeatStack| {
        let actor = bankroll_poker::log::Actor::Seat(seated.seat);
        report.config.participant(actor).map(|participant| participant.name.clone()).unwrap_or_default()
    };
    history.names = snapshot.in_order().map(name).collect();
    Ok::<_, PhhError>(history.to_text()?).map_err(Into::into)
}

fn hand_json(
    file: &Path,
    phh: &Path,
    bytes: usize,
    report: &VerificationReport,
    [played, verified]: [Duration; 2],
) -> Value {
    json!({
        "file": file,
        "phh": phh,
        "bytes": bytes,
        "events": report.checked.events,
        "ended": report.ended,
        "board": report.board,
        "stacks": report.stacks,
        "rake": report.rake,
        "state": report.state,
        "played_ms": played.as_millis() as u64,
        "verified_ms": verified.as_millis() as u64,
    })
}

fn summary(
    file: &Path,
    phh: &Path,
    bytes: usize,
    report: &VerificationReport,
    [played, verified]: [Duration; 2],
) -> String {
    let board: Vec<String> = report.board.iter().map(ToString::to_string).collect();
    let board = if board.is_empty() { "no board".to_owned() } else { board.join(" ") };
    format!(
        "  {}  {board}\n    {}, {} bytes; played in {} ms, verified in {} ms\n  {}",
        file.display(),
        counted(report.checked.events, "event", "events"),
        thousands(bytes as u64),
        thousands(played.as_millis() as u64),
        thousands(verified.as_millis() as u64),
        phh.display()
    )
}
