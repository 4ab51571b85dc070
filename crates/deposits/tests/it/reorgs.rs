//! The chain changes its mind: before crediting, afterwards, and back again.

use bankroll_chains_simulated::{Fate, NodeFault, Reorg};
use bankroll_deposits::{
    Attribution, DepositId, DepositKind, EventTail, LedgerState, PlayerStanding, Purpose, ReviewState, ScanError,
    ScanOutcome,
    credit::{CreditDue, accounts, allocate, credit},
};
use bankroll_ledger::{Amount, BlockRef, Principal, Rejection};

use crate::world::{ALICE, BOB, World, address, name};

const ALICES: [&str; 4] = ["arena/funds/1/alice", "arena/developer/1", "arena/ecosystem/1", "arena/debt/1/alice"];

fn reorg(world: &World, depth: u64, length: u64, fate: Fate) {
    world.chain().reorg(Reorg { depth, length, fate });
}

fn events(world: &World) -> Vec<(String, String)> {
    world.pairs(
        "SELECT block_height AS a, CASE change WHEN 'included' THEN 'seen' ELSE 'reversed' END AS b
         FROM chain_events WHERE change <> 'final' ORDER BY number",
    )
}

fn pairs<const N: usize>(expected: [(&str, &str); N]) -> Vec<(String, String)> {
    expected.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec()
}

#[test]
fn a_deposit_that_is_dropped_before_it_is_final_is_never_credited() {
    let mut world = World::new();
    let payment = world.pay(ALICE, 1_125);
    world.mine(2);
    world.scan_all();
    reorg(&world, 2, 3, Fate::Dropped);
    let ScanOutcome::Moved { to, unwound_to: Some(0), .. } = world.scan().unwrap() else { panic!("a reorganisation") };
    assert_eq!((to.number, world.status(payment).as_str()), (3, "orphaned"));
    world.settle(5);
    assert_eq!(world.balances(ALICES), [0, 0, 0, 0]);
    assert_eq!(events(&world), pairs([("1", "seen"), ("1", "reversed")]));
}

#[test]
fn a_deposit_that_moves_to_another_block_is_credited_once() {
    let mut world = World::new();
    let payment = world.pay(ALICE, 1_125);
    world.mine(2);
    world.scan_all();
    assert_eq!(world.status(payment), "confirming 2/3");
    reorg(&world, 2, 2, Fate::Returned);
    world.scan_all();
    assert_eq!(world.status(payment), "orphaned");
    world.mine(1);
    world.scan_all();
    assert_eq!(world.status(payment), "confirming 1/3");
    world.settle(2);
    assert_eq!(world.balances(ALICES), [1_000, 25, 100, 0]);
    assert_eq!(events(&world), pairs([("1", "seen"), ("1", "reversed"), ("3", "seen")]));
    world.audit();
}

#[test]
fn a_reorganisation_of_the_same_height_is_seen() {
    let mut world = World::new();
    let payment = world.pay(ALICE, 1_125);
    world.mine(1);
    world.scan_all();
    reorg(&world, 1, 1, Fate::Dropped);
    assert!(matches!(world.scan().unwrap(), ScanOutcome::Moved { unwound_to: Some(0), .. }));
    assert_eq!(world.status(payment), "orphaned");
}

#[test]
fn a_credit_is_taken_back_when_its_block_is_gone_and_given_again_in_the_next_epoch() {
    let mut world = World::new();
    let payment = world.pay(ALICE, 1_125);
    world.settle(3);
    assert_eq!(world.balances(ALICES), [1_000, 25, 100, 0]);
    reorg(&world, 3, 4, Fate::Returned);
    world.scan_all();
    assert_eq!(world.status(payment), "credited");
    assert_eq!(world.book().reversed.len(), 1);
    assert_eq!((world.balances(ALICES), world.status(payment).as_str()), ([0, 0, 0, 0], "reversed"));
    world.audit();
    world.settle(3);
    assert_eq!((world.balances(ALICES), world.status(payment).as_str()), ([1_000, 25, 100, 0], "credited"));
    assert_eq!(world.pairs("SELECT epoch AS a, ledger_epoch AS b FROM deposits"), pairs([("2", "2")]));
    world.audit();
}

#[test]
fn what_was_spent_of_a_lost_deposit_is_owed_and_repaid_when_it_comes_back() {
    let mut world = World::new();
    world.pay(ALICE, 1_125);
    world.settle(3);
    assert!(world.spawn("alice", 800).effects().is_ok());
    reorg(&world, 3, 4, Fate::Returned);
    world.settle(0);
    assert_eq!(world.balances(ALICES), [0, 0, 0, 800]);
    assert_eq!(world.balances(["arena/world/1", "@house/custody/1/hot"]), [800, 0]);
    world.settle(3);
    assert_eq!(world.balances(ALICES), [200, 25, 100, 0]);
    world.audit();
}

#[test]
fn a_deposit_included_again_before_the_books_looked_is_taken_back_first() {
    let mut world = World::new();
    world.pay(ALICE, 1_125);
    world.settle(3);
    reorg(&world, 3, 3, Fate::Kept);
    world.mine(3);
    world.scan_all();
    assert_eq!(world.pairs("SELECT chain_state AS a, epoch AS b FROM deposits"), pairs([("final", "2")]));
    let booked = world.book();
    assert_eq!((booked.reversed.len(), booked.credited.len()), (1, 1));
    assert_eq!(world.balances(ALICES), [1_000, 25, 100, 0]);
    world.audit();
}

#[test]
fn the_chain_goes_over_to_another_branch_and_back_and_each_inclusion_is_an_epoch() {
    let mut world = World::new();
    let payment = world.pay(ALICE, 1_125);
    world.mine(2);
    world.scan_all();
    let first_branch = world.chain().head().hash;
    reorg(&world, 2, 2, Fate::Dropped);
    world.scan_all();
    let _ = world.chain().adopt(first_branch).unwrap();
    world.scan_all();
    assert_eq!(world.status(payment), "confirming 2/3");
    assert_eq!(events(&world), pairs([("1", "seen"), ("1", "reversed"), ("1", "seen")]));
    world.settle(1);
    assert_eq!(world.balances(ALICES), [1_000, 25, 100, 0]);
    world.audit();
}

#[test]
fn a_branch_that_the_node_cannot_back_up_unwinds_nothing() {
    let mut world = World::new();
    world.pay(ALICE, 1_125);
    world.pay(BOB, 1_125);
    world.settle(3);
    reorg(&world, 3, 3, Fate::Dropped);
    let before = world.pairs("SELECT chain_state AS a, epoch AS b FROM deposits");
    world.chain().inject(0, NodeFault::BlockDenied, 100);
    assert!(world.scan().is_err());
    assert_eq!(world.pairs("SELECT chain_state AS a, epoch AS b FROM deposits"), before);
    world.chain().clear_faults(0);
    world.settle(0);
    assert_eq!(world.balances(ALICES), [0, 0, 0, 0]);
}

#[test]
fn a_shorter_branch_is_waited_for() {
    let mut world = World::new();
    let payment = world.pay(ALICE, 1_125);
    world.mine(2);
    world.scan_all();
    reorg(&world, 2, 1, Fate::Dropped);
    assert!(matches!(world.scan(), Err(ScanError::Lagging { theirs: 1, ours: 2 })));
    assert_eq!(world.status(payment), "confirming 2/3");
    world.mine(1);
    world.scan_all();
    assert_eq!(world.status(payment), "orphaned");
}

#[test]
fn a_reorganisation_deeper_than_all_that_is_remembered_stops_the_scanner() {
    let mut world = World::new();
    world.pay(ALICE, 1_125);
    world.settle(40);
    let headers = world.pairs("SELECT min(number) AS a, max(number) AS b FROM block_headers");
    assert_eq!(headers, pairs([("24", "40")]));
    reorg(&world, 30, 31, Fate::Dropped);
    let stopped = world.scan();
    assert!(matches!(stopped, Err(ScanError::TooDeep { below: 24, window: 16 })), "{stopped:?}");
    assert_eq!(world.balances(ALICES), [1_000, 25, 100, 0]);
    assert!(world.book().is_idle());
}

#[test]
fn a_credit_that_was_prepared_before_its_block_was_gone_is_refused() {
    let mut world = World::new();
    let payment = world.pay(ALICE, 1_125);
    world.mine(3);
    world.scan_all();
    // A slow process has read that it is due.
    let (block, hash) = world.pairs("SELECT block_number AS a, block_hash AS b FROM deposits").pop().unwrap();
    let due = CreditDue {
        id: DepositId::new(&name("eip155:1337"), payment, DepositKind::Native, 0),
        epoch: 1,
        attribution: Attribution {
            purpose: Purpose::Player,
            server: name("arena"),
            wallet: Some(name("alice")),
            custody: "@house/custody/1/hot".parse().unwrap(),
        },
        doubt: None,
        evidence: EventTail::EMPTY,
        review_state: ReviewState::None,
        from: address(ALICE).lower_hex(),
        amount: Amount::new(1_125),
        tx_hash: format!("{payment:#x}"),
        block: BlockRef { number: block.parse().unwrap(), hash },
        ledger_state: LedgerState::None,
        player: PlayerStanding::default(),
    };
    let allocation = allocate(&due, &world.servers);
    let names = accounts(&due, &allocation);
    let numbers = world.ledger().open_accounts(&Principal::System, names.clone()).unwrap();
    let numbers = names.into_iter().zip(numbers.into_iter().map(Result::unwrap)).collect();
    let late = credit(&due, &allocation, &numbers).unwrap();
    reorg(&world, 3, 3, Fate::Kept);
    world.scan_all();
    // The transaction is back in a block and final again, in its next epoch: the old inclusion is still not credited.
    world.mine(2);
    world.scan_all();
    assert_eq!(world.pairs("SELECT chain_state AS a, epoch AS b FROM deposits"), pairs([("final", "2")]));
    assert_eq!(world.ledger().apply(late).unwrap().effects(), Err(Rejection::GuardFailed));
    assert_eq!(world.balances(ALICES), [0, 0, 0, 0]);
    assert_eq!(world.book().credited.len(), 1);
    assert_eq!(world.balances(ALICES), [1_000, 25, 100, 0]);
    world.audit();
}
