//! The log of `bankroll chain`: changes and blocks, and of polls the first only.

use serde_json::json;

use super::Served;

#[test]
fn a_poll_is_logged_once_and_a_payment_with_its_block() {
    let mut chain = Served::start(&["--block-time", "0"]);
    let (from, to) = (chain.started["accounts"][1]["address"].clone(), format!("0x{}", "aa".repeat(20)));
    for _ in 0..3 {
        chain.tell("eth_blockNumber", json!([]));
    }
    assert_eq!(chain.logged(), json!({ "event": "call", "node": 0, "method": "eth_blockNumber", "result": "0x0" }));
    // An empty block is made without a line of its own.
    chain.tell("evm_mine", json!([]));
    assert_eq!(chain.logged()["method"], "evm_mine");
    let hash = chain.tell("eth_sendTransaction", json!([{ "from": from, "to": to, "value": "0x24c545296ce000" }]));
    assert_eq!(chain.logged()["result"], hash);
    chain.tell("evm_mine", json!([]));
    assert_eq!(chain.logged()["method"], "evm_mine");
    let block = chain.logged();
    assert_eq!((&block["event"], &block["number"]), (&json!("block"), &json!(2)));
    let payment = &block["transactions"][0];
    assert_eq!((&payment["hash"], &payment["value"]), (&hash, &json!("10350000000000000")));
    assert_eq!(payment["succeeded"], true);
    let refused = chain.ask("eth_sendTransaction", json!([{ "from": to }]));
    assert_eq!(chain.logged()["error"], refused["error"]["message"]);
    chain.tell("sim_reorg", json!([1, 1]));
    assert_eq!(chain.logged()["method"], "sim_reorg");
    assert_eq!(chain.logged(), json!({ "event": "reorganised", "after": 1, "removed": 1 }));
}

#[test]
fn verbose_logs_every_call_and_quiet_logs_none() {
    let logged = |arg: &str| {
        let chain = Served::start(&["--block-time", "0", arg]);
        chain.tell("eth_chainId", json!([]));
        chain.tell("eth_chainId", json!([]));
        chain.tell("evm_mine", json!([]));
        let lines = chain.kill();
        lines.iter().filter(|line| line.contains("eth_chainId") || line.contains("\"block\"")).count()
    };
    assert_eq!((logged("--verbose"), logged("--quiet")), (3, 0));
}
