//! A front in another process relays: what it answers is what the holder of the books would.

use std::fmt::Write;

use super::{
    caller::Caller,
    casino::{ALICE_HAS, WORLD},
    connections::{Memory, half_open},
    deployment::Deployment,
    wallet::Wallet,
};
use crate::running::Running;

const OPERATIONS: usize = 8_000;
const BODY_MAX: usize = 8 << 20;

/// The most operations of a batch, in the longest body that a batch may have: one unit of Alice's for the world, each.
fn full_batch(key: &str) -> String {
    let (alice, mut body) = (Wallet::of("alice").funds(), r#"{"operations":["#.to_owned());
    for number in 0..OPERATIONS {
        let comma = if number == 0 { "" } else { "," };
        let fields = format!(r#""type":"transfer","from":"{alice}","to":"{WORLD}","amount":"1""#);
        // Keys as long as keys may be, so that the answer is long, too.
        let key = format!("{key:-<190}{number:0>10}");
        write!(body, r#"{comma}{{"key":"{key}",{fields}}}"#).unwrap();
    }
    let blanks = BODY_MAX - body.len() - 2;
    format!("{body}{}]}}", " ".repeat(blanks))
}

fn applied(arena: &Caller, body: &str) -> usize {
    let answer = arena.post_until_answered("/v1/servers/arena/batch", "none", body).expect(200);
    let results = answer["results"].as_array().unwrap();
    results.iter().filter(|result| result["applied"].is_object()).count()
}

#[test]
fn the_longest_batch_is_relayed_with_its_answer() {
    let deployment = Deployment::open();
    let (arena, memory) = (&deployment.arena, Memory::of(&deployment.books));
    let body = full_batch("relayed");
    assert_eq!(body.len(), BODY_MAX);
    assert_eq!(applied(arena, &body), OPERATIONS);
    let left = ALICE_HAS - OPERATIONS as u64;
    assert_eq!(arena.balance(&Wallet::of("alice").funds()), (left, left));
    let longer = arena.try_post("/v1/servers/arena/batch", "none", &format!("{body} "));
    // The node refuses it before all of it is sent, so that the answer may be lost.
    assert!(longer.is_err() || longer.is_ok_and(|refused| refused.code() == "body_too_large"));
    memory.grew_by_less_than(512 << 20);
}

#[test]
fn half_open_handshakes_keep_no_node_out() {
    let deployment = Deployment::open();
    let memory = Memory::of(&deployment.books);
    let silent = half_open(deployment.nodes_address.parse().unwrap(), 256);
    let second = Running::start(deployment.folder.path(), &deployment.url, "api-2", "api");
    second.until("books_found");
    assert_eq!(deployment.arena.balance(&Wallet::of("alice").funds()).0, ALICE_HAS);
    memory.grew_by_less_than(256 << 20);
    drop(silent);
}
