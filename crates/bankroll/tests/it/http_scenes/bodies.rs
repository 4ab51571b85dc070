//! Slow, endless, huge, deep and duplicate-key bodies: each has its status or loses its connection, and others are
//! served.

use std::{
    io::{self, Write},
    net::TcpStream,
};

use serde_json::json;

use super::{
    caller::{Caller, Reply},
    casino::Casino,
    connections::{Memory, is_closed_or_answered},
    wait_until,
    wallet::Wallet,
};

const TRANSFER: &str = "/v1/servers/arena/withdraw";
const BATCH: &str = "/v1/servers/arena/batch";
const MIB: usize = 1 << 20;
/// The most that a scene may add to the memory of the node: the long bodies that may be in memory, and as much again.
const GROWTH_MAX: u64 = 512 << 20;

fn goes_on(arena: &Caller, key: &str) {
    let body = json!({ "account": Wallet::of("alice").funds(), "amount": "1" });
    arena.arena("withdraw", key, &body).expect(200);
}

#[test]
fn a_body_that_breaks_a_rule_has_its_documented_status() {
    let casino = Casino::open();
    let arena = &casino.arena;
    let send = |path: &str, body: &str| {
        let reply = arena.try_post(path, "rules", body).unwrap();
        (reply.status, reply.code())
    };
    let deep = r#"{"a":"#.repeat(100_000);
    assert_eq!(send(TRANSFER, &deep), (400, "body_too_deep".into()));
    assert_eq!(send(BATCH, &format!(r#"{{"operations":{}"#, "[".repeat(MIB))), (400, "body_invalid".into()));
    let twice = r#"{"account":"arena/world/1","amount":"1","\u0061mount":"2"}"#;
    assert_eq!(send(TRANSFER, twice), (400, "body_duplicate_field".into()));
    assert_eq!(send(TRANSFER, r#"{"account":"#), (400, "body_not_json".into()));
    for (path, length) in [(TRANSFER, MIB + 1), (BATCH, 8 * MIB + 1), ("/x/batch", MIB + 1), (TRANSFER, 9_999_999_999)]
    {
        let mut huge = arena.connect().unwrap();
        huge.write_all(arena.head("POST", path, "huge", length).as_bytes()).unwrap();
        let refused = Reply::read(huge).unwrap();
        assert_eq!((refused.status, refused.code().as_str()), (413, "body_too_large"), "{path}, {length} announced");
    }
    goes_on(arena, "after");
    casino.close();
}

/// A body in chunks that never ends; returns when the node takes no more of it.
fn endless(arena: &Caller) -> io::Result<Reply> {
    let mut stream = arena.connect()?;
    let head = arena.head("POST", TRANSFER, "endless", 0).replace("content-length: 0", "transfer-encoding: chunked");
    stream.write_all(head.as_bytes())?;
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x1_0000));
    while stream.write_all(chunk.as_bytes()).is_ok() {}
    Reply::read(stream)
}

#[test]
fn slow_and_endless_bodies_leave_the_service_to_others() {
    let casino = Casino::open();
    let (arena, memory) = (&casino.arena, Memory::of(&casino.node));
    let slow = |number: usize| -> TcpStream {
        let mut stream = arena.connect().unwrap();
        let head = arena.head("POST", TRANSFER, &format!("slow-{number}"), 100);
        stream.write_all(format!("{head}{{").as_bytes()).unwrap();
        stream
    };
    let slow: Vec<TcpStream> = (0..100).map(slow).collect();
    for _ in 0..8 {
        // The rest of the body may reach a closed connection, which then loses the answer.
        if let Ok(refused) = endless(arena) {
            assert_eq!((refused.status, refused.code().as_str()), (413, "body_too_large"));
        }
        goes_on(arena, "while they hang");
    }
    memory.grew_by_less_than(GROWTH_MAX);
    drop(slow);
    casino.close();
}

/// Long bodies may use 256 MiB together. One caller that takes all of it must not stop short requests.
#[test]
fn long_bodies_that_never_end_use_bounded_memory_and_short_requests_are_served() {
    let casino = Casino::open();
    let (arena, memory) = (&casino.arena, Memory::of(&casino.node));
    let almost_all = vec![b' '; 8 * MIB - 1];
    let mut hanging = Vec::new();
    for number in 0..40 {
        let mut stream = arena.connect().unwrap();
        // A refusal closes the connection while this still writes.
        let _ = stream.write_all(arena.head("POST", BATCH, &format!("long-{number}"), 8 * MIB).as_bytes());
        let _ = stream.write_all(&almost_all);
        hanging.push(stream);
    }
    wait_until("the bound refuses a body", || hanging.iter().any(is_closed_or_answered));
    assert!(hanging.iter().any(|stream| !is_closed_or_answered(stream)), "and others wait for their last byte");
    goes_on(arena, "a short request");
    memory.grew_by_less_than(GROWTH_MAX);
    drop(hanging);
    casino.close();
}
