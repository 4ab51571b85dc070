//! Invalid answers over a real socket: each is a clear error, in bounded memory and time.

use std::{io::ErrorKind, time::Duration};

use bankroll_chains_evm::{
    B256, BlockTag, Bytes, InvalidRpcUrl, MalformedAnswer, RpcError, RpcLimits, RpcNode, SendOutcome, Unavailable,
};
use bankroll_chains_simulated::{NodeFault, RpcReply, contracts};
use serde_json::{Value, json};

use crate::{
    socket::{Canned, Socket},
    world::{HOUSE, World},
};

/// Small answers, and more time than any machine needs.
const LIMITS: RpcLimits =
    RpcLimits { total: Duration::from_mins(1), connect: Duration::from_mins(1), answer_bytes: 1 << 20 };
/// For nodes that never answer.
const SOON: RpcLimits = RpcLimits { total: Duration::from_millis(500), ..LIMITS };

/// A chain with a payment in its second block.
fn eventful() -> World {
    let world = World::new();
    world.pay(0, HOUSE, 5);
    world.mine();
    world
}

/// A node on the right chain that answers one method as the test says.
fn with_answer(method: &'static str, answer: impl Fn(&Value) -> Canned + Send + 'static) -> (World, Socket, RpcNode) {
    let world = eventful();
    let chain = world.shared();
    let socket = Socket::serve(move |body| {
        let request: Value = serde_json::from_slice(body).unwrap();
        // The identity is requested first, and answered correctly.
        if request["method"] == method && request["params"][0] != "0x0" {
            return answer(&request);
        }
        match chain.lock().unwrap().answer(0, body) {
            RpcReply::Body(body) => Canned::Status(200, body),
            other => panic!("{other:?}"),
        }
    });
    let node = RpcNode::http(&socket.url(), world.identity(), LIMITS).unwrap();
    (world, socket, node)
}

fn result(request: &Value, result: Value) -> Canned {
    Canned::Status(200, json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string().into_bytes())
}

fn read_block(answer: impl Fn(&Value) -> Canned + Send + 'static) -> RpcError {
    let (_world, _socket, node) = with_answer("eth_getBlockByNumber", answer);
    node.block(BlockTag::Number(1)).unwrap_err()
}

fn malformed(error: RpcError) -> String {
    match error {
        RpcError::Malformed(MalformedAnswer { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn over_http_the_same_blocks_come_as_in_process() {
    let (world, _socket, node) = with_answer("nothing", |_| Canned::Silence);
    assert_eq!(node.block(BlockTag::Number(1)), Ok(Some(world.head())));
    assert_eq!(node.balance(HOUSE, BlockTag::Latest).unwrap().to_string(), "5");
    let raw = world.player(1).sign(&world.payment(1, HOUSE, 6));
    assert_eq!((node.send(&raw), node.send(&raw)), (SendOutcome::Accepted, SendOutcome::AlreadyKnown));
}

#[test]
fn wrong_forms_are_malformed() {
    let check = |answer: Value, expected: &str| {
        let why = malformed(read_block(move |request| result(request, answer.clone())));
        assert!(why.starts_with(expected), "{why}");
    };
    check(json!("0x1"), "invalid type: string \"0x1\"");
    check(json!([]), "invalid length 0");
    check(json!({}), "missing field");
    check(json!({ "number": 1e300 }), "");
    check(json!(1), "invalid type: integer `1`");
}

#[test]
fn a_block_with_one_field_of_the_wrong_kind_or_size() {
    let fields = [
        ("number", json!("0xffffffffffffffffff")),
        ("number", json!(-1)),
        ("timestamp", json!("yesterday")),
        ("hash", json!(null)),
        ("hash", json!("0x12")),
        ("transactions", json!({})),
        ("transactions", json!([B256::ZERO])),
        ("gasUsed", json!("0x1".repeat(100_000))),
        ("extraData", json!(7)),
    ];
    for (field, value) in fields {
        let mut block = truth("eth_getBlockByNumber", json!(["0x1", true]));
        block[field] = value.clone();
        let why = malformed(read_block(move |request| result(request, block.clone())));
        assert!(why.len() <= 200, "an error is no place for {} characters", why.len());
    }
}

fn truth(method: &str, params: Value) -> Value {
    let world = eventful();
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let RpcReply::Body(body) = world.chain().answer(0, request.as_bytes()) else { panic!("no answer") };
    serde_json::from_slice::<Value>(&body).unwrap()["result"].take()
}

#[test]
fn an_answer_that_is_not_json_rpc_is_malformed() {
    let text = |text: &'static str| malformed(read_block(move |_| Canned::Status(200, text.into())));
    text("");
    text("<html>hello</html>");
    text("{\"jsonrpc\":\"2.0\",\"id\":1");
    assert_eq!(text("{\"jsonrpc\":\"2.0\",\"result\":null}"), "an answer without a valid id");
    assert_eq!(text("{\"jsonrpc\":\"2.0\",\"id\":999999,\"result\":null}"), "an answer to another request");
    let neither = |request: &Value| Canned::Status(200, json!({ "id": request["id"] }).to_string().into());
    assert_eq!(malformed(read_block(neither)), "neither a result nor an error");
}

#[test]
fn deep_nesting_is_malformed() {
    let deep = |request: &Value| {
        let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
        Canned::Status(200, format!("{{\"id\":{},\"result\":{open}{close}}}", request["id"]).into_bytes())
    };
    malformed(read_block(deep));
    // In a field that is not read it is passed over, and in one that is read it is refused.
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    let whole = truth("eth_getBlockByNumber", json!(["0x1", true])).to_string();
    for (field, is_read) in [("\"more\"", false), ("\"accessList\"", true)] {
        let inside = whole.replacen("\"accessList\":[]", &format!("{field}:{open}{close}"), 1);
        assert_ne!(whole, inside);
        let nested = move |request: &Value| {
            Canned::Status(200, format!("{{\"id\":{},\"result\":{inside}}}", request["id"]).into_bytes())
        };
        let (_world, _socket, node) = with_answer("eth_getBlockByNumber", nested);
        let read = node.block(BlockTag::Number(1));
        assert_eq!(matches!(read, Err(RpcError::Malformed(_))), is_read, "{field}");
        assert_eq!(read.is_ok(), !is_read, "{field}");
    }
}

#[test]
fn too_large_too_late_or_truncated_is_unavailable() {
    let unavailable = |error| match error {
        RpcError::Unavailable(unavailable) => unavailable,
        other => panic!("{other:?}"),
    };
    let check = |expected: Unavailable, answer: fn() -> Canned| {
        assert_eq!(unavailable(read_block(move |_| answer())), expected);
    };
    check(Unavailable::RateLimited, || Canned::Status(429, b"slow down".to_vec()));
    check(Unavailable::Status(503), || Canned::Status(503, Vec::new()));
    check(Unavailable::Status(301), || {
        Canned::Bytes(b"HTTP/1.1 301 X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n".to_vec())
    });
    check(Unavailable::Broken(ErrorKind::FileTooLarge), || Canned::Status(200, vec![b' '; 2 << 20]));
    // Fewer bytes than announced, and no HTTP at all.
    for bytes in [&b"HTTP/1.1 200 X\r\ncontent-length: 50\r\n\r\n{}"[..], b"220 mail.example ESMTP\r\n", b""] {
        let error = unavailable(read_block(move |_| Canned::Bytes(bytes.to_vec())));
        assert!(matches!(error, Unavailable::Broken(_)), "{error:?}");
    }
    // A silent node times out at the first request.
    let silent = Socket::serve(|_| Canned::Silence);
    let node = RpcNode::http(&silent.url(), World::new().identity(), SOON).unwrap();
    assert_eq!(unavailable(node.block(BlockTag::Number(1)).unwrap_err()), Unavailable::TimedOut);
}

#[test]
fn an_unreachable_node_is_unavailable() {
    // No process listens at port 1, and no other test can.
    let node = RpcNode::http("http://127.0.0.1:1/v3/secret-key", World::new().identity(), LIMITS).unwrap();
    assert_eq!(node.header(BlockTag::Latest), Err(Unavailable::Unreachable.into()));
}

#[test]
fn the_url_of_a_node_appears_in_no_error() {
    for bad in ["", "127.0.0.1", "ftp://host/secret-key", "http:///secret-key", "http://ho st/secret-key"] {
        let reported = RpcNode::http(bad, World::new().identity(), RpcLimits::default()).unwrap_err();
        assert_eq!(reported, InvalidRpcUrl);
        assert!(!reported.to_string().contains("secret-key"));
    }
    let error = read_block(|_| Canned::Bytes(Vec::new()));
    let (_world, _socket, node) = with_answer("nothing", |_| Canned::Silence);
    assert!(!format!("{error} {error:?} {node:?}").contains("secret-key"));
}

fn no_such_method(request: &Value) -> Canned {
    let error = json!({ "code": -32601, "message": "the method does not exist/is not available" });
    Canned::Status(200, json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }).to_string().into_bytes())
}

#[test]
fn a_node_without_block_receipts_returns_single_ones() {
    let (world, _socket, node) = with_answer("eth_getBlockReceipts", no_such_method);
    assert_eq!(node.block(BlockTag::Number(1)), Ok(Some(world.head())));
}

#[test]
fn a_node_without_flat_traces_returns_nested_ones() {
    let (world, _socket, node) = with_answer("trace_block", no_such_method);
    let payees = [HOUSE.0.into(), contracts::REFUSING, HOUSE.0.into()];
    world.call(1, contracts::SPLITTER, 300, contracts::split_call(&payees));
    world.call(2, contracts::REFUSING, 5, Bytes::new());
    world.mine();
    let block = world.head();
    let transfers = node.internal_transfers(&block).unwrap();
    assert_eq!(transfers, world.node(0).internal_transfers(&block).unwrap());
    let reported: Vec<_> = transfers.iter().map(|t| (t.ordinal, t.to, t.value.to_string())).collect();
    assert_eq!(reported, [(0, HOUSE, "100".into()), (1, HOUSE, "100".into())]);
    for (fault, reported) in [(NodeFault::TraceOmitted, "disagreeing"), (NodeFault::TraceFailed, "unavailable")] {
        world.chain().inject(0, fault, 1);
        let kind = match node.internal_transfers(&block) {
            Err(RpcError::Disagreeing(_)) => "disagreeing",
            Err(RpcError::Unavailable(_)) => "unavailable",
            other => panic!("{other:?}"),
        };
        assert_eq!(kind, reported);
    }
}

#[test]
fn a_hash_that_was_not_sent_is_unknown() {
    let (world, _socket, node) = with_answer("eth_sendRawTransaction", |request| result(request, json!(B256::ZERO)));
    let raw = world.player(1).sign(&world.payment(1, HOUSE, 6));
    let reported = node.send(&raw);
    assert!(matches!(reported, SendOutcome::Unknown(RpcError::Disagreeing(_))), "{reported:?}");
}
