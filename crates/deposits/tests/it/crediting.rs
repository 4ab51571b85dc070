//! From a payment on chain to money in the books.

use bankroll_chains_simulated::{U256, contracts::DOLLAR};
use bankroll_deposits::{ChainProgress, Purpose, ScanError, ScanOutcome};
use bankroll_ledger::{Amount, AssetId, Principal, Rejection};

use crate::world::{ALICE, BOB, STRANGER, TREASURY, World, address, hot, name};

const ALICES: [&str; 4] =
    ["arena/funds/1/alice", "arena/developer/1", "arena/ecosystem/1", "arena/unallocated/1/alice"];

#[test]
fn a_deposit_is_seen_becomes_final_and_is_credited_with_the_fee_on_top() {
    let mut world = World::new();
    let payment = world.pay(ALICE, 1_200);
    world.mine(1);
    let ScanOutcome::Moved { to, unwound_to: None, deposits, .. } = world.scan().unwrap() else {
        panic!("a new block")
    };
    let [seen] = &deposits[..] else { panic!("{deposits:?}") };
    let included =
        ChainProgress::Included { from: address(ALICE), purpose: Purpose::Player, doubt: None, block: 1, final_at: 3 };
    assert_eq!((seen.epoch, seen.value.to_string().as_str(), seen.progress), (1, "1200", included));
    let id = &seen.id;
    assert_eq!((to.number, id.as_str()), (1, format!("eip155:1337:{payment:#x}:native:0").as_str()));
    assert_eq!(id.transaction(), format!("{payment:#x}"));
    assert_eq!(world.status(payment), "confirming 1/3");
    assert!(world.book().is_idle());
    world.mine(1);
    world.scan_all();
    assert_eq!(world.status(payment), "confirming 2/3");
    assert!(world.book().is_idle());
    world.mine(1);
    let ScanOutcome::Moved { deposits, .. } = world.scan().unwrap() else { panic!("a new block") };
    let [last] = &deposits[..] else { panic!("{deposits:?}") };
    assert_eq!((&last.id, last.value, last.progress), (id, seen.value, ChainProgress::Final));
    let booked = world.book();
    let [credited] = &booked.credited[..] else { panic!("{booked:?}") };
    assert_eq!((&credited.id, credited.epoch, credited.amount, credited.reason), (id, 1, Amount::new(1_200), None));
    assert_eq!(world.status(payment), "credited");
    assert_eq!(world.balances(ALICES), [1_000, 25, 100, 75]);
    assert_eq!(world.scan().unwrap(), ScanOutcome::UpToDate);
    assert!(world.book().is_idle());
    let events = world.reader().events_after(bankroll_ledger::Seq(0), 10).unwrap();
    assert_eq!(events.iter().map(|event| event.kind.as_str()).collect::<Vec<_>>(), ["deposit.credited"]);
    world.audit();
}

#[test]
fn what_is_no_buy_in_is_kept_where_it_can_be_found() {
    let mut world = World::new();
    let short = world.pay(ALICE, 1_124);
    let stray = world.pay(STRANGER, 50);
    world.pay(TREASURY, 7_000);
    world.settle(3);
    assert_eq!(world.balances(ALICES), [0, 0, 0, 1_124]);
    assert_eq!((world.status(short).as_str(), world.status(stray).as_str()), ("credited", "on_hold"));
    assert_eq!(world.balances(["@house/suspense/1", "@house/house/1"]), [50, 7_000]);
    world.servers.values_mut().for_each(|rules| rules.accepts = false);
    world.pay(BOB, 5_000);
    world.settle(3);
    assert_eq!(world.balances(["arena/funds/1/bob", "arena/unallocated/1/bob"]), [0, 5_000]);
    world.servers.clear();
    world.pay(BOB, 6);
    world.settle(3);
    assert_eq!(world.balances(["@house/suspense/1"]), [56]);
    let events = world.reader().events_after(bankroll_ledger::Seq(0), 10).unwrap();
    let (mut suspended, mut credited) = (0, 0);
    for event in &events {
        match event.kind.as_str() {
            "deposit.suspended" => suspended += 1,
            "deposit.credited" => credited += 1,
            other => panic!("{other}"),
        }
    }
    assert_eq!((suspended, credited), (2, 3), "50 and 6 wei are in suspense, and announced so");
    let reasons =
        world.pairs("SELECT amount_raw AS a, coalesce(invalid_reason, '-') AS b FROM deposits ORDER BY amount_raw");
    let expected = [
        ("1124", "wrong_amount"),
        ("50", "unknown_player"),
        ("5000", "server_paused"),
        ("6", "unknown_server"),
        ("7000", "-"),
    ];
    assert_eq!(reasons, expected.map(|(amount, reason)| (amount.to_owned(), reason.to_owned())));
    world.audit();
}

/// A player signs in and pays at once, during a step: the list of players is read after the blocks.
#[test]
fn a_player_who_signed_in_before_paying_is_known_in_any_block() {
    let mut world = World::new();
    world.pay(STRANGER, 1_125);
    world.mine(3);
    let ahead = world.read_ahead();
    world.knows(STRANGER, "carol");
    world.apply_blocks(ahead).unwrap();
    assert_eq!(world.book().credited.len(), 1);
    assert_eq!(world.balances(["arena/funds/1/carol", "@house/suspense/1"]), [1_000, 0]);
    world.audit();
}

/// A wallet is a player's once they have signed in with it, also while the indexer runs.
#[test]
fn a_wallet_that_its_player_signs_in_with_pays_for_them_from_then_on() {
    let mut world = World::new();
    let wallet = address(STRANGER).lower_hex();
    let funds = format!("arena/funds/1/{wallet}");
    let mut indexer = world.indexer();
    world.mine(1);
    while world.index(&mut indexer) != ScanOutcome::UpToDate {}
    world.signed_in.insert(address(STRANGER), name(&wallet));
    world.pay(STRANGER, 1_125);
    world.mine(3);
    while world.index(&mut indexer) != ScanOutcome::UpToDate {}
    assert_eq!(world.book().credited.len(), 1);
    assert_eq!(world.balances([funds.as_str(), "@house/suspense/1"]), [1_000, 0]);
    // Nothing new: the step says so without reading the rows.
    assert_eq!(world.index(&mut indexer), ScanOutcome::UpToDate);
    world.audit();
}

/// Attack classes 44 and 45: an account opened for the wallet of an exchange made every customer's payment that
/// player's.
#[test]
fn an_account_that_a_game_server_opens_for_an_exchanges_wallet_gets_none_of_its_payments() {
    let mut world = World::new();
    let exchange = format!("arena/funds/1/{}", address(STRANGER).lower_hex());
    let opened = world.ledger().open_accounts(&Principal::GameServer(name("arena")), vec![exchange.parse().unwrap()]);
    assert!(opened.unwrap()[0].is_ok());
    world.pay(STRANGER, 1_125);
    world.mine(3);
    let mut indexer = world.indexer();
    while world.index(&mut indexer) != ScanOutcome::UpToDate {}
    let booked = world.book();
    assert_eq!((booked.credited.len(), booked.suspended.len()), (0, 1));
    assert_eq!(booked.suspended[0].reason, Some("unknown_player"));
    assert_eq!(world.balances([exchange.as_str(), "@house/suspense/1"]), [0, 1_125]);
    world.audit();
}

#[test]
fn a_coin_that_the_server_does_not_play_for_is_the_players_and_no_buy_in() {
    let mut world = World::new();
    world.servers.get_mut(&name("arena")).unwrap().asset = AssetId(2);
    world.pay(ALICE, 1_125);
    world.settle(3);
    assert_eq!(world.balances(ALICES), [0, 0, 0, 1_125]);
    let recorded = world.pairs("SELECT invalid_reason AS a, is_valid_for_server_config AS b FROM deposits");
    assert_eq!(recorded, [("wrong_asset".to_owned(), "0".to_owned())]);
    world.audit();
}

/// Two steps have read the same blocks: what the second writes is written on what it has read, or not at all.
#[test]
fn blocks_read_before_another_scanner_moved_on_are_not_applied() {
    let mut world = World::new();
    world.pay(ALICE, 1_125);
    world.mine(1);
    let ahead = world.read_ahead();
    world.scan_all();
    let taken = world.apply_blocks(ahead);
    assert!(matches!(taken, Err(ScanError::Rows(_))), "{taken:?}");
    world.settle(2);
    assert_eq!(world.balances(ALICES), [1_000, 25, 100, 0]);
    world.audit();
}

#[test]
fn nothing_is_credited_that_did_not_arrive() {
    let mut world = World::new();
    // A value of zero, and a payment to another address.
    world.pay(ALICE, 0);
    world.pay_to(ALICE, address(BOB), U256::from(500));
    world.settle(4);
    assert_eq!(world.pairs("SELECT id AS a, amount_raw AS b FROM deposits"), []);
    assert_eq!(world.balances(["@house/custody/1/hot"]), [0]);
    assert_eq!(world.chain().balance(hot().0.into()), U256::ZERO);
}

#[test]
fn several_deposits_of_several_blocks_are_taken_in_steps_of_any_size() {
    for blocks_per_step in [1, 2, 100] {
        let mut world = World::new();
        world.config.blocks_per_step = blocks_per_step;
        for _ in 0..3 {
            world.pay(ALICE, 1_125);
            world.pay(BOB, 1_125);
            world.mine(1);
        }
        world.settle(2);
        assert_eq!(
            world.balances(["arena/funds/1/alice", "arena/funds/1/bob", "arena/developer/1"]),
            [3_000, 3_000, 150]
        );
        world.audit();
    }
}

#[test]
fn an_amount_that_the_ledger_cannot_count_is_held_whole() {
    let mut world = World::with_tokens();
    let enormous = U256::from(u128::MAX) + U256::from(5);
    world.mint(DOLLAR, hot(), enormous);
    world.settle(3);
    assert!(world.book().is_idle());
    let held = world.pairs("SELECT amount_raw AS a, ledger_state AS b FROM deposits WHERE doubt IS NOT NULL");
    assert_eq!(held, [("340282366920938463463374607431768211460".to_owned(), "none".to_owned())]);
    assert_eq!(world.pairs("SELECT doubt AS a, amount AS b FROM deposits")[0].0, "amount_too_large");
    world.audit();
}

#[test]
fn what_the_books_refuse_for_good_is_recorded_and_blocks_no_other_deposit() {
    let mut world = World::with_tokens();
    world.mint(DOLLAR, hot(), U256::from(1_000));
    world.settle(3);
    // Together with what the wallet has, the books cannot count it.
    world.mint(DOLLAR, hot(), U256::from(u128::MAX));
    world.pay(ALICE, 1_125);
    world.mine(3);
    world.scan_all();
    let booked = world.book();
    let why: Vec<Rejection> = booked.refused.iter().map(|(_, why)| *why).collect();
    assert_eq!((booked.credited.len(), &why[..]), (1, &[Rejection::BalanceOverflow][..]));
    assert!(world.book().is_idle(), "it is not tried again and again");
    let refused =
        world.pairs("SELECT ledger_error AS a, ledger_error_epoch AS b FROM deposits WHERE ledger_state = 'none'");
    assert_eq!(refused, [("balance_overflow".to_owned(), "1".to_owned())]);
    assert_eq!(world.balances(ALICES), [1_000, 25, 100, 0]);
    world.audit();
}

#[test]
fn the_operators_own_wallets_paying_each_other_deposit_nothing() {
    let mut world = World::new();
    world.config.watch.own.insert(address(STRANGER));
    let refill = world.pay(STRANGER, 9_000);
    world.settle(3);
    assert_eq!(world.status(refill), "confirming 3/3");
    assert_eq!(world.balances(["@house/custody/1/hot", "@house/suspense/1"]), [0, 0]);
}
