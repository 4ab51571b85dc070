//! `bankroll chain`: the simulated chain, served to other programs on this machine, and payments on it. Play money.
//!
//! The chain itself is in `chains/simulated`, which knows no socket and no clock; the socket and the file are in
//! `chains/server`, and this folder brings the clock, the texts and the test keys.

mod call_log;
mod coins;
mod key;
mod pay;
mod start_text;
mod test_accounts;

use std::{
    net::Ipv4Addr,
    num::NonZeroU64,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::Context;
use bankroll_chains_server::{self as server, BlockFile, ChainHost};
use bankroll_chains_simulated::{SimulatedChain, SimulatedConfig};
use bankroll_store::Clock;
use bankroll_terminal::{self as terminal, Exit};
use clap::{Args, Subcommand};
use tokio::net::TcpListener;

use call_log::{CallLog, Detail};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  bankroll chain                          a block every 2 seconds on http://127.0.0.1:8545
  bankroll chain --state chain.jsonl      the same blocks again after a restart
  bankroll chain --block-time 0 --seed 7  blocks on command only: the same commands
                                          give the same history
  bankroll chain --port 0 --json          any free port; JSON lines

A payment from test account 1, and its block:
  bankroll chain pay --from 1 --to ADDRESS --amount 0.01035 --wait 1

The same without this program; the test accounts are unlocked, so no key is needed:
  curl -s http://127.0.0.1:8545 -H 'content-type: application/json' \\
    -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eth_sendTransaction\",\"params\":
        [{\"from\":\"ACCOUNT\",\"to\":\"ADDRESS\",\"value\":\"0x24c545296ce000\"}]}'

Methods: those of eth_ that wallets and indexers use, trace_block,
debug_traceBlockByHash (callTracer), evm_mine, and commands:
  sim_mine [blocks, time]                 sim_setBaseFee [wei]
  sim_reorg [depth, length, kept|dropped|returned|reordered]
  sim_adopt [hash]                        sim_contracts []
  sim_inject [fault, times, node]         sim_faults []
  sim_lag [blocks, node]
  sim_crash [keeps its mempool, node]     sim_restart [node]
Several nodes show the same chain: the first at /, others at /node/1, /node/2
and so on, each with its own faults.

The log has a line for each call that changes the chain, for the first call of
every other method (wallets and indexers repeat them all the time), and for
each block with transactions. --verbose has all of them.

Play money: the keys follow from the seed, so everybody has them. A state file
has the blocks; transactions that wait for a block, and faults, are not kept."
)]
pub struct ChainArgs {
    #[command(subcommand)]
    command: Option<ChainCommand>,
    /// The port on 127.0.0.1; 0 takes any free one
    #[arg(
        long, value_name = "PORT", default_value_t = 8545,
        value_parser = terminal::whole::<u16>(0..=65_535, "a port")
    )]
    port: u16,
    /// Random seed: block hashes, play accounts and choices follow from it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = terminal::whole::<u64>(0..=u64::MAX, "the seed"))]
    seed: u64,
    /// Seconds between blocks; 0 makes blocks on command only
    #[arg(
        long, value_name = "SECONDS", default_value_t = 2,
        value_parser = terminal::whole::<u64>(0..=86_400, "the seconds between blocks")
    )]
    block_time: u64,
    /// The chain id that wallets use
    #[arg(
        long, value_name = "ID", default_value = "31337",
        value_parser = terminal::whole::<NonZeroU64>(1..=4_294_967_295, "a chain id")
    )]
    chain_id: NonZeroU64,
    /// How many blocks behind the head a block counts as final
    #[arg(
        long, value_name = "BLOCKS", default_value_t = 64,
        value_parser = terminal::whole::<u64>(0..=1_000_000, "the depth")
    )]
    finalized_depth: u64,
    /// Keep the blocks in this file, and continue with them; created if missing
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Log every call and every block
    #[arg(long, conflicts_with = "quiet")]
    verbose: bool,
    /// Log nothing
    #[arg(long)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum ChainCommand {
    /// Send coins from a test account to an address
    Pay(pay::PayArgs),
    /// Write the key of a test account into a file, for commands that sign as a player
    Key(key::ChainKeyArgs),
}

pub fn run(args: &ChainArgs, json: bool) -> anyhow::Result<Exit> {
    match &args.command {
        Some(ChainCommand::Pay(args)) => pay::run(args, json),
        Some(ChainCommand::Key(args)) => key::run(args, json),
        None => serve(args, json),
    }
}

fn serve(args: &ChainArgs, json: bool) -> anyhow::Result<Exit> {
    let mut chain = SimulatedChain::new(config(args));
    let file = args.state.as_ref().map(|path| BlockFile::open(path, &mut chain)).transpose()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
            .await
            .with_context(|| format!("cannot listen on 127.0.0.1:{}", args.port))?;
        let url = format!("http://{}", listener.local_addr().context("cannot listen")?);
        if json {
            terminal::answer_json(&start_text::json(&chain, args, &url))?;
        } else {
            terminal::answer(&start_text::text(&chain, args, &url))?;
        }
        let detail = if args.verbose { Detail::Every } else { Detail::Interesting };
        let log = (!args.quiet).then(|| CallLog::new(detail, json).into_observer(Clock::machine()));
        let host = Arc::new(ChainHost::new(Arc::new(Mutex::new(chain)), file, log));
        if args.block_time > 0 {
            let clock = Clock::machine();
            let seconds = move || clock.now().0 / 1_000_000;
            tokio::spawn(server::mine(Arc::clone(&host), Duration::from_secs(args.block_time), seconds));
        }
        server::serve(listener, host, ended()).await
    })?;
    Ok(Exit::Ok)
}

fn config(args: &ChainArgs) -> SimulatedConfig {
    let mut config = SimulatedConfig::new(args.seed);
    config.chain_id = args.chain_id.get();
    config.finalized_depth = args.finalized_depth;
    config.safe_depth = args.finalized_depth / 2;
    if args.block_time > 0 {
        config.block_seconds = args.block_time;
    }
    config
}

/// Completes on Ctrl-C or, as service managers stop a process, on SIGTERM.
async fn ended() -> anyhow::Result<()> {
    let interrupted = async { tokio::signal::ctrl_c().await.context("cannot listen for Ctrl-C") };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminated = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
        tokio::select! {
            ended = interrupted => ended,
            _ = terminated.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    interrupted.await
}
