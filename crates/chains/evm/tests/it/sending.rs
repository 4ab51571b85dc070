//! The outcome of sending, and what really happened to the transaction.

use bankroll_chains_evm::{
    BlockTag, Disagreement, FindOutcome, RpcError, RpcRefusal, SendOutcome, Unavailable, transaction_hash,
};
use bankroll_chains_simulated::NodeFault;

use crate::world::{HOUSE, World};

fn code(sent: SendOutcome) -> &'static str {
    match sent {
        SendOutcome::Accepted => "accepted",
        SendOutcome::AlreadyKnown => "already known",
        SendOutcome::NonceTooLow => "nonce too low",
        SendOutcome::Underpriced(_) => "underpriced",
        SendOutcome::Refused(_) => "refused",
        SendOutcome::Unknown(RpcError::Unavailable(_)) => "unknown: unavailable",
        SendOutcome::Unknown(RpcError::Malformed(_)) => "unknown: malformed",
        SendOutcome::Unknown(RpcError::Disagreeing(_)) => "unknown: disagreeing",
        SendOutcome::Unknown(RpcError::Refused(_)) => "unknown: refused",
    }
}

#[test]
fn each_answer_is_distinguished() {
    let world = World::new();
    let node = world.node(0);
    let first = world.payment(0, HOUSE, 5);
    let sign = |payment: &_| world.player(0).sign(payment);
    assert_eq!(node.send(&sign(&first)), SendOutcome::Accepted);
    assert_eq!(node.send(&sign(&first)), SendOutcome::AlreadyKnown);
    // 100 and 1 gwei were offered: both must rise by a tenth.
    let same_tip = first.clone().paying(110_000_000_000, 1_000_000_000);
    assert_eq!(code(node.send(&sign(&same_tip))), "underpriced");
    let too_little = first.clone().paying(109_999_999_999, 1_100_000_000);
    assert_eq!(code(node.send(&sign(&too_little))), "underpriced");
    let replacement = first.clone().paying(110_000_000_000, 1_100_000_000);
    assert_eq!(node.send(&sign(&replacement)), SendOutcome::Accepted);
    assert_eq!(node.find(transaction_hash(&sign(&first))), Ok(FindOutcome::Unheard));
    world.mine();
    assert_eq!(node.send(&sign(&replacement)), SendOutcome::NonceTooLow, "included already");
    assert_eq!(node.send(&sign(&first)), SendOutcome::NonceTooLow, "replaced");
    assert_eq!(node.balance(HOUSE, BlockTag::Latest).unwrap().to_string(), "5");

    let mut poor = world.payment(0, HOUSE, 0);
    poor.value = bankroll_chains_evm::U256::MAX;
    let SendOutcome::Refused(RpcRefusal { code, message }) = node.send(&sign(&poor)) else {
        panic!("no account has that much")
    };
    assert_eq!((code, message.split(':').next()), (-32000, Some("insufficient funds for gas * price + value")));
}

/// (fault, outcome for the sender, whether the transaction is in the mempool)
const FAULTS: &[(NodeFault, &str, bool)] = &[
    (NodeFault::RequestLost, "unknown: unavailable", false),
    (NodeFault::AnswerLost, "unknown: unavailable", true),
    (NodeFault::SendAnswerLost, "unknown: unavailable", true),
    (NodeFault::RateLimited, "unknown: unavailable", false),
    (NodeFault::BadGateway, "unknown: unavailable", false),
    (NodeFault::InternalError, "unknown: unavailable", false),
    (NodeFault::AnswerCut, "unknown: malformed", true),
    (NodeFault::SaysAlreadyKnown, "already known", true),
    (NodeFault::SaysNonceTooLow, "nonce too low", true),
    (NodeFault::SaysUnderpriced, "underpriced", false),
    (NodeFault::AcceptedAndForgotten, "accepted", false),
];

#[test]
fn with_each_fault_the_same_bytes_can_be_sent_again_and_pay_once() {
    for &(fault, reported, taken) in FAULTS {
        let world = World::new();
        let node = world.node(0);
        node.check_identity().unwrap();
        // One request first, so that the fault affects the transaction and not the identity check.
        node.header(BlockTag::Latest).unwrap();
        let raw = world.player(0).sign(&world.payment(0, HOUSE, 5));
        let hash = transaction_hash(&raw);
        world.chain().inject(0, fault, 1);
        assert_eq!(code(node.send(&raw)), reported, "{fault:?}");
        assert_eq!(world.chain().waiting(hash).is_some(), taken, "{fault:?}");
        assert_eq!(world.chain().faults().of(fault), 1, "{fault:?}");
        let again = if taken { SendOutcome::AlreadyKnown } else { SendOutcome::Accepted };
        assert_eq!(node.send(&raw), again, "{fault:?}");
        world.mine();
        assert_eq!(node.send(&raw), SendOutcome::NonceTooLow, "{fault:?}");
        assert_eq!(node.balance(HOUSE, BlockTag::Latest).unwrap().to_string(), "5", "{fault:?}");
    }
}

#[test]
fn nothing_is_sent_to_another_chain() {
    let world = World::new();
    let raw = world.player(0).sign(&world.payment(0, HOUSE, 5));
    world.chain().inject(0, NodeFault::OtherChain, 1);
    let reported = world.node(0).send(&raw);
    let expected = Disagreement::ChainId { expected: 1337, found: bankroll_chains_evm::U256::from(1338) };
    assert_eq!(reported, SendOutcome::Unknown(expected.into()));
    assert_eq!(world.chain().waiting_count(), 0);

    let mut payment = world.payment(0, HOUSE, 5);
    payment.chain_id = 1;
    let SendOutcome::Refused(refused) = world.node(0).send(&world.player(0).sign(&payment)) else {
        panic!("not for us")
    };
    assert_eq!(refused.message, "invalid chain id for signer: have 1 want 1337");
}

#[test]
fn a_dead_node_is_unknown_too() {
    let world = World::new();
    world.chain().crash(0, true);
    let raw = world.player(0).sign(&world.payment(0, HOUSE, 5));
    assert_eq!(world.node(0).send(&raw), SendOutcome::Unknown(Unavailable::Unreachable.into()));
}
