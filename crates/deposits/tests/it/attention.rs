//! What a person must look at, as alerts count it.

use bankroll_chains_simulated::{Fate, Reorg, U256, contracts::DOLLAR};
use bankroll_deposits::{
    ScanError, ScanOutcome,
    attention::{self, DepositGroup},
};
use bankroll_store::columns::one;

use crate::world::{ALICE, BOB, STRANGER, World, hot};

const CHAIN: &str = "eip155:1337";

/// Chain and count of each group.
fn counts(groups: &[DepositGroup]) -> Vec<(&str, u64)> {
    groups.iter().map(|group| (group.chain.as_str(), group.count)).collect()
}

#[test]
fn deposits_in_suspense_held_and_refused_are_counted_by_chain() {
    let mut world = World::with_tokens();
    world.pay(ALICE, 1_125);
    world.settle(3);
    for find in [attention::suspended, attention::held, attention::refused, attention::orphaned_after_final] {
        assert_eq!(find(world.reader()).unwrap(), []);
    }
    world.pay(STRANGER, 50);
    world.pay(STRANGER, 60);
    world.settle(3);
    let suspended = attention::suspended(world.reader()).unwrap();
    assert_eq!(counts(&suspended), [(CHAIN, 2)]);
    assert!(suspended[0].example.starts_with(CHAIN), "{suspended:?}");

    // An amount that the ledger cannot count is held; one that the wallet's account has no room for is refused.
    world.mint(DOLLAR, hot(), U256::from(1_000));
    world.settle(3);
    world.mint(DOLLAR, hot(), U256::from(u128::MAX));
    world.mint(DOLLAR, hot(), U256::from(u128::MAX) + U256::from(1));
    world.mine(3);
    world.scan_all();
    world.book();
    assert_eq!(counts(&attention::refused(world.reader()).unwrap()), [(CHAIN, 1)]);
    assert_eq!(counts(&attention::held(world.reader()).unwrap()), [(CHAIN, 1)]);
}

#[test]
fn deposits_that_are_dropped_after_they_were_final_are_one_group_for_each_reorganisation() {
    let mut world = World::new();
    for number in 1..4 {
        world.pay(ALICE, 1_125 * number);
    }
    world.settle(5);
    world.chain().reorg(Reorg { depth: 5, length: 6, fate: Fate::Dropped });
    world.scan_all();
    world.book();
    let groups = attention::orphaned_after_final(world.reader()).unwrap();
    assert_eq!(counts(&groups), [(CHAIN, 3)]);
    world.pay(BOB, 2_000);
    world.settle(4);
    world.chain().reorg(Reorg { depth: 4, length: 5, fate: Fate::Dropped });
    world.scan_all();
    let later = attention::orphaned_after_final(world.reader()).unwrap();
    assert_eq!(counts(&later), [(CHAIN, 1), (CHAIN, 3)], "the newest first");
    assert_eq!(later[1], groups[0]);
}

#[test]
fn an_indexer_that_cannot_go_on_says_so_in_its_row_until_it_can() {
    let mut world = World::new();
    let mut indexer = world.indexer();
    world.mine(40);
    world.index(&mut indexer);
    let state = |world: &World| attention::cursor_state(world.reader(), CHAIN).unwrap().unwrap();
    assert_eq!((state(&world).block, state(&world).stopped), (40, None));
    let before = world.chain().clone();
    world.chain().reorg(Reorg { depth: 30, length: 31, fate: Fate::Dropped });
    for _ in 0..2 {
        assert!(matches!(world.try_index(&mut indexer), Err(ScanError::TooDeep { .. })));
        let stopped = state(&world).stopped.unwrap();
        assert!(stopped.contains("needs an operator") && stopped.contains("chain.rpc"), "{stopped}");
    }
    // The RPC node was a wrong one.
    *world.chain() = before;
    world.index(&mut indexer);
    assert_eq!(state(&world).stopped, None);

    // Another process has noted it: the next block removes the note.
    world.rows().write(vec![one("UPDATE chain_cursor SET stopped = 'x'", vec![])]).unwrap();
    world.mine(1);
    world.index(&mut indexer);
    assert_eq!((state(&world).block, state(&world).stopped), (41, None));
    assert_eq!(attention::cursor_state(world.reader(), "eip155:1").unwrap(), None);
}

#[test]
fn nothing_is_credited_while_the_scanner_cannot_go_on_and_all_of_it_afterwards() {
    let mut world = World::new();
    let mut indexer = world.indexer();
    world.pay(ALICE, 1_125);
    world.mine(20);
    while world.index(&mut indexer) != ScanOutcome::UpToDate {}
    world.chain().reorg(Reorg { depth: 18, length: 19, fate: Fate::Kept });
    assert!(matches!(world.try_index(&mut indexer), Err(ScanError::TooDeep { .. })));
    let funds = ["arena/funds/1/alice"];
    assert!(world.book().is_idle());
    world.restart();
    assert!(world.book().is_idle());
    assert_eq!(world.balances(funds), [0]);
    // As the indexer notes it when it goes on.
    world.rows().write(vec![one("UPDATE chain_cursor SET stopped = NULL", vec![])]).unwrap();
    assert_eq!(world.book().credited.len(), 1);
    assert_eq!(world.balances(funds), [1_000]);
}
