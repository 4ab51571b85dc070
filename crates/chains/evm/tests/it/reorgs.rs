//! Reorganisations as seen by a client.

use bankroll_chains_evm::{BlockTag, FindOutcome};
use bankroll_chains_simulated::{Fate, Reorg};

use crate::world::{HOUSE, World};

fn reorg(world: &World, depth: u64, length: u64, fate: Fate) -> u64 {
    world.chain().reorg(Reorg { depth, length, fate })
}

#[test]
fn a_replaced_block_has_another_hash_and_can_still_be_read_by_its_own() {
    let world = World::new();
    let node = world.node(0);
    world.mine();
    let sent = world.pay(0, HOUSE, 5);
    world.mine();
    let before = node.block(BlockTag::Number(2)).unwrap().unwrap();
    assert_eq!(reorg(&world, 1, 1, Fate::Kept), 1);
    let after = node.block(BlockTag::Number(2)).unwrap().unwrap();
    // The height is the same; only the hash differs.
    assert_ne!(after.header.hash, before.header.hash);
    assert_eq!(after.header.parent, before.header.parent);
    assert_eq!(after.transactions, before.transactions, "the same payment, in the same place");
    assert_eq!(node.block(BlockTag::Hash(before.header.hash)), Ok(Some(before)));
    let Ok(FindOutcome::Included(block)) = node.find(sent) else { panic!("it is included") };
    assert_eq!(block.header.hash, after.header.hash);
}

#[test]
fn a_dropped_payment_is_unknown_until_it_is_sent_again() {
    let world = World::new();
    let node = world.node(0);
    let payment = world.payment(0, HOUSE, 5);
    let raw = world.player(0).sign(&payment);
    let sent = world.chain().send(&raw).unwrap();
    world.mine();
    assert_eq!(node.balance(HOUSE, BlockTag::Latest).unwrap().to_string(), "5");
    reorg(&world, 1, 2, Fate::Dropped);
    assert_eq!(node.header(BlockTag::Latest).unwrap().unwrap().number, 2);
    assert_eq!(node.balance(HOUSE, BlockTag::Latest).unwrap().to_string(), "0");
    assert_eq!(node.find(sent), Ok(FindOutcome::Unheard));
    // The same bytes are still valid.
    assert_eq!(world.chain().send(&raw), Ok(sent));
    world.mine();
    let Ok(FindOutcome::Included(block)) = node.find(sent) else { panic!("it is included again") };
    assert_eq!(block.header.number, 3);
}

#[test]
fn a_returned_payment_waits_and_is_included_higher() {
    let world = World::new();
    let sent = world.pay(0, HOUSE, 5);
    world.mine();
    reorg(&world, 1, 1, Fate::Returned);
    assert_eq!(world.node(0).find(sent), Ok(FindOutcome::Waiting));
    world.mine();
    let Ok(FindOutcome::Included(block)) = world.node(0).find(sent) else { panic!("it is included") };
    assert_eq!(block.header.number, 2);
}

#[test]
fn reordered_payments_are_all_there_and_each_senders_in_order() {
    let world = World::new();
    let sent: Vec<_> = (0..12).map(|n| world.pay(n % 3, HOUSE, n)).collect();
    world.mine();
    world.mine();
    let before = world.node(0).block(BlockTag::Number(1)).unwrap().unwrap();
    reorg(&world, 2, 3, Fate::Reordered);
    let blocks: Vec<_> =
        (1..=3).map(|number| world.node(0).block(BlockTag::Number(number)).unwrap().unwrap()).collect();
    let after: Vec<_> = blocks.iter().flat_map(|block| &block.transactions).collect();
    assert_eq!(blocks.iter().map(|block| block.transactions.len()).collect::<Vec<_>>(), [4, 4, 4]);
    assert!(sent.iter().all(|hash| after.iter().any(|transaction| transaction.hash == *hash)));
    assert!(before.transactions.iter().zip(&after).any(|(old, new)| old.hash != new.hash), "another order");
    for player in 0..3 {
        let address = world.address(player);
        let nonces: Vec<_> = after.iter().filter(|t| t.sender() == Ok(address)).map(|t| t.nonce).collect();
        assert_eq!(nonces, [0, 1, 2, 3]);
    }
    assert_eq!(world.node(0).balance(HOUSE, BlockTag::Latest).unwrap().to_string(), "66");
}

#[test]
fn a_branch_below_finalized_can_be_adopted_again() {
    let world = World::new();
    let sent = world.pay(0, HOUSE, 5);
    world.mine_many(80);
    let left = world.head().header.hash;
    assert_eq!(world.node(0).header(BlockTag::Finalized).unwrap().unwrap().number, 16);
    assert_eq!(reorg(&world, 80, 81, Fate::Dropped), 0);
    assert_eq!(world.node(0).find(sent), Ok(FindOutcome::Unheard));
    assert_eq!(world.chain().adopt(left), Ok(0));
    assert_eq!(world.head().header.hash, left);
    let Ok(FindOutcome::Included(block)) = world.node(0).find(sent) else { panic!("it is included") };
    assert_eq!(block.header.number, 1);
    assert_eq!(world.node(0).balance(HOUSE, BlockTag::Latest).unwrap().to_string(), "5");
}
