//! Control methods, and that a refused one changes nothing.

use bankroll_chains_simulated::{NodeFault, contracts};
use serde_json::json;

use crate::world::{HOUSE, answer, ask, chain, hex, pay, player};

#[test]
fn a_session() {
    let mut chain = chain();
    let raw = player(0).sign(&pay(0, 5));
    let sent = ask(&mut chain, "eth_sendRawTransaction", json!([hex(&raw)]));
    assert_eq!(ask(&mut chain, "sim_mine", json!([3])), "0x3");
    let receipt = ask(&mut chain, "eth_getTransactionReceipt", json!([sent]));
    assert_eq!((&receipt["status"], &receipt["blockNumber"]), (&json!("0x1"), &json!("0x1")));
    let left = ask(&mut chain, "eth_getBlockByNumber", json!(["latest", false]))["hash"].take();
    assert_eq!(ask(&mut chain, "sim_reorg", json!([3, 4, "dropped"])), "0x0");
    assert!(ask(&mut chain, "eth_getTransactionReceipt", json!([sent])).is_null());
    assert_eq!(ask(&mut chain, "eth_blockNumber", json!([])), "0x4");
    assert_eq!(ask(&mut chain, "sim_adopt", json!([left])), "0x0");
    assert_eq!(ask(&mut chain, "eth_getBalance", json!([HOUSE, "latest"])), "0x5");
    ask(&mut chain, "sim_lag", json!([2]));
    assert_eq!(ask(&mut chain, "eth_blockNumber", json!([])), "0x1");
    ask(&mut chain, "sim_lag", json!([0]));
    ask(&mut chain, "sim_inject", json!(["internalError", 2]));
    let failed = answer(&mut chain, "eth_blockNumber", json!([]));
    assert_eq!(failed["error"], json!({ "code": -32603, "message": "internal error" }));
    assert_eq!(chain.faults().of(NodeFault::InternalError), 1);
    ask(&mut chain, "sim_inject", json!(["internalError", 0]));
    let counted = ask(&mut chain, "sim_faults", json!([]));
    assert!(counted.as_array().unwrap().contains(&json!(["internalError", 1])));
    assert_eq!(counted.as_array().unwrap().len(), NodeFault::ALL.len());
    assert_eq!(ask(&mut chain, "sim_contracts", json!([]))["dollar"], json!(contracts::DOLLAR));
}

#[test]
fn commands_reach_a_node_that_is_down() {
    let mut chain = chain();
    ask(&mut chain, "sim_crash", json!([false]));
    let request = br#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
    assert_eq!(chain.answer(0, request), bankroll_chains_simulated::RpcReply::Unreachable);
    ask(&mut chain, "sim_restart", json!([]));
    assert_eq!(ask(&mut chain, "eth_chainId", json!([])), "0x539");
}

#[test]
fn a_refused_command_changes_nothing() {
    let mut chain = chain();
    ask(&mut chain, "sim_mine", json!([2]));
    let before = chain.head().hash;
    for (method, params) in [
        ("sim_mine", json!([10_001])),
        ("sim_mine", json!(["many"])),
        ("sim_reorg", json!([])),
        ("sim_reorg", json!([1, 1, "forgotten"])),
        ("sim_adopt", json!([HOUSE.into_word()])),
        ("sim_inject", json!(["nonsense"])),
        ("sim_selfDestruct", json!([])),
    ] {
        let reported = answer(&mut chain, method, params);
        assert!(reported["error"]["code"].is_i64(), "{method}: {reported}");
    }
    assert_eq!((chain.head().number(), chain.head().hash), (2, before));
}
