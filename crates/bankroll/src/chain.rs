//! `bankroll chain`: the simulated chain, served to other programs on this machine. Play money.
//!
//! The chain itself is in `chains/simulated`, which knows no socket and no clock; the socket is in `chains/server`, and
//! this file brings the clock.

use std::{
    net::Ipv4Addr,
    num::NonZeroU64,
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::Context;
use bankroll_chains_server as server;
use bankroll_chains_simulated::{SimulatedChain, SimulatedConfig, SimulatedKey, contracts};
use bankroll_store::Clock;
use bankroll_terminal::{self as terminal, Exit, Paint};
use clap::Args;
use serde_json::json;
use tokio::net::TcpListener;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll chain                          a block every 2 seconds on http://127.0.0.1:8545
  bankroll chain --port 0 --json          any free port, printed as JSON
  bankroll chain --block-time 0 --seed 7  blocks only on command: the same commands give the same history
  curl -s http://127.0.0.1:8545 -H 'content-type: application/json' \\
    -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sim_reorg\",\"params\":[3, 4, \"returned\"]}'

Methods: those of eth_ that wallets and indexers use, trace_block, debug_traceBlockByHash (callTracer), and commands:
  sim_mine [blocks, time]                 sim_reorg [depth, length, kept|dropped|returned|reordered]
  sim_adopt [hash]                        sim_setBaseFee [wei]
  sim_inject [fault, times, node]         sim_lag [blocks, node]
  sim_crash [keeps its mempool, node]     sim_restart [node]
  sim_faults []                           sim_contracts []
Several nodes show the same chain: the first at /, others at /node/1, /node/2 and so on, each with its own faults.

Play money: the keys follow from the seed. Nothing is stored; the chain ends with the program.")]
pub struct ChainArgs {
    /// The port on 127.0.0.1; 0 takes any free one
    #[arg(long, value_name = "PORT", default_value_t = 8545)]
    port: u16,
    /// Random seed: block hashes, play accounts and choices follow from it
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Seconds between blocks; 0 makes blocks on command only
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    block_time: u64,
    /// The chain id that wallets use
    #[arg(long, value_name = "ID", default_value = "31337")]
    chain_id: NonZeroU64,
    /// How many blocks behind the head a block counts as final
    #[arg(long, value_name = "BLOCKS", default_value_t = 64)]
    finalized_depth: u64,
}

pub fn run(args: &ChainArgs, json: bool) -> anyhow::Result<Exit> {
    let mut config = SimulatedConfig::new(args.seed);
    config.chain_id = args.chain_id.get();
    config.finalized_depth = args.finalized_depth;
    config.safe_depth = args.finalized_depth / 2;
    if args.block_time > 0 {
        config.block_seconds = args.block_time;
    }
    let chain = SimulatedChain::new(config);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
            .await
            .with_context(|| format!("cannot listen on 127.0.0.1:{}", args.port))?;
        let url = format!("http://{}", listener.local_addr().context("cannot listen")?);
        if json {
            terminal::answer_json(&start_json(&chain, args, &url))?;
        } else {
            terminal::answer(&start_text(&chain, args, &url))?;
        }
        let chain = Arc::new(Mutex::new(chain));
        if args.block_time > 0 {
            let clock = Clock::machine();
            let seconds = move || clock.now().0 / 1_000_000;
            tokio::spawn(server::mine(Arc::clone(&chain), Duration::from_secs(args.block_time), seconds));
        }
        let ended = async { tokio::signal::ctrl_c().await.context("cannot listen for Ctrl-C") };
        server::serve(listener, chain, ended).await
    })?;
    Ok(Exit::Ok)
}

fn players(chain: &SimulatedChain, seed: u64) -> Vec<SimulatedKey> {
    (0..chain.config().funded.len() as u64).map(|number| SimulatedKey::derived(seed, number)).collect()
}

fn start_json(chain: &SimulatedChain, args: &ChainArgs, url: &str) -> serde_json::Value {
    let accounts = players(chain, args.seed).into_iter();
    json!({
        "url": url,
        "chain_id": chain.config().chain_id,
        "genesis": chain.head().hash.to_string(),
        "seed": args.seed,
        "block_seconds": args.block_time,
        "accounts": accounts
            .map(|key| json!({ "address": key.address().to_string(), "key": key.to_bytes().to_string() }))
            .collect::<Vec<_>>(),
        "contracts": contracts::ALL
            .iter()
            .map(|(name, address, _)| ((*name).to_owned(), json!(address.to_string())))
            .collect::<serde_json::Map<_, _>>(),
    })
}

fn start_text(chain: &SimulatedChain, args: &ChainArgs, url: &str) -> String {
    let paint = Paint::stdout();
    let blocks = match args.block_time {
        0 => "blocks on command (sim_mine)".to_owned(),
        seconds => format!("a block every {seconds} s"),
    };
    let mut text = format!(
        "{} chain {}, genesis {}, {blocks}\n\nplay accounts with 1,000,000 coins each, and their keys:\n",
        paint.good(url),
        chain.config().chain_id,
        chain.head().hash,
    );
    for key in players(chain, args.seed) {
        text += &format!("  {}  {}\n", key.address(), paint.quiet(&key.to_bytes().to_string()));
    }
    text += "\ncontracts:\n";
    for (name, address, what) in contracts::ALL {
        text += &format!("  {address}  {name:<9} {}\n", paint.quiet(what));
    }
    text + "\nCtrl-C ends it.\n"
}
