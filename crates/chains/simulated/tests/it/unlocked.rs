//! What a development node does for a tool without keys: accounts, signing, mining; and blocks that are stored.

use bankroll_chains_simulated::{Fate, Reorg, ReplayError, SimulatedChain, SimulatedConfig, StoredBlock};
use serde_json::{Value, json};

use crate::world::{HOUSE, SEED, answer, ask, chain, mine, pay, player, send};

#[test]
fn coins_are_sent_without_a_key_and_the_receipt_comes() {
    let mut chain = chain();
    let accounts = ask(&mut chain, "eth_accounts", json!([]));
    assert_eq!((accounts.as_array().unwrap().len(), &accounts[3]), (10, &json!(player(3).address())));
    assert_eq!(ask(&mut chain, "eth_requestAccounts", json!([])), accounts);
    let mut send = |nonce: &str| {
        let request = json!({ "from": accounts[3], "to": HOUSE, "value": "0x5" });
        let hash = ask(&mut chain, "eth_sendTransaction", json!([request]));
        let shown = ask(&mut chain, "eth_getTransactionByHash", json!([hash]));
        // 2 x 0.875 gwei and the tip; a plain transfer needs 21,000 gas.
        assert_eq!(
            [&shown["nonce"], &shown["gas"], &shown["maxFeePerGas"], &shown["type"]],
            [&json!(nonce), &json!("0x5208"), &json!("0xa3e9ab80"), &json!("0x2")]
        );
        hash
    };
    let (first, second) = (send("0x0"), send("0x1"));
    assert_eq!(ask(&mut chain, "evm_mine", json!([])), "0x0");
    for hash in [first, second] {
        let receipt = ask(&mut chain, "eth_getTransactionReceipt", json!([hash]));
        assert_eq!((&receipt["status"], &receipt["blockNumber"]), (&json!("0x1"), &json!("0x1")));
    }
    assert_eq!(ask(&mut chain, "eth_getBalance", json!([HOUSE, "latest"])), "0xa");
}

#[test]
fn what_the_sender_fills_in_is_kept() {
    let mut chain = chain();
    let from = player(0).address();
    let legacy = json!({
        "from": from, "to": HOUSE, "value": "0x1", "gas": "0xc350", "gasPrice": "0x77359400", "nonce": "0x0",
        "chainId": "0x539",
    });
    let hash = ask(&mut chain, "eth_sendTransaction", json!([legacy]));
    let shown = ask(&mut chain, "eth_getTransactionByHash", json!([hash]));
    assert_eq!(
        [&shown["type"], &shown["gas"], &shown["gasPrice"]],
        [&json!("0x0"), &json!("0xc350"), &json!("0x77359400")]
    );
    let dynamic = json!({ "from": from, "to": HOUSE, "maxFeePerGas": "0x77359400", "maxPriorityFeePerGas": "0x3", "nonce": "0x4" });
    let hash = ask(&mut chain, "eth_sendTransaction", json!([dynamic]));
    let shown = ask(&mut chain, "eth_getTransactionByHash", json!([hash]));
    assert_eq!([&shown["maxPriorityFeePerGas"], &shown["nonce"]], [&json!("0x3"), &json!("0x4")]);
}

#[test]
fn a_transaction_that_cannot_be_signed_or_paid_is_refused() {
    let mut chain = chain();
    let mut check = |transaction: Value, message: &str| {
        let reported = answer(&mut chain, "eth_sendTransaction", json!([transaction]));
        assert_eq!(reported["error"]["message"], message);
    };
    let from = player(0).address();
    check(json!({ "to": HOUSE }), "invalid argument 0: want the sender in `from`");
    check(json!("all of it"), "invalid argument 0: want a transaction");
    check(json!({ "from": HOUSE, "to": HOUSE }), &format!("unknown account {HOUSE}: it is not unlocked here"));
    check(json!({ "from": from, "to": HOUSE, "value": "5" }), "invalid argument 0: want a value in hex");
    check(
        json!({ "from": from, "to": HOUSE, "nonce": "five" }),
        "invalid argument 0: want numbers in hex, such as 0x5208",
    );
    check(json!({ "from": from, "to": HOUSE, "chainId": "0x1" }), "invalid chain id for signer: have 1 want 1337");
    check(json!({ "from": from, "value": "0x1" }), "contract creation is not supported by this chain");
    check(
        json!({ "from": from, "to": HOUSE, "value": "0xffffffffffffffffffffffffffffff" }),
        "insufficient funds for transfer",
    );
    assert_eq!(chain.waiting_count(), 0);
}

#[test]
fn blocks_are_made_under_the_names_that_other_tools_know() {
    let mut chain = chain();
    let mut height = |method: &str, params: Value| {
        ask(&mut chain, method, params);
        (chain.head().number(), chain.head().time())
    };
    assert_eq!(height("evm_mine", json!([])), (1, 1_700_000_012));
    assert_eq!(height("evm_mine", json!([1_700_000_500])), (2, 1_700_000_500));
    assert_eq!(height("evm_mine", json!([{ "blocks": 3 }])), (5, 1_700_000_536));
    assert_eq!(height("anvil_mine", json!(["0x2"])), (7, 1_700_000_560));
    assert_eq!(height("hardhat_mine", json!([1])), (8, 1_700_000_572));
    assert_eq!(answer(&mut chain, "evm_mine", json!([{ "blocks": 10_001 }]))["error"]["code"], -32602);
    assert_eq!(answer(&mut chain, "evm_mine", json!(["soon"]))["error"]["code"], -32602);
    assert_eq!(chain.head().number(), 8);
}

fn stored(chain: &SimulatedChain) -> Vec<StoredBlock> {
    (1..=chain.head().number()).map(|number| chain.block(number).unwrap().stored()).collect()
}

#[test]
fn stored_blocks_are_the_same_chain_again() {
    let mut chain = chain();
    send(&mut chain, 0, &pay(0, 5)).unwrap();
    mine(&mut chain);
    chain.set_base_fee(7_000_000_000);
    mine(&mut chain);
    let before = stored(&chain);
    chain.reorg(Reorg { depth: 1, length: 2, fate: Fate::Kept });
    let mut again = SimulatedChain::new(SimulatedConfig::new(SEED));
    again.replay(0, &before).unwrap();
    again.replay(1, &stored(&chain)[1..]).unwrap();
    assert_eq!(again.head(), chain.head());
    assert_eq!(again.balance(HOUSE), chain.balance(HOUSE));
    assert_eq!(again.orphan(before[1].hash).map(|block| block.number()), Some(2));
    // Both go on in the same way.
    assert_eq!(mine(&mut again), mine(&mut chain));
}

#[test]
fn stored_blocks_that_were_changed_are_refused() {
    let mut chain = chain();
    send(&mut chain, 0, &pay(0, 5)).unwrap();
    mine(&mut chain);
    mine(&mut chain);
    let blocks = stored(&chain);
    let check = |after: u64, blocks: &[StoredBlock], expected: &str| {
        let refused = SimulatedChain::new(SimulatedConfig::new(SEED)).replay(after, blocks).unwrap_err();
        assert!(refused.to_string().starts_with(expected), "{refused}");
    };
    check(3, &blocks, "there is no block 3 to continue");
    check(0, &blocks[1..], "block 2 cannot follow block 0");
    check(0, &[StoredBlock { time: 1_700_000_013, ..blocks[0].clone() }], "block 1 has the hash 0x");
    let cut = blocks[0].transactions[0].slice(..20);
    check(
        0,
        &[StoredBlock { transactions: vec![cut], ..blocks[0].clone() }],
        "a transaction of block 1 cannot be read",
    );
    let twice = vec![blocks[0].transactions[0].clone(); 2];
    check(
        0,
        &[StoredBlock { transactions: twice, ..blocks[0].clone() }],
        "a transaction of block 1 cannot be executed",
    );
    let missing = StoredBlock { transactions: vec![], ..blocks[0].clone() };
    let refused = SimulatedChain::new(SimulatedConfig::new(SEED)).replay(0, &[missing]).unwrap_err();
    assert!(matches!(refused, ReplayError::OtherHash { number: 1, stored, .. } if stored == blocks[0].hash));
}
