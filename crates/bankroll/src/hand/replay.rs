//! `bankroll hand replay`.

use std::path::PathBuf;

use bankroll_deck::Curve;
use bankroll_poker::log::bundle::{BundleReplay, ReplayStep};
use bankroll_terminal::{self as terminal, Exit, table};
use clap::Args;
use serde_json::{Value, json};

use super::{Visit, read, unsound, visit, words::event_text};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll hand replay hands/hand-7-1.hand
  bankroll hand replay hands/hand-7-1.hand --json")]
pub struct ReplayArgs {
    /// The file of the hand
    file: PathBuf,
}

struct ReplayRow {
    step: ReplayStep,
    /// The event in words.
    meaning: String,
    at: u64,
    state: String,
}

struct ReplayRows(Vec<ReplayRow>);

impl Visit for ReplayRows {
    fn visit<C: Curve>(&mut self, mut replay: BundleReplay<'_, C>) -> anyhow::Result<()> {
        let mut before = replay.table().hand().clone();
        while let Some(step) = replay.step() {
            let step = step.map_err(|fault| unsound(&fault))?;
            let state = replay.table().state_hash().to_string();
            let meaning = step.event.as_ref().map_or_else(String::new, |event| event_text(event, &before));
            before = replay.table().hand().clone();
            self.0.push(ReplayRow { step, meaning, at: replay.table().at().0, state });
        }
        Ok(())
    }
}

pub fn run(args: &ReplayArgs, json: bool) -> anyhow::Result<Exit> {
    let bundle = read(&args.file)?;
    let report = bundle.verify(None).map_err(|fault| unsound(&fault))?;
    let mut rows = ReplayRows(Vec::new());
    visit(&bundle, &report.config.curve, report.config.cards, &mut rows)?;
    if json {
        let events: Vec<Value> = rows.0.iter().map(row_json).collect();
        let all = json!({ "config": report.config, "began": report.times.0, "events": events, "state": report.state });
        terminal::answer_json(&all)?;
        return Ok(Exit::Ok);
    }
    let began = report.times.0.0;
    let mut table = table(&["EVENT", "MS", "AUTHOR", "MESSAGE", "MEANING", "STATE"], &[0, 1]);
    for ReplayRow { step, meaning, at, state } in &rows.0 {
        table.add_row([
            step.seq.to_string(),
            at.saturating_sub(began).to_string(),
            step.envelope.header.actor.to_string(),
            kind(step),
            meaning.clone(),
            state.chars().take(16).collect(),
        ]);
    }
    terminal::answer(&format!("{}\nstate {}", table.trim_fmt(), report.state))?;
    Ok(Exit::Ok)
}

fn kind(step: &ReplayStep) -> String {
    let kind = json!(step.envelope.header.kind);
    kind.as_str().unwrap_or_default().replace('_', " ")
}

fn row_json(row: &ReplayRow) -> Value {
    let header = &row.step.envelope.header;
    json!({
        "seq": row.step.seq,
        "at": row.at,
        "actor": header.actor,
        "nonce": header.nonce,
        "kind": header.kind,
        "event": row.step.event,
        "state": row.state,
    })
}
