//! Balances that change without a transaction: withdrawals, tips, and coins that the chain makes.

use alloy_consensus::Header;
use bankroll_chains_simulated::{Address, Fate, Reorg, SimulatedChain, SimulatedConfig, U256};
use serde_json::{Value, json};

use crate::world::{HOUSE, SEED, ask, chain, mine, mine_several, pay, send};

const GWEI: u64 = 1_000_000_000;

fn houses(chain: &SimulatedChain) -> U256 {
    chain.balance(HOUSE)
}

#[test]
fn withdrawals_pay_without_a_transaction_and_the_header_proves_them() {
    let mut chain = chain();
    ask(&mut chain, "sim_withdraw", json!([HOUSE, 3]));
    ask(&mut chain, "sim_withdraw", json!([HOUSE, 4]));
    mine(&mut chain);
    assert_eq!(houses(&chain), U256::from(7 * GWEI));
    let mut block = ask(&mut chain, "eth_getBlockByNumber", json!(["latest", true]));
    assert_eq!((&block["transactions"], block["withdrawals"].as_array().unwrap().len()), (&json!([]), 2));
    assert_eq!(
        block["withdrawals"][1],
        json!({ "index": "0x1", "validatorIndex": "0x1", "address": HOUSE, "amount": "0x4" })
    );
    let list: Vec<bankroll_chains_simulated::Withdrawal> = serde_json::from_value(block["withdrawals"].take()).unwrap();
    let root = alloy_consensus::proofs::calculate_withdrawals_root(&list);
    assert_eq!(block["withdrawalsRoot"], json!(root));
    let hash = block["hash"].take();
    let header: Header = serde_json::from_value(block).unwrap();
    assert_eq!(hash, json!(header.hash_slow()));
    assert_eq!(ask(&mut chain, "trace_block", json!(["latest"])), json!([]));
    mine(&mut chain);
    assert_eq!(houses(&chain), U256::from(7 * GWEI), "each pays once");
}

#[test]
fn tips_go_to_the_producer_and_minted_coins_come_from_nowhere() {
    let mut chain = chain();
    ask(&mut chain, "sim_setProducer", json!([HOUSE]));
    send(&mut chain, 0, &bankroll_chains_simulated::Payment { to: Some(Address::repeat_byte(1)), ..pay(0, 1) })
        .unwrap();
    mine(&mut chain);
    // A tip of one gwei for 21,000 units of gas.
    assert_eq!(houses(&chain), U256::from(21_000 * GWEI));
    ask(&mut chain, "sim_mintCoins", json!([HOUSE, "0x5"]));
    mine(&mut chain);
    assert_eq!(houses(&chain), U256::from(21_000 * GWEI + 5));
    assert_eq!(ask(&mut chain, "trace_block", json!(["latest"])), json!([]));
}

#[test]
fn withdrawals_share_the_fate_of_transactions() {
    let after = |fate: Fate| {
        let mut chain = chain();
        chain.withdraw(HOUSE, 1);
        chain.mint_coins(HOUSE, U256::from(5));
        mine(&mut chain);
        mine(&mut chain);
        let before = chain.head().hash;
        chain.reorg(Reorg { depth: 2, length: 3, fate });
        let reorganised = houses(&chain);
        chain.adopt(before).unwrap();
        assert_eq!((chain.head().hash, houses(&chain)), (before, U256::from(GWEI + 5)));
        reorganised
    };
    assert_eq!(after(Fate::Kept), U256::from(GWEI + 5));
    assert_eq!(after(Fate::Returned), U256::from(GWEI + 5));
    assert_eq!(after(Fate::Reordered), U256::from(GWEI + 5));
    assert_eq!(after(Fate::Dropped), U256::ZERO);
}

#[test]
fn stored_blocks_keep_them() {
    let mut chain = chain();
    mine(&mut chain);
    chain.withdraw(HOUSE, 1);
    chain.mint_coins(HOUSE, U256::from(5));
    chain.set_producer(HOUSE);
    send(&mut chain, 0, &pay(0, 1)).unwrap();
    mine(&mut chain);
    let stored: Vec<_> = (1..=2).map(|number| chain.block(number).unwrap().stored()).collect();
    // A block without any of it is stored as it always was.
    let fields = |value: Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(json!(stored[0])), ["base_fee", "hash", "number", "salt", "time", "transactions"]);
    let text = serde_json::to_string(&stored).unwrap();
    let mut again = SimulatedChain::new(SimulatedConfig::new(SEED));
    again.replay(0, &serde_json::from_str::<Vec<_>>(&text).unwrap()).unwrap();
    assert_eq!((again.head(), houses(&again)), (chain.head(), houses(&chain)));
}

#[test]
fn finality_is_at_the_distance_that_was_set() {
    let mut chain = chain();
    mine_several(&mut chain, 9);
    let mut marks = || {
        ["safe", "finalized"].map(|mark| ask(&mut chain, "eth_getBlockByNumber", json!([mark, false]))["number"].take())
    };
    assert_eq!(marks(), ["0x0", "0x0"]);
    ask(&mut chain, "sim_setFinality", json!([2, 5]));
    let mut marks = || {
        ["safe", "finalized"].map(|mark| ask(&mut chain, "eth_getBlockByNumber", json!([mark, false]))["number"].take())
    };
    assert_eq!(marks(), ["0x7", "0x4"]);
}
