//! Nodes that lag, omit and lie: a step says why it stopped, and has changed nothing.

use bankroll_chains_evm::{ChainIdentity, InProcessRpc, RpcError, RpcNode};
use bankroll_chains_simulated::{B256, NodeFault, SimulatedChain};
use bankroll_deposits::{ScanError, ScanOutcome, scanner};
use bankroll_ledger::Time;
use bankroll_store::{Rows, RowsError};
use std::sync::Arc;

use crate::world::{ALICE, BOB, World};

/// Everything that the scanner writes, as one text.
fn rows(world: &World) -> String {
    let tables = [
        "SELECT block_number AS a, block_hash AS b FROM chain_cursor",
        "SELECT number AS a, hash AS b FROM block_headers ORDER BY number",
        "SELECT id AS a, chain_state AS b FROM deposits ORDER BY id",
        "SELECT number AS a, hash AS b FROM chain_events ORDER BY number",
    ];
    tables.map(|sql| format!("{:?}", world.pairs(sql))).join("\n")
}

#[test]
fn whatever_a_node_does_wrong_advances_nothing_and_is_made_up_for() {
    let mut noticed = 0;
    for fault in NodeFault::ALL {
        let mut world = World::new();
        world.pay(ALICE, 1_125);
        world.pay(BOB, 1_125);
        world.mine(1);
        world.scan_all();
        world.pay(ALICE, 2_000);
        world.pay(BOB, 2_000);
        world.mine(2);
        let before = rows(&world);
        world.chain().inject(0, *fault, 1_000);
        let stopped = world.scan();
        let happened = world.chain().faults().of(*fault) > 0;
        if happened {
            assert!(stopped.is_err(), "{fault:?} was believed: {stopped:?}");
            assert_eq!(rows(&world), before, "{fault:?}");
            noticed += 1;
        }
        world.chain().clear_faults(0);
        world.settle(3);
        assert_eq!(world.balances(["arena/unallocated/1/alice", "arena/funds/1/bob"]), [875, 2_000], "{fault:?}");
        world.audit();
    }
    // Faults of sending, of traces, of logs and of single receipts do not happen to a scanner of native coins.
    assert!(noticed >= 22, "{noticed} faults were met");
}

#[test]
fn a_node_that_is_behind_is_not_taken_for_a_reorganisation() {
    let mut world = World::new();
    let payment = world.pay(ALICE, 1_125);
    world.mine(2);
    world.scan_all();
    world.chain().lag(0, 2);
    let before = rows(&world);
    assert!(matches!(world.scan(), Err(ScanError::Lagging { theirs: 0, ours: 2 })));
    assert_eq!((rows(&world), world.status(payment).as_str()), (before, "confirming 2/3"));
    world.chain().lag(0, 0);
    assert_eq!(world.scan().unwrap(), ScanOutcome::UpToDate);
}

#[test]
fn a_node_of_another_chain_is_not_asked() {
    let mut world = World::new();
    world.mine(1);
    let elsewhere = ChainIdentity { chain_id: 1337, genesis: B256::repeat_byte(1) };
    let node =
        RpcNode::in_process(InProcessRpc::new(SimulatedChain::in_process(Arc::clone(&world.chain), 0)), elsewhere);
    let stopped = scanner::step(&world.config, Time(1), &node, world.rows());
    assert!(matches!(stopped, Err(ScanError::Node(RpcError::Disagreeing(_)))), "{stopped:?}");
    world.scan_all();
}

#[test]
fn of_two_scanners_on_one_chain_each_step_is_written_by_one() {
    let mut world = World::new();
    world.config.blocks_per_step = 1;
    for _ in 0..20 {
        world.pay(ALICE, 1_125);
        world.mine(1);
    }
    let (ledger, config, chain) = (world.ledger(), &world.config, &world.chain);
    let genesis = world.chain().block(0).unwrap().hash;
    let scan = |node: usize| {
        let rows = Rows::open(ledger).unwrap();
        let node = RpcNode::in_process(
            InProcessRpc::new(SimulatedChain::in_process(Arc::clone(chain), node)),
            ChainIdentity { chain_id: 1337, genesis },
        );
        let (mut moved, mut too_late) = (0, 0);
        loop {
            match scanner::step(config, Time(1), &node, &rows) {
                Ok(ScanOutcome::UpToDate) => return (moved, too_late),
                Ok(ScanOutcome::Moved { .. }) => moved += 1,
                Err(ScanError::Rows(RowsError::Rejected(_))) => too_late += 1,
                Err(error) => panic!("{error:?}"),
            }
        }
    };
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| scan(0));
        let second = scan(1);
        (first.join().unwrap(), second)
    });
    assert_eq!(first.0 + second.0, 20, "{first:?} {second:?}");
    let seen = world.pairs("SELECT epoch AS a, count(*) AS b FROM deposits GROUP BY epoch");
    assert_eq!(seen, [("1".to_owned(), "20".to_owned())]);
    world.settle(3);
    assert_eq!(world.balances(["arena/funds/1/alice"]), [20_000]);
}
