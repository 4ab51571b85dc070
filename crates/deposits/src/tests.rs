//! Decisions of the flow as stories, with nothing but values.

#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a story that cannot go on has failed")]

mod buy_in;

use std::collections::{BTreeMap, BTreeSet};

use bankroll_chains_evm::{Address, B256, BlockHeader, Quantity, U256};
use bankroll_ledger::{AccountId, Action, Amount, AssetId, BlockRef, Guard, GuardFailure, Leg, Name, Seq};

use crate::{
    Attribution, BuyIn, ChainState, DepositId, DepositKind, DepositStatus, Doubt, EventTail, Inclusion,
    IncomingTransfer, LedgerState, Payer, PlayerStanding, Purpose, ReviewState, ServerRules, Servers, Sighting,
    WatchList, WatchedAddress,
    credit::{CreditDue, ReversalDue, accounts, allocate, credit, reversal},
    follower::{BlockPoint, ChainChange, ChainFollower, FinalityBounds, PlacedChange, TrackedDeposit},
};

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn watch() -> WatchList {
    let custody: bankroll_ledger::AccountName = "@house/custody/1/hot".parse().unwrap();
    let by_asset = BTreeMap::from([(AssetId(8), (name("lagoon"), Payer::Sender))]);
    let watched = |payer, since| WatchedAddress {
        server: name("arena"),
        custody: custody.clone(),
        payer,
        by_asset: by_asset.clone(),
        since,
    };
    let proven = BTreeMap::from([(Address([0xb0; 20]), name("bob"))]);
    WatchList {
        addresses: BTreeMap::from([
            (Address([0xa1; 20]), watched(Payer::Player(name("alice")), 10)),
            (Address([0xcc; 20]), watched(Payer::Sender, 0)),
        ]),
        tokens: BTreeMap::new(),
        treasury: BTreeSet::from([Address([0x77; 20])]),
        proven,
        own: BTreeSet::from([Address([0x99; 20])]),
        paying: BTreeSet::new(),
    }
}

#[test]
fn whose_a_payment_is() {
    let watch = watch();
    let whose = |block, from: u8, to: u8| {
        let whose = watch.attribute(block, Address([from; 20]), Address([to; 20]), AssetId(1))?;
        Some((whose.purpose, whose.wallet.map(String::from)))
    };
    let player = |name: &str| Some((Purpose::Player, Some(name.to_owned())));
    // An address made for one player: every payment is theirs, from the block on in which it was handed out.
    assert_eq!(whose(10, 0x55, 0xa1), player("alice"));
    assert_eq!(whose(10, 0xb0, 0xa1), player("alice"));
    assert_eq!(whose(9, 0x55, 0xa1), None);
    // An address of the server: only from wallets that a player has proved to own.
    assert_eq!(whose(0, 0xb0, 0xcc), player("bob"));
    assert_eq!(whose(0, 0x55, 0xcc), Some((Purpose::Unknown, None)));
    assert_eq!(whose(0, 0x77, 0xcc), Some((Purpose::Treasury, None)));
    // Between our own addresses nothing is deposited.
    assert_eq!(whose(10, 0xa1, 0xcc), Some((Purpose::Internal, None)));
    assert_eq!(whose(10, 0x99, 0xa1), Some((Purpose::Internal, None)));
    assert_eq!(whose(0, 0xcc, 0xcc), Some((Purpose::Internal, None)));
    assert_eq!(whose(99, 0xb0, 0x55), None);
    // Another asset at the same address may belong to another server; its account is the asset's own.
    let token = watch.attribute(0, Address([0xb0; 20]), Address([0xcc; 20]), AssetId(8)).unwrap();
    assert_eq!((token.server.as_str(), token.custody.to_string().as_str()), ("lagoon", "@house/custody/8/hot"));
    let other = watch.attribute(0, Address([0xb0; 20]), Address([0xcc; 20]), AssetId(9)).unwrap();
    assert_eq!((other.server.as_str(), other.custody.to_string().as_str()), ("arena", "@house/custody/9/hot"));
}

fn header(number: u64, branch: u8, parent: B256) -> BlockHeader {
    let hash = B256::from(U256::from(number * 256 + u64::from(branch)));
    BlockHeader { number, hash, parent, time: number * 12, base_fee: None }
}

fn sighting(header: BlockHeader, transaction: u8, required: u64) -> Sighting {
    let (from, to) = (Address([0xb0; 20]), Address([0xcc; 20]));
    let hash = B256::repeat_byte(transaction);
    let (kind, position, value) = (DepositKind::Native, 0, Quantity::new(U256::from(5)));
    let id = DepositId::new(&name("eip155:7"), hash, kind, position);
    let asset = AssetId(1);
    let attribution = watch().attribute(header.number, from, to, asset).unwrap();
    let transfer = IncomingTransfer { transaction: hash, index: 0, kind, position, asset, from, to, value };
    Sighting { id, transfer, attribution, header, required, needs_agreement: false, doubt: None }
}

/// What a follower did to deposits, by the first byte of their transactions.
fn changes_of(follower: &ChainFollower) -> Vec<String> {
    let short = |id: &DepositId| id.as_str().split(":0x").nth(1).unwrap()[..2].to_owned();
    let tell = |placed: &PlacedChange| match &placed.change {
        ChainChange::Included(one) => format!("{} included {}", short(&one.deposit), one.epoch),
        ChainChange::Final(one) => format!("{} final {}", short(&one.deposit), one.epoch),
        ChainChange::Orphaned { inclusion: one, state } => {
            format!("{} {} {}", short(&one.deposit), state.as_str(), one.epoch)
        }
        ChainChange::HeadersGone { above } => format!("back to {above}"),
        ChainChange::HeaderNew(header) => format!("block {}", header.number),
    };
    follower.changes().iter().map(tell).collect()
}

#[test]
fn a_deposit_becomes_final_is_orphaned_and_is_included_again_in_its_next_epoch() {
    let start = BlockPoint { number: 0, hash: header(0, 0, B256::ZERO).hash };
    let mut follower = ChainFollower::new(start, BTreeMap::new(), FinalityBounds::default());
    let one = header(1, 0, start.hash);
    follower.advance(one, vec![sighting(one, 0xd1, 3)]).unwrap();
    let two = header(2, 0, one.hash);
    follower.advance(two, vec![sighting(two, 0xd2, 3)]).unwrap();
    let three = header(3, 0, two.hash);
    follower.advance(three, vec![]).unwrap();
    follower.unwind(start);
    let other_one = header(1, 1, start.hash);
    follower.advance(other_one, vec![sighting(other_one, 0xd1, 3)]).unwrap();
    assert_eq!(
        changes_of(&follower),
        [
            "block 1",
            "d1 included 1",
            "block 2",
            "d2 included 1",
            "block 3",
            "d1 final 1",
            "back to 0",
            "d1 orphaned_after_final 1",
            "d2 orphaned 1",
            "block 1",
            "d1 included 2",
        ]
    );
    assert_eq!(follower.head(), BlockPoint::from(&other_one));
}

#[test]
fn only_the_next_block_of_this_chain_is_advanced_over() {
    let start = BlockPoint { number: 7, hash: header(7, 0, B256::ZERO).hash };
    let mut follower = ChainFollower::new(start, BTreeMap::new(), FinalityBounds::default());
    let elsewhere = header(8, 0, B256::repeat_byte(9));
    assert_eq!(follower.advance(elsewhere, vec![]).unwrap_err().parent, B256::repeat_byte(9));
    let later = header(9, 0, start.hash);
    assert_eq!(follower.advance(later, vec![]).unwrap_err().number, 9);
    follower.unwind(BlockPoint { number: 7, hash: B256::ZERO });
    assert!(follower.changes().is_empty());
    assert_eq!(follower.head(), start);
}

#[test]
fn unwinding_and_advancing_again_comes_to_the_same_one_epoch_on() {
    let seed = std::env::var("BANKROLL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(4);
    println!("BANKROLL_TEST_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..200 {
        let mut blocks = vec![header(0, 0, B256::ZERO)];
        let mut seen = vec![vec![]];
        for number in 1..=random.u64(1..12) {
            let header = header(number, 0, blocks.last().unwrap().hash);
            let count = random.u8(0..3);
            let transactions = (0..count).map(|place| u8::try_from(number).unwrap() * 4 + place);
            seen.push(transactions.map(|transaction| sighting(header, transaction, random.u64(1..5))).collect());
            blocks.push(header);
        }
        let over = |follower: &mut ChainFollower, from: usize| {
            for (block, sightings) in blocks.iter().zip(&seen).skip(from) {
                follower.advance(*block, sightings.clone()).unwrap();
            }
        };
        let mut follower = ChainFollower::new(BlockPoint::from(&blocks[0]), BTreeMap::new(), FinalityBounds::default());
        over(&mut follower, 1);
        let before = replayed(follower.changes());
        let to = random.usize(..blocks.len());
        follower.unwind(BlockPoint::from(&blocks[to]));
        let unwound = replayed(follower.changes());
        for (id, (block, _, state)) in &before {
            let gone = *block > blocks[to].number;
            let expected = match state {
                ChainState::Included if gone => ChainState::Orphaned,
                ChainState::Final if gone => ChainState::OrphanedAfterFinal,
                state => *state,
            };
            assert_eq!(unwound[id], (*block, 1, expected));
        }
        over(&mut follower, to + 1);
        for (id, (block, epoch, state)) in replayed(follower.changes()) {
            let again = u64::from(block > blocks[to].number);
            assert_eq!((block, epoch, state), (before[&id].0, 1 + again, before[&id].2));
        }
    }
}

/// Block, epoch and state of every deposit, from the changes alone.
fn replayed(changes: &[PlacedChange]) -> BTreeMap<DepositId, (u64, u64, ChainState)> {
    let mut deposits = BTreeMap::new();
    for placed in changes {
        match &placed.change {
            ChainChange::Included(one) => {
                deposits.insert(one.deposit.clone(), (one.block.number, one.epoch, ChainState::Included));
            }
            ChainChange::Final(one) => deposits.get_mut(&one.deposit).unwrap().2 = ChainState::Final,
            ChainChange::Orphaned { inclusion: one, state } => deposits.get_mut(&one.deposit).unwrap().2 = *state,
            ChainChange::HeadersGone { .. } | ChainChange::HeaderNew(_) => {}
        }
    }
    deposits
}

#[test]
fn a_deposit_that_rows_know_goes_on_from_there() {
    let start = BlockPoint { number: 5, hash: header(5, 0, B256::ZERO).hash };
    let six = header(6, 0, start.hash);
    let again = sighting(six, 0xd1, 1);
    let waiting = sighting(header(4, 0, B256::ZERO), 0xd2, 3);
    let known = |sighting: &Sighting, state, epoch| TrackedDeposit {
        inclusion: Box::new(Inclusion::new(sighting.clone(), epoch)),
        state,
    };
    let deposits = BTreeMap::from([
        (again.id.clone(), known(&again, ChainState::OrphanedAfterFinal, 4)),
        (waiting.id.clone(), known(&waiting, ChainState::Included, 1)),
    ]);
    let mut follower = ChainFollower::new(start, deposits, FinalityBounds::default());
    follower.advance(six, vec![again]).unwrap();
    assert_eq!(changes_of(&follower), ["block 6", "d1 included 5", "d1 final 5", "d2 final 1"]);
}

/// Depth alone is not enough where the chain says itself what is final.
#[test]
fn a_deposit_is_final_when_it_is_deep_enough_and_the_chain_calls_its_block_final() {
    let start = BlockPoint { number: 0, hash: header(0, 0, B256::ZERO).hash };
    let finals = |finalized| {
        let mut follower = ChainFollower::new(start, BTreeMap::new(), FinalityBounds { finalized, agreed: None });
        let mut parent = start.hash;
        for number in 1..=4 {
            let block = header(number, 0, parent);
            let sightings =
                if number <= 2 { vec![sighting(block, 0xd0 + u8::try_from(number).unwrap(), 2)] } else { vec![] };
            follower.advance(block, sightings).unwrap();
            parent = block.hash;
        }
        let changes = changes_of(&follower);
        changes.into_iter().filter(|change| change.contains("final")).collect::<Vec<_>>()
    };
    assert_eq!(finals(None), ["d1 final 1", "d2 final 1"]);
    assert_eq!(finals(Some(1)), ["d1 final 1"]);
    assert_eq!(finals(Some(0)), [""; 0]);
    assert_eq!(finals(Some(99)), ["d1 final 1", "d2 final 1"], "depth still counts");
}

fn due(purpose: Purpose, amount: u128) -> CreditDue {
    let player = purpose == Purpose::Player;
    CreditDue {
        id: DepositId::new(&name("eip155:7"), B256::repeat_byte(0xd1), DepositKind::Native, 0),
        epoch: 2,
        attribution: Attribution {
            purpose,
            server: name("arena"),
            wallet: player.then(|| name("bob")),
            custody: "@house/custody/1/hot".parse().unwrap(),
        },
        from: "0xb0".into(),
        amount: Amount::new(amount),
        tx_hash: "0xd1".into(),
        block: BlockRef { number: 9, hash: "0xb9".into() },
        doubt: None,
        evidence: EventTail::EMPTY,
        ledger_state: LedgerState::Reversed,
        review_state: ReviewState::None,
        player: PlayerStanding::default(),
    }
}

fn servers(accepts: bool) -> Servers {
    let buy_in = BuyIn { amount: Amount::new(1_000), developer_bps: 250, world_bps: 1_000 };
    BTreeMap::from([(name("arena"), ServerRules { asset: AssetId(1), buy_in, accepts, version: 3, is_current: None })])
}

#[test]
fn where_a_deposit_goes() {
    let check =
        |due: CreditDue, servers: &Servers, shares: &[(&str, u128)], state: LedgerState, reason: Option<&str>| {
            let allocation = allocate(&due, servers);
            let got: Vec<_> =
                allocation.shares.iter().map(|(name, amount)| (name.to_string(), amount.units())).collect();
            let expected: Vec<_> = shares.iter().map(|(name, amount)| ((*name).to_owned(), *amount)).collect();
            assert_eq!(got, expected);
            assert_eq!((allocation.state, allocation.reason), (state, reason));
            assert_eq!(shares.iter().map(|(_, amount)| amount).sum::<u128>(), due.amount.units());
        };
    let (open, closed) = (servers(true), servers(false));
    let (credited, suspense) = (LedgerState::Credited, LedgerState::Suspense);
    let buy_in = [("arena/funds/1/bob", 1_000), ("arena/developer/1", 25), ("arena/ecosystem/1", 100)].as_slice();
    check(due(Purpose::Player, 1_125), &open, buy_in, credited, None);
    let more = [buy_in, &[("arena/unallocated/1/bob", 7)]].concat();
    check(due(Purpose::Player, 1_132), &open, &more, credited, None);
    check(due(Purpose::Player, 1_124), &open, &[("arena/unallocated/1/bob", 1_124)], credited, Some("wrong_amount"));
    check(due(Purpose::Player, 1_125), &closed, &[("arena/unallocated/1/bob", 1_125)], credited, Some("server_paused"));
    check(due(Purpose::Player, 9), &Servers::new(), &[("@house/suspense/1", 9)], suspense, Some("unknown_server"));
    check(due(Purpose::Unknown, 9), &open, &[("@house/suspense/1", 9)], suspense, Some("unknown_player"));
    check(due(Purpose::Treasury, 9), &open, &[("@house/house/1", 9)], credited, None);
    // What is doubtful is nobody's until an operator has looked.
    let doubtful = |doubt: Option<Doubt>| CreditDue { doubt, ..due(Purpose::Player, 1_125) };
    let mismatch = Some("balance_mismatch");
    check(doubtful(Some(Doubt::BalanceMismatch)), &open, &[("@house/suspense/1", 1_125)], suspense, mismatch);
    check(doubtful(None), &open, buy_in, credited, None);
}

#[test]
fn a_credit_is_one_request_an_epoch_guarded_by_the_block_it_is_in() {
    let due = due(Purpose::Player, 1_132);
    let allocation = allocate(&due, &servers(true));
    let names = accounts(&due, &allocation);
    let numbers: BTreeMap<_, _> = names.into_iter().zip((1..).map(AccountId)).collect();
    let request = credit(&due, &allocation, &numbers).unwrap();
    assert_eq!(request.check(), Ok(()));
    assert_eq!(request.key.text, format!("credit/{}/2", due.id));
    let Action::Legs(legs) = &request.action else { panic!("legs") };
    let custody = numbers[&due.attribution.custody];
    assert!(legs.iter().all(|leg| matches!(leg, Leg::Move { from, .. } if *from == custody)));
    let [held, booked] = &request.facts[..] else { panic!("two facts") };
    assert_eq!((held.otherwise, held.set.len()), (GuardFailure::Paused, 0));
    let Guard::Is(guard) = &booked.guard else { panic!("a guard") };
    let guarded: Vec<_> = guard.iter().map(|(column, value)| format!("{column}={value:?}")).collect();
    let expected = [
        r#"chain_state=Text("final")"#,
        "epoch=Int(2)",
        r#"block_hash=Text("0xb9")"#,
        r#"ledger_state=Text("reversed")"#,
        r#"review_state=Text("none")"#,
    ];
    assert_eq!(guarded, expected);
    assert_eq!(credit(&due, &allocation, &BTreeMap::new()), None);
    let lost = ReversalDue {
        id: due.id.clone(),
        epoch: 2,
        asset: AssetId(1),
        evidence: due.evidence,
        ledger_state: LedgerState::Credited,
        server: Some(due.attribution.server),
        wallet: due.attribution.wallet,
        from: due.from,
        amount: due.amount,
        tx_hash: due.tx_hash,
    };
    let back = reversal(&lost, Seq(77));
    assert_eq!((back.check(), back.action), (Ok(()), Action::Reverse(Seq(77))));
    assert_eq!(back.key.text, format!("reverse/{}/2", due.id));
}

/// What a consumer of the outbox reads: money in suspense is not a credit.
#[test]
fn the_event_of_a_deposit_says_where_its_money_went() {
    let check = |due: CreditDue, servers: &Servers, kind: &str, says: [&str; 2]| {
        let allocation = allocate(&due, servers);
        let numbers = accounts(&due, &allocation).into_iter().zip((1..).map(AccountId)).collect();
        let request = credit(&due, &allocation, &numbers).unwrap();
        let [event] = &request.events[..] else { panic!("one event") };
        assert_eq!(event.kind.as_str(), kind);
        for what in says {
            assert!(event.body.contains(what), "{what} is not in {}", event.body);
        }
    };
    let (open, closed) = (servers(true), servers(false));
    check(due(Purpose::Player, 1_125), &open, "deposit.credited", [r#""wallet":"bob""#, r#""reason":null"#]);
    check(due(Purpose::Player, 9), &open, "deposit.credited", [r#""wallet":"bob""#, r#""reason":"wrong_amount""#]);
    check(due(Purpose::Player, 9), &closed, "deposit.credited", [r#""wallet":"bob""#, r#""reason":"server_paused""#]);
    check(due(Purpose::Treasury, 9), &open, "deposit.credited", [r#""purpose":"treasury""#, r#""wallet":null"#]);
    let strangers = [r#""from":"0xb0""#, r#""reason":"unknown_player""#];
    check(due(Purpose::Unknown, 9), &open, "deposit.suspended", strangers);
    let unserved = [r#""state":"suspense""#, r#""reason":"unknown_server""#];
    check(due(Purpose::Player, 9), &Servers::new(), "deposit.suspended", unserved);
}

#[test]
fn the_status_that_a_player_sees() {
    use ChainState::{Final, Included, Orphaned, OrphanedAfterFinal};
    let status = |chain, review, ledger, have| DepositStatus::of(chain, review, ledger, have, 12).to_string();
    assert_eq!(status(Included, ReviewState::None, LedgerState::None, 3), "confirming 3/12");
    assert_eq!(status(Final, ReviewState::None, LedgerState::None, 40), "confirming 12/12");
    assert_eq!(status(Final, ReviewState::None, LedgerState::Credited, 40), "credited");
    assert_eq!(status(Final, ReviewState::Held, LedgerState::None, 40), "on_hold");
    assert_eq!(status(Final, ReviewState::None, LedgerState::Suspense, 40), "on_hold");
    assert_eq!(status(Orphaned, ReviewState::None, LedgerState::None, 0), "orphaned");
    assert_eq!(status(OrphanedAfterFinal, ReviewState::None, LedgerState::Credited, 0), "credited");
    assert_eq!(status(OrphanedAfterFinal, ReviewState::None, LedgerState::Reversed, 0), "reversed");
    assert_eq!(status(Included, ReviewState::None, LedgerState::Reversed, 1), "confirming 1/12");
}
