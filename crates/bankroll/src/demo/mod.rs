//! `bankroll demo`: a game at full speed on play money, and the proof that nothing was lost.
//!
//! One game server with a few rooms. In each, players arrive with a deposit, spawn, eat pellets, lose mass, eat each
//! other, leave and are paid; every one of these is a request to a real ledger, answered when it is on disk. The chain
//! is imagined, and so is the money. At the end the books are computed again from the journal alone.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `folder` | which folders a demo may use, and which it may empty |
//! | `arena` | the game server's accounts and prices |
//! | `asks` | what a move of the game asks of the ledger |
//! | `room` | the game itself: pure, no ledger, no clock |
//! | `play` | the threads: rooms that ask, answers that come back |
//! | `leftovers` | what a demo that was killed left behind |
//! | `view`, `report` | what people see while it runs, and afterwards |
//!
//! Killing it is safe at any moment: the next start verifies the books and finishes what was left open.

mod arena;
mod asks;
mod folder;
mod interrupt;
mod leftovers;
mod play;
mod report;
mod room;
mod tally;
mod view;

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use bankroll_store::{Ledger, Reader};
use clap::Args;

use crate::{audit, exit::Exit, place::Place};
use arena::Arena;
pub use folder::is_demo;
use interrupt::Interrupt;
use report::Report;
use view::View;

/// Where a demo's books are unless somebody says otherwise.
pub const FOLDER: &str = "bankroll-demo";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll demo                              ten seconds of play, then the books recomputed
  bankroll demo --players 5000 --seconds 30
  bankroll demo --seconds 0                  plays until Ctrl-C
  bankroll demo --exit --json                one JSON object, for scripts
  bankroll demo --fresh                      deletes the books of earlier demos first

A demo in a folder that has one plays on in the same books, with new players.
Kill it whenever you like: the next start verifies the books and pays what was
left unpaid. It writes tens of megabytes a second; delete the folder when you
have seen enough.")]
pub struct DemoArgs {
    /// The folder for the books; made if it is not there
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    dir: PathBuf,
    /// How many players
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    players: u32,
    /// How long they play; 0 for until Ctrl-C
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    seconds: u64,
    /// Leave when the play time is over (as it does anyway while there is nothing to stay for)
    #[arg(long)]
    exit: bool,
    /// What chance begins with; the same number gives players who behave the same
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Delete the books of earlier demos in this folder first
    #[arg(long)]
    fresh: bool,
}

pub fn run(args: &DemoArgs, json: bool) -> anyhow::Result<Exit> {
    if args.exit && args.seconds == 0 {
        return Err(crate::exit::Usage("--exit needs an end: give --seconds more than 0".into()).into());
    }
    let place = Place { dir: Some(args.dir.clone()), ..Place::default() };
    let config = place.load()?.config;
    folder::prepare(&args.dir, args.fresh)?;
    config.books.warn_if_lossy();

    // The books lie in the demo's folder whatever the configuration says: a demo must not play in real books.
    let ledger = Ledger::open(config.books.options(args.dir.clone())).context("cannot open the demo's books")?;
    let interrupt = Interrupt::listen()?;
    let reader = Reader::open(&args.dir)?;
    let arena = Arena::open(&ledger, &reader)?;
    let mut view = View::new(args, json, &arena, reader);
    let leftovers = leftovers::settle(&ledger, &view.reader, &arena)?;
    view.begin(&leftovers);
    let rooms = arena.rooms(&ledger, args.players, args.seed)?;
    let call_max = play::call_max(config.books.queue_max);
    let time = Some(Duration::from_secs(args.seconds)).filter(|time| !time.is_zero());
    let played = play::run(&ledger, rooms, call_max, time, &interrupt, &mut view);
    // The view's reader too: the last to leave tidies the write-ahead log away.
    view.end();
    ledger.close();
    let played = played?;

    if !json {
        eprintln!("the arena is closed; computing the books again from the journal");
    }
    let audited = audit::run(&args.dir.clone().into(), json);
    let report = Report { args, arena: &arena, leftovers, played, audited };
    report.print(json)
}
