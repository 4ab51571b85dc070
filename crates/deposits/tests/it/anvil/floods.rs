//! Many transfers at once, each of next to nothing. Class 27 of the attack list.

use super::world::AnvilWorld;
use crate::world::{ALICE, hot};

#[test]
fn two_hundred_tiny_transfers_of_one_block_are_each_booked_once() {
    let mut world = AnvilWorld::new();
    let coins = world.create("Coins");
    let token = world.list("Token");
    world.mint(token, crate::world::address(ALICE), 10_000);
    world.mine(1);
    world.is_of(coins, "alice");
    world.call(ALICE, coins, 120, "payOften(address,uint256,uint256)", &[hot().into(), 1.into(), 120.into()]);
    for _ in 0..40 {
        world.pay(ALICE, 2);
    }
    for _ in 0..10 {
        let payments = [hot().into(), 1.into(), 1.into(), 2.into()];
        world.call(ALICE, token, 0, "payThree(address,uint256,uint256,uint256)", &payments);
    }
    world.pay(crate::world::BOB, 1_000);
    world.settle(3);
    let counted =
        world.pairs("SELECT kind AS a, count(*) AS b FROM deposits WHERE ledger_state = 'credited' GROUP BY kind");
    let expected = [("internal", "120"), ("native", "41"), ("token", "30")];
    let mut counted: Vec<_> = counted.iter().map(|(kind, count)| (kind.as_str(), count.as_str())).collect();
    counted.sort_unstable();
    assert_eq!(counted, expected);
    let blocks = world.pairs("SELECT min(block_number) AS a, max(block_number) AS b FROM deposits");
    assert_eq!(blocks[0].0, blocks[0].1, "all in one block");
    world.expect_books(&[
        ("@house/custody/1/hot", 1_200),
        ("@house/custody/2/hot", 40),
        ("arena/unallocated/1/alice", 200),
        ("arena/unallocated/1/bob", 1_000),
        ("arena/unallocated/2/alice", 40),
    ]);
    world.expect_solvent();
}
