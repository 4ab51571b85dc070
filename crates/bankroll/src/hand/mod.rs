//! `bankroll hand`: verifiable hands of poker. Plays them in one process, and verifies, shows and replays
//! the files they leave. The checks are the poker crate's; this is files and words.

mod local_table;
mod play;
mod replay;
mod show;
mod verify;
mod words;

use std::{fs, io::ErrorKind, path::Path};

use anyhow::{Context, anyhow};
use bankroll_deck::{Bn254, Curve, Grumpkin, Parameters, Secp256k1};
use bankroll_poker::log::{Bundle, BundleFault, bundle::BundleReplay};
use bankroll_terminal::{Exit, NotFound, UnsoundError};
use clap::Subcommand;

pub const EXAMPLES: &str = "\
Examples:
  bankroll hand play --seats 6 --shufflers 3 --out hands
  bankroll hand verify hands/hand-7-1.hand
  bankroll hand show hands/hand-7-1.hand";

#[derive(Debug, Subcommand)]
pub enum HandCommand {
    /// Play whole hands between parties that exchange only signed messages
    Play(play::PlayArgs),
    /// Check everything about a hand, or name the first fault and who is responsible
    Verify(verify::VerifyArgs),
    /// Describe a hand: seats, streets, decisions, board, pots, and who proved what
    Show(show::HandShowArgs),
    /// Go through a hand event by event, with the state hash after each
    Replay(replay::ReplayArgs),
}

pub fn run(command: &HandCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        HandCommand::Play(args) => play::run(args, json),
        HandCommand::Verify(args) => verify::run(args, json),
        HandCommand::Show(args) => show::run(args, json),
        HandCommand::Replay(args) => replay::run(args, json),
    }
}

/// The bundle in a file.
fn read(file: &Path) -> anyhow::Result<Bundle> {
    let bytes = match fs::read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(NotFound(format!("there is no file {}", file.display())).into());
        }
        read => read.with_context(|| format!("cannot read {}", file.display()))?,
    };
    Bundle::decode(&bytes).map_err(|error| UnsoundError(format!("{} is not a hand: {error}", file.display())).into())
}

/// The error of a command that found this fault.
fn unsound(fault: &BundleFault) -> anyhow::Error {
    UnsoundError(fault.to_string()).into()
}

/// A visitor of a bundle's events, for any curve.
trait Visit {
    fn visit<C: Curve>(&mut self, replay: BundleReplay<'_, C>) -> anyhow::Result<()>;
}

/// Goes through a bundle that was verified before.
fn visit(bundle: &Bundle, curve: &str, cards: u8, visitor: &mut impl Visit) -> anyhow::Result<()> {
    fn on<C: Curve>(bundle: &Bundle, cards: u8, visitor: &mut impl Visit) -> anyhow::Result<()> {
        let parameters = Parameters::<C>::with_size(cards.into())?;
        let replay = BundleReplay::start(&parameters, &bundle.entries).map_err(|fault| unsound(&fault))?;
        visitor.visit(replay.batched())
    }
    match curve {
        Secp256k1::NAME => on::<Secp256k1>(bundle, cards, visitor),
        Bn254::NAME => on::<Bn254>(bundle, cards, visitor),
        Grumpkin::NAME => on::<Grumpkin>(bundle, cards, visitor),
        other => Err(anyhow!("unknown curve {other}")),
    }
}
