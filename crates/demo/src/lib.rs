//! `bankroll demo`: the whole loop on play money, and the proof that nothing was lost.
//!
//! Players sign in and pay on a simulated chain, and final payments are credited. A game server plays a few games at
//! full speed; it calls the Funds API of a real node over HTTP, once for each tick, and each move is on disk before it
//! is answered. Players who leave are paid on chain, signed by a separate process. At the end the books are recomputed
//! from the journal alone, and compared with the chain, to the wei. Then the service stays up for the reader to call.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `folder` | which folders a demo may use, and which it may empty |
//! | `arena` | the game server's accounts and prices |
//! | `player` | a player's wallet and state |
//! | `requests` | the call of each move |
//! | `game` | the game itself: pure, no service, no clock |
//! | `play` | the threads: games that send requests and apply the answers |
//! | `funds` | the game server and its players as callers of the Funds API |
//! | `arrivals` | players who come for the first time, and sign in |
//! | `service` | the service that answers: `node_thread` in this process, or `nodes`, each role in its own |
//! | `settings` | the settings of the service |
//! | `environment` | chain, signer and wallets, joined; `chain`, `signer`, `player_wallets` are its parts |
//! | `context` | service and environment, as `play` and `view` use them |
//! | `running` | a demo from its start to its report |
//! | `stay` | the service stays up: what the reader can call |
//! | `tempo` | the timing of all that |
//! | `leftovers`, `stakes` | what a killed demo left behind: payouts, and stakes that go back to their players |
//! | `disk` | what happens when the disk is full |
//! | `progress`, `newest_events`, `view`, `report` | the output while it runs, and afterwards |
//!
//! It guarantees: it uses only a folder or a database that is empty or an earlier demo's, and empties no other. Killing
//! it is safe at any moment: the next start verifies the books and finishes what is open.
//!
//! It does not know: how a node works inside. It starts nodes as this program does (`serve`, `signer`), and calls them
//! as any game server does.

mod arena;
mod arrivals;
mod chain;
mod context;
mod database;
mod disk;
mod environment;
mod folder;
mod funds;
mod game;
mod leftovers;
mod newest_events;
mod node_thread;
mod nodes;
mod play;
mod player;
mod player_wallets;
mod progress;
mod report;
mod requests;
mod running;
mod service;
mod settings;
mod signer;
mod stakes;
mod stay;
mod tally;
mod tempo;
mod view;
mod wrap;

use std::{path::PathBuf, time::Duration};

use bankroll_store::{DatabaseUrl, Location};
use bankroll_terminal::{Exit, StopSignal, UsageError};
use clap::Args;

use arena::ArenaPeople;
pub use folder::is_demo;
use play::Length;
use running::RunningDemo;

/// The default folder of a demo.
pub const FOLDER: &str = "bankroll-demo";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll demo                        plays ten seconds, then stays up
  bankroll demo --players 5000 --seconds 30
  bankroll demo --seconds 0            plays until Ctrl-C
  bankroll demo --exit --json          one JSON object, for scripts
  bankroll demo --fresh                deletes the books of earlier demos
  bankroll demo --seed 7 --ticks 50    the same game each time, to the wei
  bankroll demo --postgres postgres://bankroll@127.0.0.1/demo --kill-books

The game calls the Funds API over HTTP. When it is over, the demo compares the
books with the chain, leaves the service up, and prints the URL, the key files
and three curl lines that work; Ctrl-C ends it. If 127.0.0.1:8640 is taken, it
uses another port.

A demo in the folder of an earlier demo continues in its books, with new
players. Kill it at any time: the next start verifies the books, pays what is
open, and returns the stakes in the world to their players; the chain and the
signer's memory are in the folder, too. A demo writes tens of megabytes a
second; delete the folder when you are done.

With --postgres each role has its own process: two nodes for the books, one of
which stands by, an indexer, payouts, the Funds API, the signer, and the game
with its chain.
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
    /// End after the report, and do not leave the service up (--json does, too)
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
    let stop_signal = StopSignal::listen()?;
    let mut demo = RunningDemo::start(args, json)?;
    let ended = demo.play(args, &stop_signal).and_then(|played| {
        let stays = !(args.exit || json || played.interrupted);
        if !stays {
            stop_signal.exit_on_next();
        }
        let after = demo.come_to_rest(&played)?;
        Ok((played, after, stays))
    });
    let (played, after, stays) = match ended {
        Ok(ended) => ended,
        Err(error) => return Err(demo.fail(error)),
    };
    if !stays {
        return demo.end(args, json, played, after);
    }
    let exit = demo.report(args, played, after)?;
    demo.stay(args, &stop_signal)?;
    Ok(exit)
}
