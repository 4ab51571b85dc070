//! Nodes on different forks, lying nodes, and nodes that lack methods.

use bankroll_chains_simulated::{
    B256, Distortion, Fate, NodeCapability, NodeLie, Payment, Reorg, SimulatedChain, U256, UNTIL_HEALED, contracts,
};
use serde_json::{Value, json};

use crate::world::{HOUSE, chain, mine, mine_several, pay, player, read, send};

fn answer(chain: &mut SimulatedChain, node: usize, method: &str, params: Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    read(chain.answer(node, request.as_bytes()))
}

fn ask(chain: &mut SimulatedChain, node: usize, method: &str, params: Value) -> Value {
    let mut answer = answer(chain, node, method, params);
    assert!(answer["error"].is_null(), "{method}: {answer}");
    answer["result"].take()
}

fn coins(chain: &mut SimulatedChain, node: usize) -> Value {
    ask(chain, node, "eth_getBalance", json!([HOUSE, "latest"]))
}

fn head(chain: &mut SimulatedChain, node: usize) -> (Value, Value) {
    let block = ask(chain, node, "eth_getBlockByNumber", json!(["latest", false]));
    (block["number"].clone(), block["hash"].clone())
}

#[test]
fn a_node_on_its_own_branch_shows_another_chain_until_it_rejoins() {
    let mut chain = chain();
    let paid = send(&mut chain, 0, &pay(0, 5)).unwrap();
    mine_several(&mut chain, 3);
    chain.split_off_without(1, 3, &[paid]);
    let branch = chain.branch(1).unwrap();
    mine_several(branch, 4);
    assert_eq!((coins(&mut chain, 0), coins(&mut chain, 1)), (json!("0x5"), json!("0x0")));
    assert_eq!((head(&mut chain, 0).0, head(&mut chain, 1).0), (json!("0x3"), json!("0x4")));
    assert!(ask(&mut chain, 1, "eth_getTransactionReceipt", json!([paid])).is_null());
    // Every block is another one, and belongs to the parent that the same node shows.
    for number in 1..4_u64 {
        let block = |chain: &mut SimulatedChain, node| {
            ask(chain, node, "eth_getBlockByNumber", json!([format!("{number:#x}"), false]))
        };
        let (one, other) = (block(&mut chain, 0), block(&mut chain, 1));
        assert_ne!(one["hash"], other["hash"]);
        let parent = ask(&mut chain, 1, "eth_getBlockByHash", json!([other["parentHash"], false]));
        assert_eq!(parent["number"], json!(format!("{:#x}", number - 1)));
    }
    let branch_head = head(&mut chain, 1).1;
    assert!(ask(&mut chain, 0, "eth_getBlockByHash", json!([branch_head, false])).is_null());
    chain.rejoin(1);
    assert_eq!(head(&mut chain, 1), head(&mut chain, 0));
    // The branch wins after all.
    chain.adopt(branch_head.as_str().unwrap().parse().unwrap()).unwrap();
    assert_eq!((head(&mut chain, 0).1, coins(&mut chain, 0)), (branch_head, json!("0x0")));
}

#[test]
fn a_branch_includes_the_transaction_elsewhere_or_later() {
    let mut chain = chain();
    let paid = send(&mut chain, 0, &pay(0, 5)).unwrap();
    mine(&mut chain);
    chain.split_off(1, Reorg { depth: 1, length: 2, fate: Fate::Kept });
    let place = |chain: &mut SimulatedChain, node| {
        ask(chain, node, "eth_getTransactionReceipt", json!([paid]))["blockHash"].take()
    };
    let (common, own) = (place(&mut chain, 0), place(&mut chain, 1));
    assert!(common.is_string() && own.is_string() && common != own);
    // Sent to one node, a transaction reaches the other's mempool, and is included on both chains.
    let next = player(0).sign(&pay(1, 2));
    ask(&mut chain, 1, "eth_sendRawTransaction", json!([next.to_string()]));
    mine(&mut chain);
    mine(chain.branch(1).unwrap());
    assert_eq!((coins(&mut chain, 0), coins(&mut chain, 1)), (json!("0x7"), json!("0x7")));
}

#[test]
fn a_branch_is_made_by_commands_too() {
    let mut chain = chain();
    let paid = send(&mut chain, 0, &pay(0, 5)).unwrap();
    mine(&mut chain);
    assert_eq!(ask(&mut chain, 0, "sim_split", json!([1, 1])), "0x0");
    assert_eq!(ask(&mut chain, 0, "sim_mineBranch", json!([1, 2, [paid]])), "0x2");
    assert_eq!((coins(&mut chain, 0), coins(&mut chain, 1)), (json!("0x5"), json!("0x0")));
    assert_eq!(ask(&mut chain, 0, "sim_mineBranch", json!([1])), "0x3");
    assert_eq!(coins(&mut chain, 1), "0x5");
    chain.lag(1, 1);
    assert_eq!(coins(&mut chain, 1), "0x0");
    ask(&mut chain, 0, "sim_heal", json!([1]));
    assert_eq!(head(&mut chain, 1), head(&mut chain, 0));
    assert_eq!(answer(&mut chain, 0, "sim_mineBranch", json!([1]))["error"]["code"], -32000);
}

#[test]
fn the_same_branches_come_out_the_same() {
    let run = || {
        let mut chain = chain();
        mine_several(&mut chain, 3);
        let split = |chain: &mut SimulatedChain, node| {
            chain.split_off(node, Reorg { depth: 2, length: 2, fate: Fate::Kept });
            head(chain, node)
        };
        [split(&mut chain, 1), split(&mut chain, 2), split(&mut chain, 1)]
    };
    let heads = run();
    assert_eq!(heads, run());
    assert!(heads[0] != heads[1] && heads[1] != heads[2] && heads[0] != heads[2]);
}

#[test]
fn words_that_no_header_covers_are_told_wrongly_and_then_rightly() {
    let mut chain = chain();
    let mint = Payment { to: Some(contracts::DOLLAR), ..pay(0, 0).calling(contracts::mint_call(HOUSE, U256::from(9))) };
    send(&mut chain, 0, &mint).unwrap();
    mine(&mut chain);
    let add = |more: u64| Distortion::Plus(U256::from(more));
    let held = format!("0x70a08231{:0>64}", &HOUSE.to_string()[2..]);
    let word = |number: u64| json!(B256::from(U256::from(number)));
    let us = player(0).address();
    let call = json!({ "from": us, "to": HOUSE, "value": "0x1" });
    for (lie, method, params, truth, answered) in [
        (
            NodeLie::Balance { of: Some(HOUSE), by: add(7) },
            "eth_getBalance",
            json!([HOUSE, "latest"]),
            json!("0x0"),
            json!("0x7"),
        ),
        (
            NodeLie::TokenBalance { of: None, by: Distortion::Minus(U256::from(4)) },
            "eth_call",
            json!([{ "to": contracts::DOLLAR, "data": held }, "latest"]),
            word(9),
            word(5),
        ),
        (
            NodeLie::TransactionCount { of: None, by: Distortion::Exactly(U256::from(40)) },
            "eth_getTransactionCount",
            json!([us, "latest"]),
            json!("0x1"),
            json!("0x28"),
        ),
        (NodeLie::GasEstimate { by: add(1) }, "eth_estimateGas", json!([call]), json!("0x5208"), json!("0x5209")),
        (
            NodeLie::GasPrice { by: Distortion::Exactly(U256::ONE) },
            "eth_maxPriorityFeePerGas",
            json!([]),
            json!("0x3b9aca00"),
            json!("0x1"),
        ),
    ] {
        assert_eq!(ask(&mut chain, 0, method, params.clone()), truth);
        chain.lie_from(1, lie.clone(), 1);
        assert_eq!(ask(&mut chain, 0, method, params.clone()), truth, "only node 1 lies");
        assert_eq!(ask(&mut chain, 1, method, params.clone()), answered);
        assert_eq!(ask(&mut chain, 1, method, params.clone()), truth, "only once");
        chain.lie_from(1, lie.clone(), UNTIL_HEALED);
        for _ in 0..3 {
            assert_eq!(ask(&mut chain, 1, method, params.clone()), answered);
        }
        chain.heal(1);
        assert_eq!(ask(&mut chain, 1, method, params), truth);
        assert_eq!(chain.lies_told()[lie.name()], 4);
    }
    chain.lie_from(1, NodeLie::Balance { of: Some(HOUSE), by: add(7) }, 1);
    let ours = ask(&mut chain, 1, "eth_getBalance", json!([us]));
    assert_eq!(ours, ask(&mut chain, 0, "eth_getBalance", json!([us])), "the lie is about another account");
    chain.lie_from(1, NodeLie::FeeHistory { by: Distortion::Exactly(U256::from(3)) }, 1);
    let history = ask(&mut chain, 1, "eth_feeHistory", json!(["0x1", "latest", [50]]));
    assert_eq!((&history["baseFeePerGas"], &history["reward"]), (&json!(["0x3", "0x3"]), &json!([["0x3"]])));
}

#[test]
fn finality_is_told_too_early() {
    let mut chain = chain();
    chain.set_finality(2, 5);
    mine_several(&mut chain, 9);
    ask(&mut chain, 0, "sim_lie", json!([{ "finalized": { "ahead": 3 } }, "always", 1]));
    ask(&mut chain, 0, "sim_lie", json!([{ "safe": { "ahead": 99 } }, 1, 1]));
    let mut mark = |mark: &str| ask(&mut chain, 1, "eth_getBlockByNumber", json!([mark, false]))["number"].take();
    assert_eq!([mark("finalized"), mark("latest"), mark("finalized")], ["0x7", "0x9", "0x7"]);
    assert_eq!([mark("safe"), mark("safe")], ["0x9", "0x7"]);
}

#[test]
fn traces_are_told_wrongly_in_both_forms() {
    let mut chain = chain();
    let split = contracts::split_call(&[HOUSE, player(1).address(), HOUSE]);
    send(&mut chain, 1, &pay(0, 1)).unwrap();
    send(&mut chain, 0, &Payment { to: Some(contracts::SPLITTER), ..pay(0, 9).calling(split) }).unwrap();
    mine(&mut chain);
    let hash = chain.head().hash;
    let receivers = |calls: &Value| {
        calls.as_array().unwrap().iter().map(|call| (call["to"].clone(), call["value"].clone())).collect::<Vec<_>>()
    };
    let mut answered = |lie: Option<NodeLie>| {
        let both = [json!(["latest"]), json!([hash, { "tracer": "callTracer" }])];
        let [flat, nested] = ["trace_block", "debug_traceBlockByHash"].map(|method| {
            lie.iter().for_each(|lie| chain.lie_from(1, lie.clone(), 1));
            ask(&mut chain, 1, method, both[usize::from(method != "trace_block")].clone())
        });
        (flat, nested)
    };
    let (flat, nested) = answered(None);
    let index = nested.as_array().unwrap().iter().position(|traced| traced["result"]["calls"].is_array()).unwrap();
    let inner = receivers(&nested[index]["result"]["calls"]);
    assert_eq!((flat.as_array().unwrap().len(), inner.len()), (5, 3));

    let (flat, nested) = answered(Some(NodeLie::TransferOmitted { to: Some(HOUSE) }));
    assert_eq!(flat.as_array().unwrap().len(), 4);
    assert_eq!(receivers(&nested[index]["result"]["calls"]), inner[..2]);

    let (flat, nested) = answered(Some(NodeLie::TransferInvented { to: HOUSE, value: U256::from(1_000) }));
    let invented = |calls: &Value| calls.as_array().unwrap().iter().any(|call| call["action"]["value"] == "0x3e8");
    assert!(invented(&flat));
    assert!(nested.to_string().contains(r#""value":"0x3e8""#));

    let (flat, nested) = answered(Some(NodeLie::TraceError));
    assert!(flat.as_array().unwrap().iter().any(|call| call["action"].is_null() && call["error"].is_string()));
    assert_eq!(nested[1]["error"], "historical state is not available");
    let (_, nested) = answered(Some(NodeLie::TraceMissing));
    assert_eq!(nested.as_array().unwrap().len(), 1);
}

#[test]
fn a_node_lacks_methods_until_they_are_switched_on() {
    let mut chain = chain();
    mine(&mut chain);
    let hash = chain.head().hash;
    let methods = [
        ("trace_block", json!(["latest"])),
        ("debug_traceBlockByHash", json!([hash, { "tracer": "callTracer" }])),
        ("eth_getBlockReceipts", json!(["latest"])),
    ];
    let has = |chain: &mut SimulatedChain| {
        methods.clone().map(|(method, params)| answer(chain, 1, method, params)["error"]["code"] != -32601)
    };
    chain.switch_off(1, NodeCapability::FlatTraces);
    assert_eq!(has(&mut chain), [false, true, true]);
    chain.switch_off(1, NodeCapability::Traces);
    chain.switch_on(1, NodeCapability::FlatTraces);
    assert_eq!(has(&mut chain), [false, false, true]);
    ask(&mut chain, 0, "sim_switchOff", json!(["blockReceipts", 1]));
    assert_eq!(has(&mut chain), [false, false, false]);
    assert_eq!(ask(&mut chain, 0, "eth_getBlockReceipts", json!(["latest"])), json!([]));
    chain.heal(1);
    assert_eq!(has(&mut chain), [true, true, true]);
}
