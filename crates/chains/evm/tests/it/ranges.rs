//! Reading many blocks at once gives what reading them one by one gives, whatever a node refuses.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use bankroll_chains_evm::{BlockTag, Bytes};
use bankroll_chains_evm::{InProcessRpc, ReadPlan, RpcError, RpcNode, TracedBlock, Tracer, Unavailable};
use bankroll_chains_simulated::{NodeFault, RpcReply, SimulatedConfig, contracts};
use serde_json::{Value, json};

use crate::world::{HOUSE, World};

const BLOCKS: u64 = 40;

/// The method of each request, and how many calls it had.
type Requests = Arc<Mutex<Vec<(String, usize)>>>;

/// Forty blocks: some empty, some with calls that move coins.
fn eventful() -> World {
    let world = World::with(SimulatedConfig::new(3));
    for block in 0..BLOCKS {
        for payment in 0..block % 4 {
            world.pay(payment, HOUSE, block + 1);
        }
        if block % 3 == 0 {
            let payees = [HOUSE.0.into(), contracts::REFUSING, HOUSE.0.into()];
            world.call(5, contracts::SPLITTER, 300, contracts::split_call(&payees));
            world.call(6, contracts::REFUSING, 5, Bytes::new());
        }
        world.mine();
    }
    world
}

fn one_by_one(world: &World) -> Vec<TracedBlock> {
    let node = world.node(0);
    let read = |number| {
        let block = node.block(BlockTag::Number(number)).unwrap().unwrap();
        let internal = node.internal_transfers(&block).unwrap();
        TracedBlock { block, internal }
    };
    (1..=BLOCKS).map(read).collect()
}

const PLAN: ReadPlan =
    ReadPlan { from: 1, to: BLOCKS, connections: 3, batch: 7, transactions_max: 10_000, with_traces: true };

/// A node that refuses what the test says, and counts the requests for each method.
fn picky(world: &World, refuse: impl Fn(&Value) -> Option<Value> + Send + Sync + 'static) -> (RpcNode, Requests) {
    let (chain, asked) = (world.shared(), Arc::new(Mutex::new(Vec::new())));
    let log = Arc::clone(&asked);
    let rpc = InProcessRpc::new(move |body| {
        let request: Value = serde_json::from_slice(body).unwrap();
        let (method, count) = match request.as_array() {
            Some(batch) => (batch[0]["method"].clone(), batch.len()),
            None => (request["method"].clone(), 1),
        };
        log.lock().unwrap().push((method.as_str().unwrap().to_owned(), count));
        if let Some(error) = refuse(&request) {
            let id = request.get("id").cloned().unwrap_or_default();
            return Ok((200, json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into_bytes()));
        }
        match chain.lock().unwrap().answer(0, body) {
            RpcReply::Body(body) => Ok((200, body)),
            other => panic!("{other:?}"),
        }
    });
    (RpcNode::in_process(rpc, world.identity()), asked)
}

#[test]
fn a_range_is_the_same_blocks_as_one_by_one() {
    let world = eventful();
    let expected = one_by_one(&world);
    for (connections, batch) in [(1, 1), (1, 40), (4, 1), (3, 7), (16, 100), (0, 0)] {
        let plan = ReadPlan { connections, batch, ..PLAN };
        assert_eq!(world.node(0).read_blocks(&plan).as_ref(), Ok(&expected), "{plan:?}");
    }
    let without = world.node(0).read_blocks(&ReadPlan { with_traces: false, ..PLAN }).unwrap();
    assert!(without.iter().all(|read| read.internal.is_empty()));
    assert!(without.iter().map(|read| &read.block).eq(expected.iter().map(|read| &read.block)));
    // A range that is empty, and the largest one.
    assert_eq!(world.node(0).read_blocks(&ReadPlan { from: 9, to: 8, ..PLAN }), Ok(Vec::new()));
    assert_eq!(world.node(0).read_blocks(&ReadPlan { from: u64::MAX, to: u64::MAX, ..PLAN }), Ok(Vec::new()));
}

#[test]
fn the_list_ends_where_the_node_has_no_more_blocks() {
    let world = eventful();
    let read = world.node(0).read_blocks(&ReadPlan { from: 38, to: 500, ..PLAN }).unwrap();
    assert_eq!(read.iter().map(|read| read.block.header.number).collect::<Vec<_>>(), [38, 39, 40]);
    assert_eq!(world.node(0).read_blocks(&ReadPlan { from: 41, to: 500, ..PLAN }), Ok(Vec::new()));
}

#[test]
fn the_list_ends_when_enough_transactions_are_read() {
    let world = eventful();
    let read = world.node(0).read_blocks(&ReadPlan { transactions_max: 5, connections: 1, ..PLAN }).unwrap();
    let transactions: usize = read.iter().map(|read| read.block.transactions.len()).sum();
    assert!(!read.is_empty() && transactions < 10, "{transactions}");
    assert_eq!(read, one_by_one(&world)[..read.len()]);
    // One block is always read, so that no caller waits for ever.
    let read = world.node(0).read_blocks(&ReadPlan { from: 4, transactions_max: 0, ..PLAN }).unwrap();
    assert_eq!(read.first(), one_by_one(&world).get(3));
}

#[test]
fn a_node_that_takes_small_batches_only_is_read_in_small_batches() {
    let world = eventful();
    let expected = one_by_one(&world);
    for (most, error) in [
        (3, json!({ "code": -32000, "message": "batch limit exceeded" })),
        (1, json!({ "code": -32600, "message": "batches are not supported" })),
    ] {
        let refuse =
            move |request: &Value| request.as_array().filter(|batch| batch.len() > most).map(|_| error.clone());
        let (node, asked) = picky(&world, refuse);
        assert!(node.read_blocks(&PLAN).as_ref() == Ok(&expected));
        let most_asked = |from: usize| asked.lock().unwrap().iter().skip(from).map(|(_, count)| *count).max();
        assert!(most_asked(0) > Some(most), "it was tried");
        let before = asked.lock().unwrap().len();
        assert!(node.read_blocks(&PLAN).as_ref() == Ok(&expected));
        // It is tried again with one block more, not with all.
        assert!(most_asked(before) <= Some(most + 3), "{:?}", most_asked(before));
    }
}

#[test]
fn a_method_that_is_missing_is_asked_for_once() {
    let world = eventful();
    let expected = one_by_one(&world);
    let missing = json!({ "code": -32601, "message": "the method does not exist/is not available" });
    let small = json!({ "code": -32600, "message": "batches are not supported" });
    // Without batches, too.
    let (node, asked) = picky(&world, move |request| {
        if request.is_array() {
            return Some(small.clone());
        }
        let first = request.get(0).unwrap_or(request);
        let is_missing = ["eth_getBlockReceipts", "trace_block"].iter().any(|method| first["method"] == *method);
        is_missing.then(|| missing.clone())
    });
    let plan = ReadPlan { connections: 1, ..PLAN };
    assert!(node.read_blocks(&plan).as_ref() == Ok(&expected));
    let count = |method: &str| asked.lock().unwrap().iter().filter(|(asked, _)| asked == method).count();
    assert_eq!((count("eth_getBlockReceipts"), count("trace_block")), (1, 1));
    for read in &expected {
        assert_eq!(node.block(BlockTag::Number(read.block.header.number)).as_ref(), Ok(&Some(read.block.clone())));
        assert_eq!(node.internal_transfers(&read.block).as_ref(), Ok(&read.internal));
    }
    assert_eq!((count("eth_getBlockReceipts"), count("trace_block")), (1, 1));
}

#[test]
fn both_tracers_give_equal_transfers_and_none_gives_none() {
    let world = eventful();
    let expected = one_by_one(&world);
    for tracer in [Tracer::TraceBlock, Tracer::CallTracer, Tracer::Automatic] {
        assert_eq!(world.node(0).with_tracer(tracer).read_blocks(&PLAN).as_ref(), Ok(&expected), "{tracer:?}");
    }
    let refused = world.node(0).with_tracer(Tracer::None).read_blocks(&PLAN).unwrap_err();
    assert!(refused.is_no_method(), "{refused:?}");
}

#[test]
fn every_fault_in_a_range_is_an_error_or_fewer_blocks_and_never_other_ones() {
    let world = eventful();
    let expected = one_by_one(&world);
    for fault in NodeFault::ALL {
        let node = world.node(0);
        node.check_identity().unwrap();
        for connections in [1, 3] {
            world.chain().inject(0, *fault, 1);
            match node.read_blocks(&ReadPlan { connections, ..PLAN }) {
                Ok(read) => assert_eq!(read, expected[..read.len()], "{fault:?}"),
                Err(RpcError::Refused(refused)) => panic!("{fault:?}: {refused}"),
                Err(_) => {}
            }
            world.chain().clear_faults(0);
        }
        assert_eq!(node.read_blocks(&PLAN).as_ref(), Ok(&expected), "the truth after {fault:?}");
    }
}

#[test]
fn a_failure_after_some_blocks_leaves_those() {
    let world = eventful();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let (node, _) = picky(&world, move |request| {
        let first = request.get(0).unwrap_or(request);
        let is_late = first["method"] == "eth_getBlockByNumber" && first["params"][0] == "0x8";
        (is_late && count.fetch_add(1, Ordering::SeqCst) < 2).then(|| json!({ "code": -32603, "message": "boom" }))
    });
    let plan = ReadPlan { connections: 1, ..PLAN };
    let read = node.read_blocks(&plan).unwrap();
    assert_eq!(read, one_by_one(&world)[..7], "blocks 1 to 7");
    let next = ReadPlan { from: 8, ..plan };
    let failed = Unavailable::Failed { code: -32603, message: "boom".into() };
    assert_eq!(node.read_blocks(&next), Err(failed.into()));
    assert_eq!(node.read_blocks(&next).as_deref(), Ok(&one_by_one(&world)[7..]));
}
