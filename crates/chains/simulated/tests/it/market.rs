//! Fees: how the base fee follows demand, and what the node reports about it.

use bankroll_chains_simulated::{SimulatedChain, SimulatedConfig};
use serde_json::json;

use crate::world::{ask, chain, mine, pay, send};

#[test]
fn the_base_fee_rises_by_an_eighth_in_full_blocks_and_falls_in_empty_ones() {
    let mut config = SimulatedConfig::new(7);
    config.gas_limit = 42_000;
    let mut chain = SimulatedChain::new(config);
    for nonce in 0..6 {
        send(&mut chain, 0, &pay(nonce, 1)).unwrap();
    }
    let fees: Vec<u64> = (0..6)
        .map(|_| {
            mine(&mut chain);
            chain.head().base_fee()
        })
        .collect();
    // One empty block, three full ones, then empty ones.
    assert_eq!(fees, [875_000_000, 984_375_000, 1_107_421_875, 1_245_849_609, 1_090_118_408, 953_853_607]);
}

#[test]
fn a_rise_of_the_base_fee_is_reported_before_it_is_paid() {
    let mut chain = chain();
    mine(&mut chain);
    chain.set_base_fee(50_000_000_000);
    assert_eq!(ask(&mut chain, "eth_gasPrice", json!([])), format!("{:#x}", 51_000_000_000_u64));
    send(&mut chain, 0, &pay(0, 1).paying(40_000_000_000, 1)).unwrap();
    mine(&mut chain);
    assert_eq!((chain.head().base_fee(), chain.waiting_count()), (50_000_000_000, 1));
    mine(&mut chain);
    mine(&mut chain);
    // 43.75 gwei is still too much for 40; 38.28 is not.
    assert_eq!((chain.head().base_fee(), chain.waiting_count()), (38_281_250_000, 0));
}

#[test]
fn the_history_of_fees() {
    let mut chain = chain();
    send(&mut chain, 0, &pay(0, 1).paying(100_000_000_000, 2_000_000_000)).unwrap();
    send(&mut chain, 1, &pay(0, 1).paying(100_000_000_000, 4_000_000_000)).unwrap();
    mine(&mut chain);
    let history = ask(&mut chain, "eth_feeHistory", json!(["0x2", "latest", [10, 90]]));
    assert_eq!(history["oldestBlock"], "0x0");
    let fees = [1_000_000_000_u64, 875_000_000, 765_931_250].map(|fee| format!("{fee:#x}"));
    assert_eq!(history["baseFeePerGas"], json!(fees));
    assert_eq!(history["gasUsedRatio"], json!([0.0, 0.0014]));
    assert_eq!(history["reward"], json!([["0x0", "0x0"], ["0x77359400", "0xee6b2800"]]));
    assert_eq!(ask(&mut chain, "eth_maxPriorityFeePerGas", json!([])), "0xee6b2800");
}
