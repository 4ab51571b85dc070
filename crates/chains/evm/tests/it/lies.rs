//! Every omission and every false answer, as seen by a client that reads blocks: none is accepted as a block.
//!
//! The table is complete: a fault that is neither listed nor explicitly excluded fails the test.

use bankroll_chains_evm::{Block, BlockTag, RpcError, U256};
use bankroll_chains_simulated::{NodeFault, contracts};

use crate::world::{HOUSE, World};

/// Four blocks; the third has payments, tokens and calls that transfer coins.
fn eventful() -> (World, Block) {
    let world = World::new();
    let player = world.player(0).address();
    world.call(0, contracts::DOLLAR, 0, contracts::mint_call(player, U256::from(1_000)));
    world.pay(1, HOUSE, 1);
    world.mine();
    world.mine();
    world.call(0, contracts::DOLLAR, 0, contracts::transfer_call(HOUSE.0.into(), U256::from(40)));
    world.call(2, contracts::SPLITTER, 30, contracts::split_call(&[HOUSE.0.into()]));
    world.call(3, contracts::REFUSING, 20, Default::default());
    world.pay(4, HOUSE, 10);
    world.mine();
    let block = world.head();
    world.mine();
    (world, block)
}

/// How the client reports a false answer.
#[derive(Debug, PartialEq, Eq)]
enum Noticed {
    Unavailable,
    Disagreeing,
    Malformed,
    Refused,
    /// The node reports that there is no such block, which proves nothing and moves no cursor.
    Absent,
}

fn noticed<T: std::fmt::Debug>(fault: NodeFault, answer: Result<Option<T>, RpcError>) -> Noticed {
    match answer {
        Err(RpcError::Unavailable(_)) => Noticed::Unavailable,
        Err(RpcError::Disagreeing(_)) => Noticed::Disagreeing,
        Err(RpcError::Malformed(_)) => Noticed::Malformed,
        Err(RpcError::Refused(_)) => Noticed::Refused,
        Ok(None) => Noticed::Absent,
        Ok(Some(believed)) => panic!("{fault:?} was believed: {believed:?}"),
    }
}

#[test]
fn every_false_block_is_detected() {
    use Noticed::{Absent, Disagreeing, Malformed, Unavailable};
    for fault in NodeFault::ALL {
        let expected = match fault {
            NodeFault::RequestLost | NodeFault::AnswerLost | NodeFault::RateLimited | NodeFault::BadGateway => {
                Unavailable
            }
            NodeFault::InternalError | NodeFault::ReceiptsDenied => Unavailable,
            NodeFault::AnswerCut => Malformed,
            NodeFault::BlockDenied => Absent,
            // A single receipt reported as absent, inside the list.
            NodeFault::ReceiptDenied => Unavailable,
            NodeFault::TransactionOmitted | NodeFault::TransactionsOmitted | NodeFault::TransactionsSwapped => {
                Disagreeing
            }
            NodeFault::ReceiptOmitted
            | NodeFault::ReceiptsOmitted
            | NodeFault::ReceiptsSwapped
            | NodeFault::OtherReceipts => Disagreeing,
            NodeFault::LogOmitted | NodeFault::LogRemoved | NodeFault::WrongLogAmount | NodeFault::WrongLogContract => {
                Disagreeing
            }
            NodeFault::WrongBlockHash | NodeFault::WrongParentHash | NodeFault::WrongTime | NodeFault::WrongBloom => {
                Disagreeing
            }
            NodeFault::OtherBlock | NodeFault::WrongReceiptBlock | NodeFault::WrongStatus => Disagreeing,
            NodeFault::WrongValue | NodeFault::WrongRecipient | NodeFault::WrongTransactionHash => Disagreeing,
            NodeFault::OtherChain | NodeFault::OtherGenesis => Disagreeing,
            // Caused by commands, and tested with them.
            NodeFault::Down | NodeFault::Lag => continue,
            // About sending (`sending.rs`), traces (below) and a method that the client does not use.
            NodeFault::SendAnswerLost
            | NodeFault::SaysAlreadyKnown
            | NodeFault::SaysNonceTooLow
            | NodeFault::SaysUnderpriced => {
                continue;
            }
            NodeFault::AcceptedAndForgotten
            | NodeFault::TraceOmitted
            | NodeFault::TraceFailed
            | NodeFault::LogsOmitted => continue,
        };
        let (world, block) = eventful();
        for at in [BlockTag::Number(3), BlockTag::Hash(block.header.hash)] {
            let node = world.node(0);
            // A node whose identity was checked, unless the fault is about the identity.
            if !matches!(fault, NodeFault::OtherChain | NodeFault::OtherGenesis) {
                node.header(BlockTag::Latest).unwrap();
            }
            world.chain().inject(0, *fault, 1);
            let before = world.chain().faults().of(*fault);
            assert_eq!(noticed(*fault, node.block(at)), expected, "{fault:?} at {at:?}");
            assert_eq!(world.chain().faults().of(*fault), before + 1, "{fault:?} did not happen");
            assert_eq!(node.block(at), Ok(Some(block.clone())), "the truth after {fault:?}");
        }
    }
}

#[test]
fn false_headers_are_detected() {
    for fault in [
        NodeFault::WrongBlockHash,
        NodeFault::WrongParentHash,
        NodeFault::WrongTime,
        NodeFault::WrongBloom,
        NodeFault::OtherBlock,
    ] {
        let (world, _) = eventful();
        let node = world.node(0);
        node.check_identity().unwrap();
        node.header(BlockTag::Number(3)).unwrap().unwrap();
        world.chain().inject(0, fault, 1);
        assert_eq!(noticed(fault, node.header(BlockTag::Number(3))), Noticed::Disagreeing, "{fault:?}");
    }
}

#[test]
fn a_partial_trace_is_never_no_transfers() {
    for (fault, expected) in [
        (NodeFault::TraceOmitted, Noticed::Disagreeing),
        (NodeFault::TraceFailed, Noticed::Malformed),
        (NodeFault::InternalError, Noticed::Unavailable),
    ] {
        let (world, block) = eventful();
        let node = world.node(0);
        assert_eq!(node.internal_transfers(&block).unwrap().len(), 1);
        world.chain().inject(0, fault, 1);
        assert_eq!(noticed(fault, node.internal_transfers(&block).map(Some)), expected, "{fault:?}");
    }
}

#[test]
fn after_a_failure_the_chain_is_checked_again() {
    let (world, block) = eventful();
    let node = world.node(0);
    assert_eq!(node.block(BlockTag::Number(3)), Ok(Some(block.clone())));
    // After the check, it is trusted until it fails.
    world.chain().inject(0, NodeFault::OtherChain, 1);
    assert_eq!(node.block(BlockTag::Number(3)), Ok(Some(block.clone())));
    world.chain().inject(0, NodeFault::RequestLost, 1);
    assert_eq!(noticed(NodeFault::RequestLost, node.block(BlockTag::Number(3))), Noticed::Unavailable);
    assert_eq!(noticed(NodeFault::OtherChain, node.block(BlockTag::Number(3))), Noticed::Disagreeing);
    assert_eq!(node.block(BlockTag::Number(3)), Ok(Some(block)));
}

#[test]
fn a_node_that_crashed_is_unavailable_until_it_is_back() {
    let (world, block) = eventful();
    let node = world.node(0);
    let waiting = world.pay(5, HOUSE, 1);
    world.chain().crash(0, false);
    assert_eq!(noticed(NodeFault::Down, node.block(BlockTag::Number(3))), Noticed::Unavailable);
    world.chain().restart(0);
    assert_eq!(node.block(BlockTag::Number(3)), Ok(Some(block)));
    assert_eq!(node.find(waiting), Ok(bankroll_chains_evm::FindOutcome::Unheard), "its mempool is gone");
    assert_eq!(world.chain().faults().of(NodeFault::Down), 1);
}
