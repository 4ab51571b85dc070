//! JSON-RPC: exact answers to valid requests, and clear errors to all others.

use bankroll_chains_simulated::{B256, RpcReply, U256, contracts};
use serde_json::{Value, json};

use crate::world::{HOUSE, answer, ask, chain, mine, pay, player, read, send};

#[test]
fn errors_have_the_texts_of_geth() {
    let mut chain = chain();
    let mut check = |method: &str, params: Value, code: i32, message: &str| {
        let reported = answer(&mut chain, method, params);
        assert_eq!(
            (&reported["error"]["code"], &reported["error"]["message"]),
            (&json!(code), &json!(message)),
            "{method}"
        );
    };
    check("eth_nonsense", json!([]), -32601, "the method eth_nonsense does not exist/is not available");
    check("eth_getBalance", json!([]), -32602, "missing value for required argument 0");
    check("eth_getBalance", json!(["0x12"]), -32602, "invalid argument 0: want an address of 20 bytes in hex");
    check("eth_getBalance", json!([HOUSE, "0x99"]), -32000, "header not found");
    check("eth_getBalance", json!({ "a": 1 }), -32602, "non-array args");
    check(
        "eth_getBlockByNumber",
        json!(["0x01", true]),
        -32602,
        "invalid argument 0: want a block's number, hash or name",
    );
    check("eth_call", json!([{ "to": contracts::REFUSING }]), 3, "execution reverted");
    check("eth_sendRawTransaction", json!(["0xzz"]), -32602, "invalid argument 0: want bytes in hex");
    check("eth_sendRawTransaction", json!(["0x00"]), -32000, "transaction type not supported");
    check("eth_getLogs", json!([{ "fromBlock": "0x5", "toBlock": "0x1" }]), -32000, "invalid block range params");
}

#[test]
fn malformed_requests_are_errors() {
    let mut chain = chain();
    let mut check = |request: &[u8], code: i32| {
        let reported = read(chain.answer(0, request));
        assert_eq!(reported["error"]["code"], code, "{reported}");
    };
    check(b"", -32700);
    check(b"{", -32700);
    check(&[0xff, 0xfe], -32700);
    check("[".repeat(100_000).as_bytes(), -32700);
    check(format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)).as_bytes(), -32700);
    check(b"[]", -32600);
    check(b"7", -32600);
    check(b"{}", -32600);
    check(br#"{"jsonrpc":"1.0","method":"eth_chainId","id":1}"#, -32600);
    check(br#"{"jsonrpc":"2.0","method":7,"id":1}"#, -32600);
    check(br#"{"jsonrpc":"2.0","method":"eth_getBlockByNumber","params":[1e400,true],"id":1}"#, -32700);
    check(
        br#"{"jsonrpc":"2.0","method":"eth_getBlockByNumber","params":["0xffffffffffffffffff",true],"id":1}"#,
        -32602,
    );
    let long = format!(r#"{{"jsonrpc":"2.0","method":"{}","id":1}}"#, "m".repeat(1_000_000));
    let reported = read(chain.answer(0, long.as_bytes()));
    assert!(reported["error"]["message"].as_str().unwrap().len() < 200);
}

#[test]
fn batches() {
    let mut chain = chain();
    let call = |id: usize| json!({ "jsonrpc": "2.0", "id": id, "method": "eth_chainId" });
    let batch = |count: usize| Value::from((0..count).map(call).collect::<Vec<_>>()).to_string();
    let reported = read(chain.answer(0, batch(1_000).as_bytes()));
    assert_eq!(
        (reported.as_array().unwrap().len(), &reported[999]["id"], &reported[999]["result"]),
        (1_000, &json!(999), &json!("0x539"))
    );
    let reported = read(chain.answer(0, batch(5_000).as_bytes()));
    assert_eq!(reported["error"], json!({ "code": -32600, "message": "batch too large" }));
    let mixed = json!([call(1), 5, { "jsonrpc": "2.0", "id": 2, "method": "no" }]).to_string();
    let reported = read(chain.answer(0, mixed.as_bytes()));
    let codes: Vec<&Value> = reported.as_array().unwrap().iter().map(|answer| &answer["error"]["code"]).collect();
    assert_eq!(codes, [&Value::Null, &json!(-32600), &json!(-32601)]);
}

#[test]
fn tokens_by_call_and_logs_by_search() {
    let mut chain = chain();
    let mint = pay(0, 0).calling(contracts::mint_call(player(0).address(), U256::from(1_000)));
    let transfer = pay(1, 0).calling(contracts::transfer_call(HOUSE, U256::from(250)));
    for mut payment in [mint, transfer] {
        payment.to = Some(contracts::DOLLAR);
        send(&mut chain, 0, &payment).unwrap();
    }
    mine(&mut chain);
    let mut call =
        |input: &str| ask(&mut chain, "eth_call", json!([{ "to": contracts::DOLLAR, "data": input }, "latest"]));
    let word = |number: u64| json!(B256::from(U256::from(number)));
    assert_eq!(call("0x313ce567"), word(6));
    assert_eq!(call("0x18160ddd"), word(1_000));
    let held = format!("0x70a08231{}", &HOUSE.into_word().to_string()[2..]);
    assert_eq!(call(&held), word(250));
    let symbol = call("0x95d89b41");
    assert!(symbol.as_str().unwrap().ends_with("444f4c4c41520000000000000000000000000000000000000000000000000000"));

    let filter =
        json!({ "fromBlock": "earliest", "address": [contracts::DOLLAR], "topics": [null, null, HOUSE.into_word()] });
    let logs = ask(&mut chain, "eth_getLogs", json!([filter]));
    assert_eq!(
        (logs.as_array().unwrap().len(), &logs[0]["logIndex"], &logs[0]["data"]),
        (1, &json!("0x1"), &word(250))
    );
    let other = json!({ "fromBlock": "earliest", "address": contracts::TAXED });
    assert_eq!(ask(&mut chain, "eth_getLogs", json!([other])), json!([]));
}

#[test]
fn faults_below_json_rpc_have_no_body() {
    use bankroll_chains_simulated::NodeFault;
    let mut chain = chain();
    let request = br#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
    let mut check = |fault, expected: RpcReply| {
        chain.inject(0, fault, 1);
        assert_eq!(chain.answer(0, request), expected);
    };
    check(NodeFault::RequestLost, RpcReply::NoAnswer);
    check(NodeFault::AnswerLost, RpcReply::NoAnswer);
    check(NodeFault::RateLimited, RpcReply::Status(429, "Too Many Requests"));
    check(NodeFault::AnswerCut, RpcReply::Body(br#"{"id":1,"jsonrpc":"2"#.to_vec()));
    check(NodeFault::LogsOmitted, RpcReply::Body(br#"{"id":1,"jsonrpc":"2.0","result":"0x539"}"#.to_vec()));
    assert_eq!(chain.faults().of(NodeFault::LogsOmitted), 0, "it fits no answer yet");
}
