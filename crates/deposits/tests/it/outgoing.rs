//! What our own wallets sent: each transaction with its gas, through reorganisations, and past a node that hides one.

use std::sync::Arc;

use bankroll_chains_evm::{ChainIdentity, InProcessRpc, RpcNode};
use bankroll_chains_simulated::{Bytes, Fate, Reorg, SimulatedChain, U256, contracts::REFUSING};
use bankroll_deposits::{OutgoingView, ScanNotice, ScanOutcome, outgoing, scanner};
use bankroll_ledger::Time;

use crate::world::{ALICE, HOT, STRANGER, World, address, hot, name};

fn sent(world: &World) -> Vec<OutgoingView> {
    outgoing::above(world.reader(), &name("eip155:1337"), 0).unwrap()
}

/// A world whose wallet has 10^18 wei.
fn funded() -> World {
    let mut world = World::new();
    world.pay(ALICE, 1_000_000_000_000_000_000);
    world.mine(1);
    world.scan_all();
    world
}

#[test]
fn a_transaction_of_our_wallet_is_written_with_its_gas_and_whether_it_failed() {
    let mut world = funded();
    let paid = world.pay_to(HOT, address(STRANGER), U256::from(5));
    let refused = world.call(HOT, REFUSING, 7, Bytes::new());
    world.mine(1);
    world.scan_all();
    let sent = sent(&world);
    let shown: Vec<_> = sent
        .iter()
        .map(|sent| (sent.tx_hash.clone(), sent.nonce, sent.value, sent.succeeded, sent.left() - sent.fee))
        .collect();
    let expected = [(paid, 0, 5, true, 5), (refused, 1, 7, false, 0)].map(|(hash, nonce, value, succeeded, left)| {
        (format!("{hash:#x}"), nonce, U256::from(value), succeeded, U256::from(left))
    });
    for expected in expected {
        assert!(shown.contains(&expected), "{expected:?} is not in {shown:?}");
    }
    assert_eq!(sent.len(), 2);
    let before = U256::from(1_000_000_000_000_000_000_u64);
    let left = sent.iter().fold(U256::ZERO, |sum, sent| sum + sent.left());
    assert_eq!(world.chain().balance(hot().0.into()), before - left);
    assert_eq!(outgoing::without_maker(world.reader(), None, 10).unwrap().len(), 2);
}

#[test]
fn a_transaction_that_the_chain_drops_is_taken_back_and_counts_again_in_another_block() {
    let mut world = funded();
    let paid = world.pay_to(HOT, address(STRANGER), U256::from(5));
    world.mine(1);
    world.scan_all();
    world.chain().reorg(Reorg { depth: 1, length: 1, fate: Fate::Returned });
    world.scan_all();
    assert_eq!(sent(&world), []);
    let dropped = outgoing::dropped(world.reader(), &name("eip155:1337")).unwrap();
    assert_eq!(dropped.iter().map(|sent| sent.tx_hash.clone()).collect::<Vec<_>>(), [format!("{paid:#x}")]);
    world.mine(1);
    world.restart();
    world.scan_all();
    assert_eq!(sent(&world).iter().map(|sent| (sent.block, sent.is_canonical)).collect::<Vec<_>>(), [(3, true)]);
    assert_eq!(world.pairs("SELECT epoch AS a, is_canonical AS b FROM withdrawals_chain"), [("2".into(), "1".into())]);
    assert_eq!(outgoing::dropped(world.reader(), &name("eip155:1337")).unwrap(), []);
}

/// The node names another sender for what our wallets send, or none at all.
#[test]
fn a_node_that_hides_a_transaction_of_our_wallet_is_caught_by_its_nonce() {
    for named in ["", "\"from\":\"0x00000000000000000000000000000000000000ee\","] {
        let mut world = funded();
        let paid = world.pay_to(HOT, address(STRANGER), U256::from(5));
        world.mine(1);
        let genesis = world.chain().block(0).unwrap().hash;
        let honest = SimulatedChain::in_process(Arc::clone(&world.chain), 0);
        let (claim, named) = (format!("\"from\":\"{}\",", hot().lower_hex()), named.to_owned());
        let lying = move |request: &[u8]| {
            let (status, body) = honest(request)?;
            let body = String::from_utf8_lossy(&body);
            assert!(!body.contains("\"to\":\"0x00000000000000000000000000000000000000ee\""));
            Ok((status, body.replace(&claim, &named).into_bytes()))
        };
        let node = RpcNode::in_process(InProcessRpc::new(lying), ChainIdentity { chain_id: 1337, genesis });
        let scanned = scanner::step(&world.config, Time(9), &node, world.rows()).unwrap();
        let ScanOutcome::Moved { notices, .. } = scanned else { panic!("there is a block") };
        assert!(!notices.iter().any(|notice| matches!(notice, ScanNotice::Nonce(_))), "it is explained: {notices:?}");
        assert_eq!(sent(&world).iter().map(|sent| sent.tx_hash.clone()).collect::<Vec<_>>(), [format!("{paid:#x}")]);
    }
}
