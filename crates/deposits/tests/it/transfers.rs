//! Tokens, and coins that contracts move: only what arrived is credited, whatever logs and traces say.

use bankroll_chains_evm::{B256, InternalTransfer, Quantity};
use bankroll_chains_simulated::{
    Fate, Reorg, U256,
    contracts::{self, DECLINING, DOLLAR, SPLITTER, TAXED},
};
use bankroll_deposits::{
    AbsentTransfer, DepositId, DepositKind, Doubt, IncomingTransfer, ScanNotice, ScanOutcome, Sighting,
    balance_check::BlockCheck,
};

use crate::world::{ALICE, BOB, STRANGER, TREASURY, World, address, hot, name};

fn kinds(world: &World) -> Vec<(String, String)> {
    world
        .pairs("SELECT kind || ' ' || position AS a, amount_raw AS b FROM deposits ORDER BY kind, position, amount_raw")
}

fn pairs<const N: usize>(expected: [(&str, &str); N]) -> Vec<(String, String)> {
    expected.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec()
}

#[test]
fn a_listed_token_is_credited_in_its_own_asset() {
    let mut world = World::with_tokens();
    world.mint(DOLLAR, address(ALICE), U256::from(5_000));
    world.mine(1);
    world.send_tokens(ALICE, DOLLAR, hot(), 1_125);
    world.settle(3);
    assert_eq!(kinds(&world), pairs([("token 0", "1125")]));
    // The server plays for the coin: tokens are the player's, and no buy-in.
    assert_eq!(world.balances(["arena/unallocated/2/alice", "@house/custody/2/hot"]), [1_125, 1_125]);
    world.servers.get_mut(&name("arena")).unwrap().asset = bankroll_ledger::AssetId(2);
    world.send_tokens(ALICE, DOLLAR, hot(), 1_130);
    world.settle(3);
    let paid = ["arena/funds/2/alice", "arena/developer/2", "arena/ecosystem/2", "arena/unallocated/2/alice"];
    assert_eq!(world.balances(paid), [1_000, 25, 100, 1_130]);
    world.audit();
}

#[test]
fn a_token_that_is_not_listed_credits_nothing() {
    let mut world = World::with_tokens();
    world.config.watch.tokens.clear();
    world.mint(DOLLAR, hot(), U256::from(5_000));
    world.settle(3);
    assert_eq!(kinds(&world), []);
}

/// Classes 16 and 19: a transfer that returns false and logs nothing; one that delivers less than it logs.
#[test]
fn a_token_that_delivers_less_than_it_logs_is_kept_in_suspense_with_what_arrived() {
    let mut world = World::with_tokens();
    world.mint(TAXED, address(ALICE), U256::from(5_000));
    world.mint(DECLINING, address(ALICE), U256::from(5_000));
    world.mine(1);
    world.send_tokens(ALICE, TAXED, hot(), 1_000);
    world.send_tokens(ALICE, DECLINING, hot(), 1_000);
    world.settle(3);
    assert_eq!(kinds(&world), pairs([("token 0", "900")]));
    assert_eq!(world.balances(["@house/suspense/3", "arena/unallocated/3/alice"]), [900, 0]);
    let why = world.pairs("SELECT doubt AS a, invalid_reason AS b FROM deposits");
    assert_eq!(why, pairs([("balance_mismatch", "balance_mismatch")]));
    assert_eq!(world.chain().token_balance(TAXED, hot().0.into()), U256::from(900));
    world.audit();
}

/// Two transfers of one block cannot be distinguished by the balance: together they are one change of it.
#[test]
fn several_transfers_that_do_not_add_up_to_the_balance_are_one_change_of_it_in_suspense() {
    let mut world = World::with_tokens();
    world.mint(TAXED, address(ALICE), U256::from(5_000));
    world.mint(TAXED, address(BOB), U256::from(5_000));
    world.mine(1);
    world.send_tokens(ALICE, TAXED, hot(), 1_000);
    world.send_tokens(BOB, TAXED, hot(), 500);
    world.pay(ALICE, 1_125);
    world.settle(3);
    assert_eq!(kinds(&world), pairs([("balance 0", "1350"), ("native 0", "1125")]));
    assert_eq!(world.balances(["@house/suspense/3", "arena/funds/1/alice"]), [1_350, 1_000]);
    world.audit();
    // The change belongs to its block: another block is another change.
    world.chain().reorg(Reorg { depth: 3, length: 4, fate: Fate::Kept });
    world.settle(3);
    assert_eq!(world.balances(["@house/suspense/3", "arena/funds/1/alice"]), [1_350, 1_000]);
    let states = world.pairs("SELECT kind AS a, ledger_state AS b FROM deposits ORDER BY kind, ledger_state");
    assert_eq!(states, pairs([("balance", "reversed"), ("balance", "suspense"), ("native", "credited")]));
    world.audit();
}

/// Class 9: two equal transfers inside one transaction are two deposits.
#[test]
fn coins_that_a_contract_sends_are_credited_each_once() {
    let mut world = World::with_tokens();
    world.knows(STRANGER, "carol");
    world.config.watch.proven.insert(bankroll_chains_evm::Address(SPLITTER.into_array()), name("splitter"));
    let ours = hot().0.into();
    world.call(ALICE, SPLITTER, 4_000, contracts::split_call(&[ours, address(BOB).0.into(), ours, ours]));
    world.settle(3);
    assert_eq!(kinds(&world), pairs([("internal 0", "1000"), ("internal 2", "1000"), ("internal 3", "1000")]));
    assert_eq!(world.balances(["arena/unallocated/1/splitter", "arena/funds/1/alice"]), [3_000, 0]);
    assert_eq!(world.chain().balance(ours), U256::from(3_000));
    world.audit();
}

/// Class 44: the sender inside the transaction is a contract, not the person who signed it.
#[test]
fn coins_of_an_unknown_contract_are_kept_in_suspense() {
    let mut world = World::with_tokens();
    world.call(ALICE, SPLITTER, 1_125, contracts::split_call(&[hot().0.into()]));
    world.settle(3);
    assert_eq!(world.balances(["@house/suspense/1", "arena/funds/1/alice"]), [1_125, 0]);
    world.audit();
}

#[test]
fn what_was_logged_and_did_not_arrive_is_a_notice_and_no_deposit() {
    let mut world = World::with_tokens();
    // The contract keeps a tenth: of nine units it delivers all, of nothing nothing.
    world.mint(TAXED, hot(), U256::from(100));
    world.settle(3);
    world.call(TREASURY, TAXED, 0, contracts::transfer_call(hot().0.into(), U256::ZERO));
    world.mine(1);
    let ScanOutcome::Moved { notices, deposits, .. } = world.scan().unwrap() else { panic!("a block") };
    let absent = |notice: &ScanNotice| matches!(notice, ScanNotice::Absent(AbsentTransfer { .. }));
    assert_eq!((notices.iter().filter(|notice| absent(notice)).count(), deposits.len()), (0, 0), "zero is nothing");
}

/// A node that invents a transfer to us and one from us, of the same amount, lies about no balance.
#[test]
fn a_traced_transfer_that_another_one_takes_back_is_held() {
    let world = World::with_tokens();
    world.mine(1);
    let block = world.block(1);
    let transfer = |from, to, ordinal| InternalTransfer {
        transaction: B256::repeat_byte(7),
        ordinal,
        from,
        to,
        value: Quantity::new(U256::from(1_125)),
    };
    let internal = [transfer(address(ALICE), hot(), 0), transfer(hot(), address(ALICE), 1)];
    let (rules, watch) = (&world.config.rules, &world.config.watch);
    let seen = IncomingTransfer {
        transaction: B256::repeat_byte(7),
        index: 0,
        kind: DepositKind::Internal,
        position: 0,
        asset: rules.coin,
        from: address(ALICE),
        to: hot(),
        value: Quantity::new(U256::from(1_125)),
    };
    let sighting = Sighting {
        id: DepositId::new(&rules.chain, seen.transaction, seen.kind, 0),
        transfer: seen,
        attribution: watch.attribute(1, seen.from, seen.to, seen.asset).unwrap(),
        header: block.header,
        required: 3,
        needs_agreement: false,
        doubt: None,
    };
    let check = BlockCheck { rules, watch, block: &block, internal: &internal, sightings: vec![sighting] };
    let answers = check.questions().into_iter().map(|question| (question, Some((U256::ZERO, U256::ZERO)))).collect();
    let doubts: Vec<_> = check.decide(&answers).unwrap().sightings.iter().map(|sighting| sighting.doubt).collect();
    assert_eq!(doubts, [Some(Doubt::BalanceUnknown)]);
}

/// The same amounts and restarts on random chains with tokens: what the books have is what the wallet has.
#[test]
fn at_rest_tokens_in_the_books_are_what_the_wallet_holds() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..3 {
        let mut world = World::with_tokens();
        for token in [DOLLAR, TAXED] {
            world.mint(token, address(ALICE), U256::from(1_000_000));
        }
        world.mine(1);
        for _ in 0..25 {
            match random.u8(0..8) {
                0..3 => {
                    let (token, amount) = (*random.choice(&[DOLLAR, TAXED]).unwrap(), random.u64(1..900));
                    let _ = world.send_tokens(ALICE, token, hot(), amount);
                }
                3 => {
                    let (ours, wei) = (hot().0.into(), random.u128(1..900));
                    let _ = world.call(BOB, SPLITTER, wei, contracts::split_call(&[ours, ours]));
                }
                4..6 => world.mine(1),
                6 => {
                    let depth = random.u64(1..4);
                    world.chain().reorg(Reorg { depth, length: depth + 1, fate: Fate::Kept });
                }
                _ => {
                    let _ = world.scan();
                }
            }
            world.book();
        }
        world.settle(5);
        world.audit();
        let held = |token| world.chain().token_balance(token, hot().0.into());
        assert_eq!(world.balances(["@house/custody/2/hot"]).map(U256::from), [held(DOLLAR)]);
        assert_eq!(world.balances(["@house/custody/3/hot"]).map(U256::from), [held(TAXED)]);
        assert_eq!(U256::from(world.balances(["@house/custody/1/hot"])[0]), world.chain().balance(hot().0.into()));
    }
}
