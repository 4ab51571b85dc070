//! Random histories: the same seed gives the same bytes, coins are conserved, every block links to the previous one.

use std::time::{Duration, Instant};

use bankroll_chains_simulated::{
    Bytes, Distortion, Fate, NodeFault, NodeLie, PRODUCER, Payment, Reorg, RpcReply, SimulatedChain, SimulatedConfig,
    SimulatedKey, U256,
    contracts::{self, ScriptStep},
};
use fastrand::Rng;
use serde_json::json;

use crate::world::HOUSE;

const PLAYERS: u64 = 4;

fn seed() -> u64 {
    let seed = std::env::var("BANKROLL_TEST_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("BANKROLL_TEST_SEED={seed}");
    seed
}

#[test]
fn random_histories_repeat_byte_for_byte_and_conserve_coins() {
    let seed = seed();
    let soak = std::env::var("BANKROLL_SOAK_SECONDS").ok().map(|seconds| Duration::from_secs(seconds.parse().unwrap()));
    let (started, mut runs) = (Instant::now(), 0);
    while runs < 20 || soak.is_some_and(|soak| started.elapsed() < soak) {
        let of_run = seed.wrapping_add(runs);
        let (first, second) = (history(of_run, true), history(of_run, false));
        assert_eq!(first.len(), second.len());
        for (step, (one, other)) in first.iter().zip(&second).enumerate() {
            assert_eq!(one, other, "seed {of_run}, step {step}");
        }
        runs += 1;
    }
    let (one, other) = (history(1, false), history(2, false));
    assert_ne!(one, other, "another seed is another history");
    println!("{runs} histories");
}

/// All answers of a chain during random commands.
fn history(seed: u64, checked: bool) -> Vec<RpcReply> {
    let mut random = Rng::with_seed(seed);
    let mut config = SimulatedConfig::new(seed);
    config.gas_limit = 500_000;
    config.funded.truncate(PLAYERS as usize);
    let supply = config.funded.iter().map(|(_, coins)| *coins).sum::<U256>();
    let mut chain = SimulatedChain::new(config);
    let mut replies = Vec::new();
    for _ in 0..60 {
        step(&mut chain, &mut random, &mut replies);
        if checked {
            check(&chain, supply);
        }
    }
    let (number, head) = (chain.head().number(), chain.head().hash);
    replies.push(RpcReply::Body(format!("{number} {head} {:?}", chain.faults()).into_bytes()));
    replies
}

fn step(chain: &mut SimulatedChain, random: &mut Rng, replies: &mut Vec<RpcReply>) {
    match random.u8(..14) {
        0..4 => {
            let raw = transaction(chain, random);
            let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_sendRawTransaction", "params": [raw] });
            replies.push(chain.answer(0, request.to_string().as_bytes()));
        }
        4..7 => {
            let time = chain.next_time() + random.u64(..20);
            chain.mine(time);
        }
        7 => {
            let fate = [Fate::Kept, Fate::Dropped, Fate::Returned, Fate::Reordered][random.usize(..4)];
            let before = chain.head().hash;
            chain.reorg(Reorg { depth: random.u64(..6), length: random.u64(1..7), fate });
            if random.bool() {
                chain.adopt(before).unwrap();
                assert_eq!(chain.head().hash, before);
            }
        }
        8 | 9 => {
            chain.inject(0, NodeFault::ALL[random.usize(..NodeFault::ALL.len())], 1);
            read(chain, 0, replies);
        }
        10 => {
            chain.withdraw(HOUSE, random.u64(..9));
            chain.mint_coins(HOUSE, U256::from(random.u64(..)));
            chain.set_producer([PRODUCER, HOUSE][random.usize(..2)]);
        }
        11 => {
            let fate = [Fate::Kept, Fate::Dropped, Fate::Returned, Fate::Reordered][random.usize(..4)];
            chain.split_off(1, Reorg { depth: random.u64(..6), length: random.u64(..3), fate });
            read(chain, 1, replies);
        }
        12 => {
            if let Some(branch) = chain.branch(1) {
                let time = branch.next_time();
                branch.mine(time);
                let tip = branch.head().hash;
                read(chain, 1, replies);
                if random.u8(..3) == 0 {
                    chain.rejoin(1);
                    // A branch whose fork the common chain has left is adopted by way of orphans.
                    chain.adopt(tip).unwrap();
                    assert_eq!(chain.head().hash, tip);
                }
            }
        }
        _ => {
            let by = Distortion::Plus(U256::from(random.u64(1..9)));
            let lies = [
                NodeLie::Balance { of: None, by },
                NodeLie::TransferInvented { to: HOUSE, value: U256::ONE },
                NodeLie::TransferOmitted { to: None },
                NodeLie::TraceError,
                NodeLie::Finalized { ahead: random.u64(..80) },
            ];
            chain.lie_from(1, lies[random.usize(..lies.len())].clone(), random.u32(..3));
            if random.u8(..4) == 0 {
                chain.heal(1);
            }
            read(chain, 1, replies);
        }
    }
}

fn read(chain: &mut SimulatedChain, node: usize, replies: &mut Vec<RpcReply>) {
    let hash = chain.head().hash;
    for (method, params) in [
        ("eth_getBlockByNumber", json!(["latest", true])),
        ("eth_getBlockByNumber", json!(["finalized", false])),
        ("eth_getBlockReceipts", json!(["latest"])),
        ("eth_getBalance", json!([HOUSE, "latest"])),
        ("trace_block", json!(["latest"])),
        ("debug_traceBlockByHash", json!([hash, { "tracer": "callTracer" }])),
    ] {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        replies.push(chain.answer(node, request.to_string().as_bytes()));
    }
}

fn transaction(chain: &SimulatedChain, random: &mut Rng) -> String {
    let key = |number| SimulatedKey::derived(chain.config().seed, number);
    let (from, other) = (key(random.u64(..PLAYERS)), key(random.u64(..PLAYERS)).address());
    let nonce = chain.nonce(from.address()) + random.u64(..2);
    let payment =
        Payment::new(1337, nonce, other, U256::from(random.u64(..))).paying(50_000_000_000, random.u64(1..9).into());
    let token = |input| Payment { to: Some(contracts::DOLLAR), value: U256::ZERO, ..payment.clone().calling(input) };
    let amount = U256::from(random.u64(..100));
    let payment = match random.u8(..7) {
        0 => token(contracts::mint_call(other, amount)),
        1 => token(contracts::transfer_call(other, amount)),
        2 => {
            let payees = [other, contracts::REFUSING, from.address()];
            Payment { to: Some(contracts::SPLITTER), ..payment.calling(contracts::split_call(&payees)) }
        }
        3 => {
            let send = |to| ScriptStep::Send { to, value: amount };
            let caught = ScriptStep::Try { steps: vec![send(other), ScriptStep::Revert] };
            let steps = [send(other), caught, send(from.address()), ScriptStep::SelfDestruct { to: HOUSE }];
            let count = random.usize(..=steps.len());
            Payment { to: Some(contracts::SCRIPT), ..payment.calling(contracts::script_call(&steps[..count])) }
        }
        4 => Payment { to: Some([contracts::FICKLE, contracts::MOODY][random.usize(..2)]), gas: 90_000, ..payment },
        _ => payment,
    };
    if random.bool() { from.sign(&payment).to_string() } else { from.sign_legacy(&payment).to_string() }
}

fn check(chain: &SimulatedChain, supply: U256) {
    let (mut parent, mut burnt) = (chain.block(0).unwrap(), U256::ZERO);
    let mut made = U256::ZERO;
    for number in 1..=chain.head().number() {
        let block = chain.block(number).unwrap();
        assert_eq!((block.parent(), block.number()), (parent.hash, number));
        assert!(block.time() > parent.time());
        let gas: u64 = block.transactions.iter().map(|included| included.gas_used).sum();
        burnt += U256::from(gas) * U256::from(block.base_fee());
        made += block.extras.withdrawals.iter().map(|withdrawal| withdrawal.amount_wei()).sum::<U256>();
        made += block.extras.minted.iter().map(|(_, wei)| *wei).sum::<U256>();
        parent = block;
    }
    let people = (0..PLAYERS).map(|number| SimulatedKey::derived(chain.config().seed, number).address());
    let others = [contracts::SPLITTER, contracts::SCRIPT, contracts::MOODY, PRODUCER, HOUSE];
    let held: U256 = people.chain(others).map(|address| chain.balance(address)).sum();
    assert_eq!(held + burnt, supply + made, "block {}", chain.head().number());
}

#[test]
fn a_chain_rebuilt_from_the_bytes_of_its_blocks_is_the_same() {
    let seed = seed();
    let mut random = Rng::with_seed(seed);
    let mut config = SimulatedConfig::new(seed);
    config.funded.truncate(PLAYERS as usize);
    let (mut chain, mut again) = (SimulatedChain::new(config.clone()), SimulatedChain::new(config));
    for number in 1..=20 {
        for _ in 0..random.u8(..8) {
            // Some are refused, some replace others, some wait for a nonce that never comes.
            let raw: Bytes = transaction(&chain, &mut random).parse().unwrap();
            let _ = chain.send(&raw);
        }
        chain.set_base_fee(1_000_000_000);
        let time = chain.next_time();
        let block = chain.mine(time).clone();
        for included in &block.transactions {
            again.send(&included.transaction.raw()).unwrap();
        }
        again.set_base_fee(1_000_000_000);
        assert_eq!(again.mine(time).hash, block.hash, "block {number}");
    }
}
