//! `bankroll demo`: the whole loop on play money, and the proof that nothing was lost.
//!
//! Players pay on a simulated chain; what is final is credited; a game server with a few rooms plays at full speed, each move
//! a request to a real ledger, answered when it is on disk; whoever leaves is paid on the chain, signed by a process of its
//! own. At the end the books are computed again from the journal alone, and compared with the chain, to the wei.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `folder` | which folders a demo may use, and which it may empty |
//! | `arena` | the game server's accounts and prices |
//! | `asks` | what a move of the game asks of the ledger |
//! | `room` | the game itself: pure, no ledger, no clock |
//! | `play` | the threads: rooms that ask, answers that come back |
//! | `teller` | whom the rooms ask: the ledger here, or nodes |
//! | `nodes` | the same game with each role in a process of its own |
//! | `outside` | chain, signer, players and flows, joined; `chain`, `signer`, `street` are its parts |
//! | `tempo` | how fast all that goes |
//! | `leftovers` | what a demo that was killed left behind |
//! | `progress`, `view`, `report` | what people see while it runs, and afterwards |
//!
//! It guarantees: it uses only a folder or a database that is empty or an earlier demo's, and empties no other. Killing it is
//! safe at any moment: the next start verifies the books and finishes what was left open.
//!
//! It does not know: how a node works inside. With a database it starts nodes as this program does (`serve`, `signer`).

mod arena;
mod asks;
mod chain;
mod database;
mod folder;
mod leftovers;
mod nodes;
mod outside;
mod play;
mod progress;
mod report;
mod room;
mod signer;
mod street;
mod tally;
mod teller;
mod tempo;
mod view;

use std::{
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use bankroll_roles::{audit, config::Loaded};
use bankroll_store::{DatabaseUrl, Ledger, Location, Reader};
use bankroll_terminal::{Exit, Interrupt, Usage};
use clap::Args;

use arena::{Arena, People};
pub use folder::is_demo;
use outside::Outside;
use play::Length;
use progress::Progress;
use report::Report;
use view::View;

/// Where a demo's books are unless somebody says otherwise.
pub const FOLDER: &str = "bankroll-demo";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll demo                              ten seconds of play, then books and chain compared
  bankroll demo --players 5000 --seconds 30
  bankroll demo --seconds 0                  plays until Ctrl-C
  bankroll demo --exit --json                one JSON object, for scripts
  bankroll demo --fresh                      deletes the books of earlier demos first
  bankroll demo --seed 7 --ticks 50          the same game each time, to the wei
  bankroll demo --postgres postgres://bankroll@127.0.0.1/demo --kill-books

A demo in a folder that has one plays on in the same books, with new players.
Kill it whenever you like: the next start verifies the books and pays what was
left unpaid; the chain and the signer's memory are in the folder, too. It writes
tens of megabytes a second; delete the folder when you have seen enough.

With --postgres each role is a process of its own: two nodes for the books, one
of which stands by, an indexer, payouts, the signer, and the game with its chain,
which know each other by certificates in DIR/nodes. With --ticks the result is the same as in one process,
even if the node that holds the books is killed (--kill-books).")]
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
    /// Play so many turns in each room instead, however long that takes
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    ticks: Option<u64>,
    /// Keep the books in this database, and give each role a process of its own
    #[arg(long, value_name = "URL", conflicts_with = "fresh")]
    postgres: Option<String>,
    /// Kill the process that holds the books in the middle of the game
    #[arg(long, requires = "postgres")]
    kill_books: bool,
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

impl DemoArgs {
    /// Where the books are.
    fn location(&self) -> Location {
        let in_database = self.postgres.as_ref().map(|url| DatabaseUrl::new(url.clone()).into());
        in_database.unwrap_or_else(|| self.dir.clone().into())
    }

    fn people(&self) -> People {
        let fates = if self.ticks.is_some() { room::FATES_OF_FEW } else { room::FATES };
        People { players: self.players, seed: self.seed, fates }
    }

    fn length(&self) -> Length {
        match (self.ticks, self.seconds) {
            (Some(ticks), _) => Length::Ticks(ticks),
            (None, 0) => Length::Endless,
            (None, seconds) => Length::Time(Duration::from_secs(seconds)),
        }
    }
}

pub fn run(args: &DemoArgs, json: bool) -> anyhow::Result<Exit> {
    if args.exit && matches!(args.length(), Length::Endless) {
        return Err(Usage("--exit needs an end: give --seconds more than 0".into()).into());
    }
    let config = Loaded::load(args.dir.clone(), None, &[])?.config;
    folder::prepare(&args.dir, args.fresh)?;
    config.books.warn_if_lossy();

    // The books lie where the demo was told, whatever the configuration says: a demo must not play in real books.
    let location = args.location();
    if let Location::Postgres(url) = &location {
        database::refuse_real_books(url)?;
    }
    let ledger = Ledger::open(config.books.options(location.clone())).context("cannot open the demo's books")?;
    let interrupt = Interrupt::listen()?;
    let reader = Reader::open(&location)?;
    let arena = Arena::open(&ledger, &reader)?;
    let mut view = View::new(args, json, &arena, reader);
    let leftovers = leftovers::settle(&ledger, &view.reader, &arena)?;
    let before = Progress::read(&view.reader)?;
    let mut outside = Outside::open(args, &location, &arena, &view.reader)?;
    view.begin(&leftovers);
    let rooms = arena.rooms(&ledger, &outside.street, &args.people())?;
    let teller = match &location {
        Location::Folder(_) => outside.run_here(&ledger, config.books.queue_max)?,
        Location::Postgres(url) => {
            // Everything is prepared; from here on the books are the nodes'.
            ledger.clone().close();
            outside.run_nodes(&args.dir, url, args.kill_books)?
        }
    };
    drop(ledger);
    let call_max = play::call_max(config.books.queue_max);
    let around = play::Around { teller: &teller, outside: &outside };
    let brought = outside.bring_capital(&view.reader, &arena);
    around.notes().iter().for_each(|note| view.note(note));
    brought?;
    let played = play::run(&around, rooms, call_max, args.length(), &interrupt, &mut view);
    let rested = played.and_then(|played| {
        let after = come_to_rest(&around, &mut view, &played)?;
        Ok((played, after))
    });
    outside.stop_flows();
    let closed = teller.close();
    let (played, after) = rested?;
    closed?;

    if !json {
        view.note("the arena is closed; computing the books again from the journal, and comparing them with the chain");
    }
    let reconciled = outside.reconcile(&view.reader)?;
    // The view's reader too: the last to leave tidies the write-ahead log away.
    view.end();
    outside.stop()?;
    let audited = audit::run(&location, json);
    let report = Report { args, arena: &arena, leftovers, played, before, after, reconciled, audited };
    report.print(json)
}

/// Waits until all that came is credited and all that was wanted is paid, for as long as something moves.
fn come_to_rest(around: &play::Around<'_>, view: &mut View, played: &play::Played) -> anyhow::Result<Progress> {
    let (mut last, mut still, begun) = (Progress::default(), 0, Instant::now());
    loop {
        // A database may be away for a moment.
        let now = Progress::read(&view.reader).unwrap_or(last);
        // Counted in looks, not by the clock: a machine that was stopped has not stood still.
        still = if now == last { still + 1 } else { 0 };
        if now.is_at_rest() || still > tempo::STILL_LOOKS {
            return Ok(now);
        }
        last = now;
        view.show(around, &played.tally, played.took + begun.elapsed());
        thread::sleep(tempo::LOOK_EVERY);
    }
}
