//! A simulated chain, real books, the scanner and crediting; payouts are written as their role writes them, and settled
//! as the books settle them. Whatever is on its way, there is no difference; and one wei that is gone is one.

mod world;

use bankroll_chains_evm::U256;
use bankroll_chains_simulated::{Distortion, Fate, NodeLie, Reorg};
use bankroll_ledger::{ColumnValue, Time};
use bankroll_store::columns::{one, text};

use super::{
    BalanceDifference, compare, halt_of,
    terms::{BalanceTerms, WalletBalance},
    watch::match_makers,
};
use world::{CHAIN, HOT, STRANGER, World, address, name};

fn wei(wei: u128) -> U256 {
    U256::from(wei)
}

#[test]
fn each_term_is_on_its_own_side() {
    let balance = |on_chain: u128, terms: BalanceTerms| {
        let terms = BalanceTerms { in_books: wei(100), ..terms };
        WalletBalance { on_chain: wei(on_chain), terms }.difference()
    };
    let none = BalanceTerms::default;
    assert_eq!(balance(100, none()), BalanceDifference::None);
    assert_eq!(balance(101, none()), BalanceDifference::Surplus(wei(1)));
    assert_eq!(balance(99, none()), BalanceDifference::Deficit(wei(1)));
    let more = [
        BalanceTerms { unbooked: wei(7), ..none() },
        BalanceTerms { held: wei(7), ..none() },
        BalanceTerms { moved_in: wei(7), ..none() },
        BalanceTerms { settled_elsewhere: wei(7), ..none() },
        BalanceTerms { left_after: wei(7), ..none() },
    ];
    let less = [
        BalanceTerms { moved_out: wei(7), ..none() },
        BalanceTerms { unreversed: wei(7), ..none() },
        BalanceTerms { unsettled: wei(7), ..none() },
        BalanceTerms { unsettled_gas: wei(7), ..none() },
        BalanceTerms { came_after: wei(7), ..none() },
    ];
    for terms in more {
        assert_eq!(balance(107, terms.clone()), BalanceDifference::None, "{terms:?}");
        assert_eq!(balance(106, terms.clone()), BalanceDifference::Deficit(wei(1)), "{terms:?}");
    }
    for terms in less {
        assert_eq!(balance(93, terms.clone()), BalanceDifference::None, "{terms:?}");
        assert_eq!(balance(94, terms.clone()), BalanceDifference::Surplus(wei(1)), "{terms:?}");
    }
    for difference in [BalanceDifference::None, BalanceDifference::Surplus(wei(3)), BalanceDifference::Deficit(wei(3))]
    {
        assert_eq!(BalanceDifference::of_signed(&difference.signed()), Some(difference));
    }
}

#[test]
fn a_deposit_or_payout_on_its_way_is_no_difference_and_has_a_term() {
    let mut world = World::new();
    world.agrees(BalanceTerms::default());
    world.pay(STRANGER, address(HOT), 5);
    world.mine(1);
    world.agrees(BalanceTerms::default());
    world.index();
    world.agrees(BalanceTerms { unbooked: wei(5), ..BalanceTerms::default() });
    world.settle(3);
    world.agrees(BalanceTerms::default());

    let id = world.pay_out(7);
    world.agrees(BalanceTerms::default());
    world.mine(1);
    world.index();
    let known = world.compare();
    assert_eq!((known.difference, known.terms.unsettled), (BalanceDifference::None, wei(7)));
    assert!(!known.terms.unsettled_gas.is_zero());
    world.mine(2);
    world.restart();
    world.index();
    world.settle_payout(&id, 7);
    world.agrees(BalanceTerms::default());
    assert_eq!(world.alerts(), []);
    // Settled by blocks that the indexer has not read.
    let id = world.pay_out(9);
    world.mine(3);
    world.settle_payout(&id, 9);
    let known = world.compare();
    assert_eq!(known.difference, BalanceDifference::None);
    assert!(known.terms.settled_elsewhere > wei(9), "with its gas: {known:?}");
    world.index();
    world.agrees(BalanceTerms::default());
    match_makers(world.rows(), &name(CHAIN)).unwrap();
    assert_eq!((world.alerts(), world.halt()), (vec![], None));
}

#[test]
fn one_wei_that_is_stolen_is_found_with_the_wallet_named_and_halts_payouts() {
    let mut world = World::new();
    let (_, hash) = world.pay(HOT, address(STRANGER), 1);
    world.settle(3);
    let known = world.compare();
    let BalanceDifference::Deficit(lost) = known.difference else { panic!("{known:?}") };
    assert!(lost > wei(1), "one wei, and the gas that the thief used");
    assert!(!known.differs(), "one round is not enough");
    assert_eq!(world.alerts().iter().map(|(kind, ..)| kind.as_str()).collect::<Vec<_>>(), ["foreign_transaction"]);
    assert_eq!(world.halt(), None);
    world.restart();
    assert!(world.compare().differs());
    let wallet = address(HOT);
    let open = world.alerts();
    let subjects: Vec<_> = open.iter().map(|(kind, subject, _)| (kind.as_str(), subject.clone())).collect();
    let asset = format!("{CHAIN}/{wallet}/1");
    assert_eq!(subjects, [("foreign_transaction", hash), ("wallet_deficit", asset)]);
    let says = format!("wallet hot ({wallet}) on {CHAIN} holds {lost} base units of asset 1 less than the books say");
    assert!(open[1].2.starts_with(&says), "{}", open[1].2);
    assert!(world.halt().unwrap().starts_with(&says));
    assert_eq!(halt_of(world.rows().reader(), &name(CHAIN), true).unwrap(), None, "a development chain");
    assert_eq!(halt_of(world.rows().reader(), &name("eip155:1000"), false).unwrap(), None, "another chain");

    // It comes back, by a payment that nobody credits: of the house's capital.
    world.chain().mint_coins(wallet.0.into(), lost);
    world.settle(1);
    world.agrees(BalanceTerms::default());
    let open: Vec<_> = world.alerts().into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!((open, world.halt()), (vec!["foreign_transaction".to_owned()], None));
}

#[test]
fn an_indexer_that_has_stopped_halts_payouts_on_every_kind_of_chain_until_it_goes_on() {
    let world = World::new();
    assert_eq!(world.halt(), None);
    let note = |why| one("UPDATE chain_cursor SET stopped = $1", vec![why]);
    world.rows().write(vec![note(text("deeper than the window"))]).unwrap();
    let says = Some(format!("the indexer of {CHAIN} has stopped: deeper than the window"));
    assert_eq!(world.halt(), says);
    assert_eq!(halt_of(world.rows().reader(), &name(CHAIN), true).unwrap(), says);
    assert_eq!(halt_of(world.rows().reader(), &name("eip155:5"), false).unwrap(), None);
    world.rows().write(vec![note(ColumnValue::Null)]).unwrap();
    assert_eq!(world.halt(), None);
}

/// The story of `bankroll reconcile --at`: the block before which all was well.
#[test]
fn an_older_block_is_compared_with_what_came_and_left_since() {
    let mut world = World::new();
    let start = world.chain().head().number();
    world.pay(STRANGER, address(HOT), 5);
    world.settle(1);
    let id = world.pay_out(7);
    world.settle(3);
    world.settle_payout(&id, 7);
    world.pay(HOT, address(STRANGER), 1);
    world.settle(2);
    let at = |world: &World, block| {
        let found = compare(&world.setup, world.rows().reader(), block, Time(9)).unwrap().unwrap();
        found.wallets[0].1.as_ref().unwrap().clone()
    };
    let gone = at(&world, None).difference();
    assert!(matches!(gone, BalanceDifference::Deficit(_)), "{gone:?}");
    for block in start..=start + 6 {
        let balance = at(&world, Some(block));
        let expected = if block < start + 5 { BalanceDifference::None } else { gone };
        assert_eq!(balance.difference(), expected, "block {block}: {balance:?}");
    }
    let unread = compare(&world.setup, world.rows().reader(), Some(99), Time(9)).unwrap_err();
    assert_eq!(
        unread.to_string(),
        format!("block 99 of {CHAIN} is not read yet: the indexer is at block {}", start + 6)
    );
}

#[test]
fn coins_that_come_unseen_are_a_surplus_and_halt_nothing() {
    let mut world = World::new();
    world.chain().mint_coins(address(HOT).0.into(), wei(1));
    world.settle(1);
    world.compare();
    assert_eq!(world.compare().difference, BalanceDifference::Surplus(wei(1)));
    let open: Vec<_> = world.alerts().into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!((open, world.halt()), (vec!["wallet_surplus".to_owned()], None));
}

#[test]
fn a_provider_that_says_another_balance_for_a_moment_alarms_nobody() {
    let mut world = World::new();
    let lie = NodeLie::Balance { of: Some(address(HOT).0.into()), by: Distortion::Minus(wei(1)) };
    world.chain().lie_from(0, lie, 1);
    assert_eq!(world.compare().difference, BalanceDifference::Deficit(wei(1)));
    assert_eq!(world.alerts(), []);
    world.agrees(BalanceTerms::default());
    assert_eq!(world.alerts(), []);
}

/// Whatever comes, is paid and is reorganised, in whatever order: no round sees a difference.
#[test]
fn no_order_of_deposits_payouts_reorganisations_and_restarts_is_a_difference() {
    for seed in 0..4_u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = move |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        let mut world = World::new();
        let mut open: Vec<(String, u128)> = Vec::new();
        for step in 0..60 {
            match next(9) {
                0 | 1 => drop(world.pay(STRANGER, address(HOT), 1 + u128::from(next(1_000)))),
                2 | 3 => {
                    let wei = 1 + u128::from(next(1_000));
                    let id = world.pay_out(wei);
                    open.push((id, wei));
                }
                4 => world.index(),
                5 => world.book(),
                6 => {
                    let depth = 1 + next(2);
                    let fate = [Fate::Kept, Fate::Returned, Fate::Reordered][usize::try_from(next(3)).unwrap()];
                    let mut chain = world.chain();
                    // Never below the first deposit.
                    if chain.head().number() > 6 + depth {
                        chain.reorg(Reorg { depth, length: depth + 1, fate });
                    }
                }
                7 => world.restart(),
                _ => world.mine(1 + next(3)),
            }
            // Settled at depth, as the payouts role does, whether the indexer has read it or not.
            open.retain(|(id, wei)| {
                if next(2) == 0 {
                    let before = world.rows().reader().head().unwrap().seq;
                    world.settle_payout(id, *wei);
                    return world.rows().reader().head().unwrap().seq == before;
                }
                true
            });
            // A reorganisation that the indexer has not followed: its block is not asked for then.
            if !world.cursor_is_canonical() {
                world.index();
            }
            let known = world.compare();
            assert_eq!(known.difference, BalanceDifference::None, "seed {seed}, step {step}: {known:?}");
        }
        world.settle(4);
        match_makers(world.rows(), &name(CHAIN)).unwrap();
        assert_eq!(world.alerts(), [], "seed {seed}");
    }
}
