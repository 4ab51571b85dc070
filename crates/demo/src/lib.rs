//! `bankroll demo`: the whole loop on play money, and the proof that nothing was lost.
//!
//! Players pay on a simulated chain, and final payments are credited. A game server plays a few games at full speed;
//! each move is a request to a real ledger, answered when it is on disk. Players who leave are paid on chain, signed by
//! a separate process. At the end the books are recomputed from the journal alone, and compared with the chain, to the
//! wei.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `folder` | which folders a demo may use, and which it may empty |
//! | `arena` | the game server's accounts and prices |
//! | `player` | a player's wallet, account and state |
//! | `requests` | the ledger request of each move |
//! | `game` | the game itself: pure, no ledger, no clock |
//! | `play` | the threads: games that send requests and apply the answers |
//! | `backend` | the backend that answers: the ledger here, or nodes |
//! | `nodes` | the processes, when each role has its own |
//! | `environment` | chain, signer, wallets and flows, joined; `chain`, `signer`, `player_wallets` are its parts |
//! | `context` | backend and environment, as `play` and `view` use them |
//! | `tempo` | the timing of all that |
//! | `leftovers`, `stakes` | what a killed demo left behind: payouts, and stakes that go back to their players |
//! | `disk` | what happens when the disk is full |
//! | `progress`, `view`, `report` | the output while it runs, and afterwards |
//!
//! It guarantees: it uses only a folder or a database that is empty or an earlier demo's, and empties no other. Killing
//! it is safe at any moment: the next start verifies the books and finishes what is open.
//!
//! It does not know: how a node works inside. With a database it starts nodes as this program does (`serve`, `signer`).

mod arena;
mod backend;
mod chain;
mod context;
mod database;
mod disk;
mod environment;
mod folder;
mod game;
mod leftovers;
mod nodes;
mod play;
mod player;
mod player_wallets;
mod progress;
mod report;
mod requests;
mod signer;
mod stakes;
mod tally;
mod tempo;
mod view;
mod wrap;

use std::{
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use bankroll_roles::{audit, config::LoadedConfig};
use bankroll_store::{DatabaseUrl, LeaseHolder, Ledger, Location, Reader};
use bankroll_terminal::{Exit, StopSignal, UsageError, counted};
use clap::Args;

use arena::{Arena, ArenaPeople};
use context::GameContext;
use environment::Environment;
pub use folder::is_demo;
use play::Length;
use progress::DemoProgress;
use report::DemoReport;
use view::DemoView;

/// How many looks without a change make [`tempo::CHECK_EVERY`].
const LOOKS_PER_CHECK: u32 = 50;

/// The default folder of a demo.
pub const FOLDER: &str = "bankroll-demo";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll demo                        ten seconds of play, then compares all
  bankroll demo --players 5000 --seconds 30
  bankroll demo --seconds 0            plays until Ctrl-C
  bankroll demo --exit --json          one JSON object, for scripts
  bankroll demo --fresh                deletes the books of earlier demos
  bankroll demo --seed 7 --ticks 50    the same game each time, to the wei
  bankroll demo --postgres postgres://bankroll@127.0.0.1/demo --kill-books

A demo in the folder of an earlier demo continues in its books, with new
players. Kill it at any time: the next start verifies the books, pays what is
open, and returns the stakes in the world to their players; the chain and the
signer's memory are in the folder, too. A demo writes tens of megabytes a
second; delete the folder when you are done.

With --postgres each role has its own process: two nodes for the books, one of
which stands by, an indexer, payouts, the signer, and the game with its chain.
They recognise each other by certificates in DIR/nodes. With --ticks the
result is the same as in one process, even if the node that holds the books is
killed (--kill-books).")]
pub struct DemoArgs {
    /// The folder for the books; created if missing
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    dir: PathBuf,
    /// Number of players
    #[arg(
        long, value_name = "N", default_value_t = 1_000,
        value_parser = bankroll_terminal::whole::<u32>(1..=100_000, "the number of players")
    )]
    players: u32,
    /// Play time in seconds; 0 plays until Ctrl-C
    #[arg(
        long, value_name = "S", default_value_t = 10,
        value_parser = bankroll_terminal::whole::<u64>(0..=86_400, "the play time in seconds")
    )]
    seconds: u64,
    /// Play this number of turns in each game instead of a time
    #[arg(
        long, value_name = "N", conflicts_with = "seconds",
        value_parser = bankroll_terminal::whole::<u64>(1..=1_000_000, "the number of turns")
    )]
    ticks: Option<u64>,
    /// Keep the books in this database, and give each role its own process
    #[arg(long, value_name = "URL", conflicts_with = "fresh")]
    postgres: Option<String>,
    /// Kill the process that holds the books in the middle of the game
    #[arg(long, requires = "postgres")]
    kill_books: bool,
    /// For scripts: refuse a play time of 0, which has no end
    #[arg(long)]
    exit: bool,
    /// Random seed; the same seed gives players who behave the same
    #[arg(
        long, value_name = "N", default_value_t = 1,
        value_parser = bankroll_terminal::whole::<u64>(0..=u64::MAX, "the seed")
    )]
    seed: u64,
    /// Delete the books of earlier demos in this folder first
    #[arg(long)]
    fresh: bool,
}

impl DemoArgs {
    fn location(&self) -> Location {
        let in_database = self.postgres.as_ref().map(|url| DatabaseUrl::new(url.clone()).into());
        in_database.unwrap_or_else(|| self.dir.clone().into())
    }

    fn people(&self) -> ArenaPeople {
        let fates = if self.ticks.is_some() { game::FATES_OF_FEW } else { game::FATES };
        ArenaPeople { players: self.players, seed: self.seed, fates }
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
    play_and_report(args, json).map_err(|error| disk::explain(&args.dir, error))
}

fn play_and_report(args: &DemoArgs, json: bool) -> anyhow::Result<Exit> {
    if args.exit && matches!(args.length(), Length::Endless) {
        return Err(UsageError("--exit needs an end: give --seconds of more than 0".into()).into());
    }
    let config = LoadedConfig::load(args.dir.clone(), None, &[])?.config;
    // The arguments alone decide where the books are, not the configuration: a demo must not play in real books.
    let location = args.location();
    if let Location::Postgres(url) = &location {
        database::refuse_real_books(url)?;
    }
    // Last: a demo that cannot start leaves no folder.
    folder::prepare(&args.dir, args.fresh)?;
    config.books.warn_if_lossy();
    let ledger = Ledger::open_or_create_in_turn(config.books.options(location.clone()), note_wait)
        .context("cannot open the demo's books")?;
    let stop_signal = StopSignal::listen()?;
    let reader = Reader::open(&location)?;
    let arena = Arena::open(&ledger, &reader)?;
    let mut view = DemoView::new(args, json, &arena, reader);
    let leftovers = leftovers::settle(&ledger, &view.reader, &arena)?;
    let before = DemoProgress::read(&view.reader)?;
    let mut environment = Environment::open(args, &location, &arena, &view.reader)?;
    view.begin(&leftovers, before);
    let games = game::open_games(&arena, &ledger, &environment.wallets, &args.people())?;
    let backend = match &location {
        Location::Folder(_) => environment.run_here(&ledger, config.books.queue_max)?,
        Location::Postgres(url) => {
            // Everything is prepared; from now on the nodes hold the books.
            ledger.clone().close();
            environment.run_nodes(&args.dir, url, args.kill_books)?
        }
    };
    drop(ledger);
    let call_max = play::call_max(config.books.queue_max);
    let context = GameContext { backend: &backend, environment: &environment };
    let brought = environment.bring_capital(&view.reader, &arena);
    context.notes().iter().for_each(|note| view.note(note));
    brought?;
    let played = play::run(&context, games, call_max, args.length(), &stop_signal, &mut view);
    let rested = played.and_then(|played| {
        let after = come_to_rest(&context, &mut view, &played)?;
        Ok((played, after))
    });
    environment.stop_flows();
    let closed = backend.close();
    let (played, after) = rested?;
    let ended_early = closed?;
    // In JSON they are part of the report.
    ended_early.iter().filter(|_| !json).for_each(|ended| view.note(ended));
    if !json {
        view.note("the arena is closed; recomputing the books and comparing them with the chain");
    }
    let reconciled = environment.reconcile(&view.reader)?;
    // This closes the view's reader, too: the last connection removes the write-ahead log.
    view.end();
    environment.stop()?;
    let audited = audit::run(&location, json);
    let report = DemoReport { args, arena: &arena, leftovers, played, before, after, ended_early, reconciled, audited };
    report.print(json)
}

/// An earlier demo, or a node of it, was killed: its lease ends by itself.
fn note_wait(holder: &LeaseHolder) {
    let seconds = holder.left.as_secs() + 1;
    eprintln!(
        "note: the books are leased to {} for {} more; waiting until the lease is over",
        holder.name,
        counted(seconds, "second", "seconds")
    );
}

/// Waits until every deposit is credited and every payout is settled, while there is progress.
fn come_to_rest(context: &GameContext<'_>, view: &mut DemoView, played: &play::Played) -> anyhow::Result<DemoProgress> {
    let (mut last, mut still, begun) = (DemoProgress::default(), 0, Instant::now());
    loop {
        // The database may be unreachable for a moment.
        let now = DemoProgress::read(&view.reader).unwrap_or(last);
        // Counted in checks, not by the clock: a suspended machine makes no progress either.
        still = if now == last { still + 1 } else { 0 };
        if now.is_at_rest() || still > tempo::STILL_LOOKS {
            return Ok(now);
        }
        last = now;
        if still > 0 && still.is_multiple_of(LOOKS_PER_CHECK) {
            context.environment.check()?;
        }
        view.show(context, &played.tally, played.took + begun.elapsed());
        thread::sleep(tempo::LOOK_EVERY);
    }
}
