//! `bankroll hand verify`.

use std::path::PathBuf;

use bankroll_poker::log::{Actor, Fault, Report, SignerKey};
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

Exit code 0 if everything is sound, 4 if anything is not. No file can show a
message that the operator refused to accept.")]
pub struct HandVerifyArgs {
    /// The hand file
    file: PathBuf,
    /// The expected operator's key [default: the one that the file names]
    #[arg(long, value_name = "KEY")]
    operator: Option<String>,
}

pub fn run(args: &HandVerifyArgs, json: bool) -> anyhow::Result<Exit> {
    let operator = match &args.operator {
        None => None,
        Some(text) => {
            let key = SignerKey::from_hex(text);
            Some(key.ok_or_else(|| {
                UsageError(format!("{text:?} is not a key; give 33 bytes as lower-case hexadecimal digits"))
            })?)
        }
    };
    match read(&args.file)?.verify(operator.as_ref()) {
        Ok(report) if json => terminal::answer_json(&report_json(&report))?,
        Ok(report) => terminal::answer(&text(&report))?,
        Err(fault) if json => {
            terminal::answer_json(&fault_json(&fault))?;
            return Ok(Exit::Unsound);
        }
        Err(fault) => return Err(unsound(&fault)),
    }
    Ok(Exit::Ok)
}

fn fault_json(fault: &Fault) -> Value {
    json!({
        "sound": false,
        "event": fault.seq,
        "author": fault.author,
        "answers": fault.answers,
        "wrong": fault.wrong.to_string(),
        "message": fault.to_string(),
    })
}

fn report_json(report: &Report) -> Value {
    let mut value = json!(report);
    value["sound"] = true.into();
    value
}

fn text(report: &Report) -> String {
    let (paint, checked, config) = (Paint::stdout(), report.checked, &report.config);
    let line = |text: String| format!("  {} {text}\n", paint.good("✓"));
    let mut text = format!("{} / {} / {}\n", config.deployment, config.game, config.hand);
    text += &line(format!("{} events, each signed by its party and linked in the chain", checked.events));
    text += &line(format!("{} signatures, {} proofs of key ownership", checked.signatures, checked.keys));
    let equalities = checked.equalities;
    text += &line(format!(
        "{} shuffles of {} cards and {equalities} shares of cards are proven",
        checked.shuffles, config.cards
    ));
    text += &line(format!("every decision follows the rules, and every chip is accounted for; rake {}", report.rake));
    if !report.agreed.is_empty() {
        let seats: Vec<String> = report.agreed.iter().map(|seat| seat.0.to_string()).collect();
        text += &line(format!("seats {} signed the final stacks", seats.join(", ")));
    }
    let stacks = report.stacks.iter().map(|(seat, chips)| {
        let name = config.participant(Actor::Seat(*seat)).map_or("", |participant| &participant.name);
        format!("  seat {:<3} {name:<12} {:>10}\n", seat.0, chips.to_string())
    });
    text += &stacks.collect::<String>();
    text += &format!("  operator {}\n  root     {}\n  state    {}\n", config.operator, report.root, report.state);
    text + &paint.good("the hand is sound")
}
