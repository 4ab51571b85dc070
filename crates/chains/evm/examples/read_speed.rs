//! Measures the reading of verified blocks: 1,000 blocks of 30 payments each, in process and over HTTP.
//!
//! "prepared" answers are made before the clock starts, so that what is left is decoding and verifying.
//!
//! `cargo run --release -p bankroll-chains-evm --example read_speed [URL]`; with the URL of a `bankroll chain
//! --block-time 0 --seed 1` that no other client uses, it makes the same blocks there and reads them over the socket.

use std::{
    collections::HashMap,
    error::Error,
    sync::{Arc, Mutex},
    time::Instant,
};

use bankroll_chains_evm::{
    BlockTag, Bytes, ChainIdentity, InProcessRpc, ReadPlan, RpcLimits, RpcNode, SendOutcome, U256,
};
use bankroll_chains_simulated::{Payment, SimulatedChain, SimulatedConfig, SimulatedKey};
use serde_json::{Value, value::RawValue};

const BLOCKS: u64 = 1_000;
const PAYMENTS: u64 = 30;

fn main() -> Result<(), Box<dyn Error>> {
    let mut chain = SimulatedChain::new(SimulatedConfig::new(1));
    let identity = ChainIdentity { chain_id: chain.config().chain_id, genesis: chain.genesis() };
    let started = Instant::now();
    for block in 0..BLOCKS {
        for raw in payments(block) {
            chain.send(&raw)?;
        }
        let time = chain.next_time();
        chain.mine(time);
    }
    report("made, signing included", BLOCKS, started);
    let chain = Arc::new(Mutex::new(chain));
    let node = RpcNode::in_process(InProcessRpc::new(SimulatedChain::in_process(Arc::clone(&chain), 0)), identity);
    read("read and verified in process", &node)?;
    let prepared = RpcNode::in_process(prepared(Arc::clone(&chain)), identity);
    for (connections, with_traces) in [(1, false), (1, true), (2, false), (2, true)] {
        let plan = ReadPlan { from: 1, to: BLOCKS, connections, batch: 20, transactions_max: usize::MAX, with_traces };
        prepared.read_blocks(&plan)?;
        let (started, before) = (Instant::now(), busy());
        let read = prepared.read_blocks(&plan)?.len() as u64;
        let traces = if with_traces { " with traces" } else { "" };
        report(&format!("prepared, {connections} connections{traces}"), read, started);
        if let (1, Some(before), Some(after)) = (connections, before, busy()) {
            println!("  {} us of a processor for each", after.saturating_sub(before) / 1_000 / read.max(1));
        }
    }

    if let Some(url) = std::env::args().nth(1) {
        let node = RpcNode::http(&url, identity, RpcLimits::default())?;
        for block in 0..BLOCKS {
            for raw in payments(block) {
                let sent = node.send(&raw);
                if sent != SendOutcome::Accepted {
                    return Err(format!("{sent:?}: is this a fresh `bankroll chain --block-time 0 --seed 1`?").into());
                }
            }
            let mine = r#"{"jsonrpc":"2.0","id":1,"method":"sim_mine"}"#;
            ureq::post(&url).header("content-type", "application/json").send(mine)?;
        }
        read("read and verified over HTTP", &node)?;
    }
    Ok(())
}

/// Answers from memory whatever was asked before.
fn prepared(chain: Arc<Mutex<SimulatedChain>>) -> InProcessRpc {
    let known = Mutex::new(HashMap::<String, Arc<str>>::new());
    let ask = SimulatedChain::in_process(chain, 0);
    InProcessRpc::new(move |body| {
        let request: Value = serde_json::from_slice(body)?;
        let one = |request: &Value| -> std::io::Result<String> {
            let key = format!("{}{}", request["method"], request["params"]);
            let mut known = known.lock().expect("no panic under the lock");
            if !known.contains_key(&key) {
                let (_, answer) = ask(request.to_string().as_bytes())?;
                let answer: HashMap<String, Box<RawValue>> = serde_json::from_slice(&answer)?;
                known.insert(key.clone(), answer["result"].get().into());
            }
            let result = Arc::clone(&known[&key]);
            drop(known);
            Ok(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request["id"]))
        };
        let answer = match request.as_array() {
            Some(batch) => format!("[{}]", batch.iter().map(one).collect::<Result<Vec<_>, _>>()?.join(",")),
            None => one(&request)?,
        };
        Ok((200, answer.into_bytes()))
    })
}

fn payments(block: u64) -> Vec<Bytes> {
    let pay = |number: u64| {
        let nonce = block * (PAYMENTS / 10) + number / 10;
        SimulatedKey::derived(1, number % 10).sign(&Payment::new(1337, nonce, [0xaa; 20].into(), U256::from(number)))
    };
    (0..PAYMENTS).map(pay).collect()
}

fn read(what: &str, node: &RpcNode) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let mut payments = 0;
    for number in 1..=BLOCKS {
        payments += node.block(BlockTag::Number(number))?.ok_or("a block is missing")?.transactions.len() as u64;
    }
    if payments != BLOCKS * PAYMENTS {
        return Err(format!("{payments} payments").into());
    }
    report(what, BLOCKS, started);
    Ok(())
}

fn report(what: &str, blocks: u64, since: Instant) {
    let micros = since.elapsed().as_micros().max(1);
    println!("{what}: {} blocks/s of {PAYMENTS} payments", u128::from(blocks) * 1_000_000 / micros);
}

/// The time that this thread was on a processor, in nanoseconds: on a busy machine it says more than the clock.
fn busy() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().next()?.parse().ok()
}
