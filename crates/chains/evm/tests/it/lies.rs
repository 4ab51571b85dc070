//! Every omission and every lie, told to a client that reads blocks: none is taken for a block.
//!
//! The table is complete by construction: a fault that is neither in it nor about something else fails the test.

use bankroll_chains_evm::{At, Block, NodeError, U256};
use bankroll_chains_simulated::{Fault, contracts};

use crate::world::{HOUSE, World};

/// Four blocks; in the third are payments, tokens and calls that move coins on.
fn eventful() -> (World, Block) {
    let world = World::new();
    let player = world.player(0).address();
    world.call(0, contracts::DOLLAR, 0, contracts::mint_call(player, U256::from(1_000)));
    world.pay(1, HOUSE, 1);
    world.mine();
    world.mine();
    world.call(0, contracts::DOLLAR, 0, contracts::transfer_call(HOUSE, U256::from(40)));
    world.call(2, contracts::SPLITTER, 30, contracts::split_call(&[HOUSE]));
    world.call(3, contracts::REFUSING, 20, Default::default());
    world.pay(4, HOUSE, 10);
    world.mine();
    let block = world.head();
    world.mine();
    (world, block)
}

/// What the client makes of a lie.
#[derive(Debug, PartialEq, Eq)]
enum Noticed {
    Unavailable,
    Disagreeing,
    Malformed,
    Refused,
    /// The node says that there is no such block, which proves nothing and moves no cursor.
    Absent,
}

fn noticed<T: std::fmt::Debug>(fault: Fault, answer: Result<Option<T>, NodeError>) -> Noticed {
    match answer {
        Err(NodeError::Unavailable(_)) => Noticed::Unavailable,
        Err(NodeError::Disagreeing(_)) => Noticed::Disagreeing,
        Err(NodeError::Malformed(_)) => Noticed::Malformed,
        Err(NodeError::Refused(_)) => Noticed::Refused,
        Ok(None) => Noticed::Absent,
        Ok(Some(believed)) => panic!("{fault:?} was believed: {believed:?}"),
    }
}

#[test]
fn every_lie_about_a_block_is_noticed() {
    use Noticed::{Absent, Disagreeing, Malformed, Unavailable};
    for fault in Fault::ALL {
        let expected = match fault {
            Fault::RequestLost | Fault::AnswerLost | Fault::RateLimited | Fault::BadGateway => Unavailable,
            Fault::InternalError | Fault::ReceiptsDenied => Unavailable,
            Fault::AnswerCut => Malformed,
            Fault::BlockDenied => Absent,
            // A single receipt called absent, inside the list.
            Fault::ReceiptDenied => Unavailable,
            Fault::TransactionOmitted | Fault::TransactionsOmitted | Fault::TransactionsSwapped => Disagreeing,
            Fault::ReceiptOmitted | Fault::ReceiptsOmitted | Fault::ReceiptsSwapped | Fault::OtherReceipts => {
                Disagreeing
            }
            Fault::LogOmitted | Fault::LogRemoved | Fault::WrongLogAmount | Fault::WrongLogContract => Disagreeing,
            Fault::WrongBlockHash | Fault::WrongParentHash | Fault::WrongTime | Fault::WrongBloom => Disagreeing,
            Fault::OtherBlock | Fault::WrongReceiptBlock | Fault::WrongStatus => Disagreeing,
            Fault::WrongValue | Fault::WrongRecipient | Fault::WrongTransactionHash => Disagreeing,
            Fault::OtherChain | Fault::OtherGenesis => Disagreeing,
            // Caused by commands, and tested where these are.
            Fault::Down | Fault::Lag => continue,
            // About sending (`sending.rs`), traces (below) and a method that the client does not use.
            Fault::SendAnswerLost | Fault::SaysAlreadyKnown | Fault::SaysNonceTooLow | Fault::SaysUnderpriced => {
                continue;
            }
            Fault::AcceptedAndForgotten | Fault::TraceOmitted | Fault::TraceFailed | Fault::LogsOmitted => continue,
        };
        let (world, block) = eventful();
        for at in [At::Number(3), At::Hash(block.header.hash)] {
            let node = world.node(0);
            // A node that is known already, unless the lie is about who it is.
            if !matches!(fault, Fault::OtherChain | Fault::OtherGenesis) {
                node.header(At::Latest).unwrap();
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
fn lies_about_headers_are_noticed() {
    for fault in [Fault::WrongBlockHash, Fault::WrongParentHash, Fault::WrongTime, Fault::WrongBloom, Fault::OtherBlock]
    {
        let (world, _) = eventful();
        let node = world.node(0);
        node.check_identity().unwrap();
        node.header(At::Number(3)).unwrap().unwrap();
        world.chain().inject(0, fault, 1);
        assert_eq!(noticed(fault, node.header(At::Number(3))), Noticed::Disagreeing, "{fault:?}");
    }
}

#[test]
fn a_partial_trace_is_never_no_transfers() {
    for (fault, expected) in [
        (Fault::TraceOmitted, Noticed::Disagreeing),
        (Fault::TraceFailed, Noticed::Malformed),
        (Fault::InternalError, Noticed::Unavailable),
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
    assert_eq!(node.block(At::Number(3)), Ok(Some(block.clone())));
    // Known once, it is believed until it fails.
    world.chain().inject(0, Fault::OtherChain, 1);
    assert_eq!(node.block(At::Number(3)), Ok(Some(block.clone())));
    world.chain().inject(0, Fault::RequestLost, 1);
    assert_eq!(noticed(Fault::RequestLost, node.block(At::Number(3))), Noticed::Unavailable);
    assert_eq!(noticed(Fault::OtherChain, node.block(At::Number(3))), Noticed::Disagreeing);
    assert_eq!(node.block(At::Number(3)), Ok(Some(block)));
}

#[test]
fn a_node_that_crashed_is_unavailable_until_it_is_back() {
    let (world, block) = eventful();
    let node = world.node(0);
    let waiting = world.pay(5, HOUSE, 1);
    world.chain().crash(0, false);
    assert_eq!(noticed(Fault::Down, node.block(At::Number(3))), Noticed::Unavailable);
    world.chain().restart(0);
    assert_eq!(node.block(At::Number(3)), Ok(Some(block)));
    assert_eq!(node.find(waiting), Ok(bankroll_chains_evm::Found::Unheard), "its mempool is gone");
    assert_eq!(world.chain().faults().of(Fault::Down), 1);
}
