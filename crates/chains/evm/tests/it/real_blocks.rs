//! Blocks of anvil, read by our client: hashes, roots and senders from another implementation.

use bankroll_chains_evm::{
    Address, B256, BlockTag, Bytes, FindOutcome, InternalTransfer, Quantity, SendOutcome, TokenTransfer, TransferLog,
    U256,
};
use bankroll_chains_evm::{ChainIdentity, Disagreement, RpcError, RpcLimits, RpcNode, transaction_hash};
use bankroll_chains_simulated::{Payment, SimulatedKey, contracts::transfer_call};
use serde_json::json;

use crate::{
    anvil::Anvil,
    world::{HOUSE, from_simulated},
};

fn player(anvil: &Anvil, number: u64) -> SimulatedKey {
    let key = SimulatedKey::derived(1, number);
    anvil.ask("anvil_setBalance", json!([key.address(), "0x56bc75e2d63100000"]));
    key
}

fn pay(nonce: u64, to: Address, wei: u64) -> Payment {
    Payment::new(1337, nonce, to.0.into(), U256::from(wei))
}

fn put_code(anvil: &Anvil, at: Address, code: &str) {
    anvil.ask("anvil_setCode", json!([at.lower_hex(), format!("0x{code}")]));
}

#[test]
fn blocks_of_another_implementation_verify() {
    let anvil = Anvil::start();
    let node = anvil.node();
    let (ann, bob) = (player(&anvil, 0), player(&anvil, 1));
    let plain = ann.sign(&pay(0, HOUSE, 5));
    let legacy = bob.sign_legacy(&pay(0, HOUSE, 6));
    let mut spoken = pay(1, HOUSE, 7).calling(Bytes::from_static(b"hello\0\0world"));
    spoken.gas = 30_000;
    let spoken = ann.sign(&spoken);
    for raw in [&plain, &legacy, &spoken] {
        assert_eq!(node.send(raw), SendOutcome::Accepted);
        assert_eq!(node.send(raw), SendOutcome::AlreadyKnown);
        assert_eq!(node.find(transaction_hash(raw)), Ok(FindOutcome::Waiting));
    }
    anvil.mine();
    let block = node.block(BlockTag::Latest).unwrap().unwrap();
    assert_eq!((block.header.number, block.transactions.len()), (1, 3));
    let reported = |raw: &Bytes| block.transaction(transaction_hash(raw)).unwrap();
    assert_eq!(reported(&plain).sender(), Ok(from_simulated(ann.address())));
    assert_eq!(reported(&legacy).sender(), Ok(from_simulated(bob.address())));
    assert_eq!(reported(&plain).native_transfer(), Some((HOUSE, Quantity::new(U256::from(5)))));
    assert_eq!(reported(&legacy).native_transfer(), Some((HOUSE, Quantity::new(U256::from(6)))));
    // 21,000 and what EIP-7623 takes for 2 zeros and 10 other bytes: 42 units of ten.
    assert_eq!((reported(&spoken).gas_used, reported(&plain).gas_used), (21_420, 21_000));
    let parent = node.header(BlockTag::Hash(block.header.parent)).unwrap().unwrap();
    assert_eq!(parent.hash, node.identity().genesis);
    assert_eq!(node.balance(HOUSE, BlockTag::Hash(block.header.hash)).unwrap().to_string(), "18");
    // Empty blocks verify too.
    anvil.mine();
    assert_eq!(node.block(BlockTag::Number(2)).unwrap().unwrap().transactions, []);
    assert_eq!(node.send(&plain), SendOutcome::NonceTooLow);
    let replaced = ann.sign(&pay(2, HOUSE, 1));
    assert_eq!(node.send(&replaced), SendOutcome::Accepted);
    let reported = node.send(&ann.sign(&pay(2, HOUSE, 2)));
    assert!(matches!(reported, SendOutcome::Underpriced(_)), "{reported:?}");
}

#[test]
fn logs_failures_and_inner_calls_of_real_bytecode() {
    let anvil = Anvil::start();
    let node = anvil.node();
    let ann = player(&anvil, 0);
    let at = |byte: u8| Address([byte; 20]);
    // LOG3 of Transfer(caller, HOUSE, second word of the call), then stop.
    let transfer = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    let house = &HOUSE.lower_hex()[2..];
    put_code(&anvil, at(0x11), &format!("60243560005273{house}337f{transfer}60206000a300"));
    // Reverts.
    put_code(&anvil, at(0x22), "60006000fd");
    // CALL with what it was sent to HOUSE; then CALLCODE to HOUSE naming 9 wei, which stay where they are.
    put_code(&anvil, at(0x33), &format!("60006000600060003473{house}5af1506000600060006000600973{house}5af25000"));
    let mut sent = Vec::new();
    for (nonce, to, wei) in [(0, at(0x11), 0), (1, at(0x22), 50), (2, at(0x33), 70)] {
        let mut payment = pay(nonce, to, wei).calling(transfer_call(HOUSE.0.into(), U256::from(1_234)));
        payment.gas = 200_000;
        let raw = ann.sign(&payment);
        assert_eq!(node.send(&raw), SendOutcome::Accepted);
        sent.push(transaction_hash(&raw));
    }
    anvil.mine();
    let block = node.block(BlockTag::Latest).unwrap().unwrap();
    let succeeded: Vec<bool> = sent.iter().map(|hash| block.transaction(*hash).unwrap().succeeded).collect();
    assert_eq!(succeeded, [true, false, true]);
    let logs: Vec<_> = block.transaction(sent[0]).unwrap().transfer_logs().collect();
    let value = Quantity::new(U256::from(1_234));
    let expected =
        TokenTransfer { ordinal: 0, contract: at(0x11), from: from_simulated(ann.address()), to: HOUSE, value };
    assert_eq!(logs, [TransferLog::Standard(expected)]);
    assert_eq!(block.transaction(sent[1]).unwrap().native_transfer(), None);
    let value = Quantity::new(U256::from(70));
    let moved = InternalTransfer { transaction: sent[2], ordinal: 0, from: at(0x33), to: HOUSE, value };
    assert_eq!(node.internal_transfers(&block), Ok(vec![moved]));
    assert_eq!(node.balance(HOUSE, BlockTag::Latest).unwrap().to_string(), "70");
}

#[test]
fn a_reorganisation_of_anvils() {
    let anvil = Anvil::start();
    let node = anvil.node();
    let ann = player(&anvil, 0);
    let raw = ann.sign(&pay(0, HOUSE, 5));
    anvil.mine();
    assert_eq!(node.send(&raw), SendOutcome::Accepted);
    anvil.mine();
    let before = node.block(BlockTag::Number(2)).unwrap().unwrap();
    anvil.ask("anvil_reorg", json!([1, []]));
    let after = node.block(BlockTag::Number(2)).unwrap().unwrap();
    assert_ne!(before.header.hash, after.header.hash);
    assert_eq!(before.header.parent, after.header.parent);
    assert_eq!(after.transactions, []);
    // The same bytes again: the same transaction, in another block.
    assert_eq!(node.send(&raw), SendOutcome::Accepted);
    anvil.mine();
    let Ok(FindOutcome::Included(block)) = node.find(transaction_hash(&raw)) else { panic!("it is included") };
    assert_eq!(block.header.number, 3);
}

#[test]
fn another_chain_with_the_same_id() {
    let (ours, theirs) = (Anvil::start(), Anvil::start());
    let identity = ours.node().identity();
    let found = theirs.node().identity();
    assert_eq!(identity.chain_id, found.chain_id);
    let node = RpcNode::http(
        &theirs.url(),
        ChainIdentity { genesis: B256::repeat_byte(0xaa), ..identity },
        RpcLimits::default(),
    )
    .unwrap();
    let expected = Disagreement::Genesis { expected: B256::repeat_byte(0xaa), found: found.genesis };
    assert_eq!(node.header(BlockTag::Latest), Err(RpcError::Disagreeing(expected)));
}
