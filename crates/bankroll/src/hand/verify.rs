//! `bankroll hand verify`.

use std::path::PathBuf;

use bankroll_poker::log::{Actor, BundleFault, SignerKey, VerificationReport};
use bankroll_terminal::{self as terminal, Exit, Paint, UsageError};
use clap::Args;
use serde_json::{Value, json};

use super::{read, unsound};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll hand verify hands/hand-7-1.hand
  bankroll hand verify hands/hand-7-1.hand --operator 02f9...
  bankroll hand verify hands/hand-7-1.hand --json

Ends with 0 if all is sound, 4 if anything is not. A file cannot show that the
operator ignored a message.")]
pub struct VerifyArgs {
    /// The file of the hand
    file: PathBuf,
    /// The key of the operator that must have run it; by default the one that the file names
    #[arg(long, value_name = "KEY")]
    operator: Option<String>,
}

pub fn run(args: &VerifyArgs, json: bool) -> anyhow::Result<Exit> {
    let operator =
        match &args.operator {
            None => None,
            Some(text) => {
                let key = SignerKey::from_hex(text);
                Some(key.ok_or_else(|| {
                    UsageError(format!("{text:?} is not a key: give 33 bytes in lower-case hexadecimal"))
                })?)
            }
        };
    match read(&args.file)?.verify(operator.as_ref()) {
        Ok(report) if json => terminal::answer_json(&report_json(&report))?,
        Ok(report) => terminal::answer(&summary(&report))?,
        Err(fault) if json => {
            terminal::answer_json(&fault_json(&fault))?;
            return Ok(Exit::Unsound);
        }
        Err(fault) => return Err(unsound(&fault)),
    }
    Ok(Exit::Ok)
}

fn fault_json(fault: &BundleFault) -> Value {
    json!({
        "sound": false,
        "event": fault.seq,
        "author": fault.author,
        "answers": fault.responsible,
        "wrong": fault.defect.to_string(),
        "message": fault.to_string(),
    })
}

fn report_json(report: &VerificationReport) -> Value {
    let mut value = json!(report);
    value["sound"] = true.into();
    value
}

fn summary(report: &VerificationReport) -> String {
    let (paint, checked, config) = (Paint::stdout(), report.checked, &report.config);
    let line = |text: String| format!("  {} {text}\n", paint.good("✓"));
    let mut text = format!("{} / {} / {}\n", config.deployment, config.game, config.hand);
    text += &line(format!("{} events, each signed by its author, each in the hash chain", checked.events));
    text +=
        &line(format!("{} signatures; {} proofs that a key belongs to its owner", checked.signatures, checked.keys));
    let equalities = checked.equalities;
    text += &line(format!(
        "{} shuffles of {} cards and {equalities} shares of cards are proven",
        checked.shuffles, config.cards
    ));
    text += &line(format!("the rules were kept, and every chip is accounted for; rake {}", report.rake));
    if !report.agreed.is_empty() {
        let seats: Vec<String> = report.agreed.iter().map(|seat| seat.0.to_string()).collect();
        text += &line(format!("the final stacks are signed by seats {}", seats.join(", ")));
    }
    let stacks = report.stacks.iter().map(|(seat, chips)| {
        let name = config.participant(Actor::Seat(*seat)).map_or("", |participant| &participant.name);
        format!("  seat {:<3} {name:<12} {:>10}\n", seat.0, chips.to_string())
    });
    text += &stacks.collect::<String>();
    text += &format!("  operator {}\n  root     {}\n  state    {}\n", config.operator, report.root, report.state);
    text + &paint.good("all is sound")
}
