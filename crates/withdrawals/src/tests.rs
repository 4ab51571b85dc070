//! Decisions of the flow as tables, with nothing but values.

#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a story that cannot go on has failed")]

use bankroll_chains_evm::{B256, Fees};
use bankroll_ledger::{
    AccountId, Action, Amount, BlockRef, Guard, HoldId, Leg, Principal, Rejection, Request, Scope, Time, Value,
};
use bankroll_orders::{Address, Gas, IntentId, Price};

use crate::{
    asked,
    intent::{self, GasPayer, Policy, Wanted, intent_id},
    job::{Attempt, Job, Mined, Next, Outcome, Rules, Sight, Stage, next},
    price::{self, Ceiling},
    settlement::{Settled, Settling, request},
};

const CEILING: Ceiling = Ceiling { max: 1_000, priority: 50 };

const RULES: Rules = Rules {
    confirmations: 3,
    horizon: 10,
    resend_after: 10,
    stuck_after: 100,
    ceiling: CEILING,
    gas_max: 100_000,
    in_flight_max: 8,
};

fn dynamic(max: u128, priority: u128) -> Price {
    Price::Dynamic { max, priority }
}

/// An attempt that was written down at this time: with bytes, and sent then, or without.
fn attempt(number: u64, at: u64, is_signed: bool) -> Attempt {
    Attempt {
        number,
        is_cancel: false,
        gas: Gas { limit: 21_000, price: dynamic(80, 8) },
        signed: is_signed.then(|| (vec![7], B256::repeat_byte(u8::try_from(number).unwrap()))),
        is_refused: false,
        created_at: Time(at),
        last_sent_at: is_signed.then_some(Time(at)),
    }
}

fn job(stage: Stage, attempts: Vec<Attempt>) -> Job {
    Job {
        id: "job-1".into(),
        intent: IntentId("wd-1".parse().unwrap()),
        to: Address([1; 20]),
        amount: Amount::new(500),
        fee_cap: None,
        stage,
        nonce: Some(4),
        cancel_asked: false,
        attempts,
        block: None,
        retries: 0,
        scheduled_at: Time(0),
        version: 1,
    }
}

const NOWHERE: Sight = Sight::Nowhere { nonce_is_gone: false, is_lowest: true };

fn mined(attempt: u64, confirmations: u64) -> Mined {
    Mined {
        attempt,
        hash: B256::repeat_byte(u8::try_from(attempt).unwrap()),
        block: BlockRef { number: 9, hash: "0xb9".into() },
        confirmations,
        succeeded: true,
        is_as_ordered: true,
        gas_used: 21_000,
        gas_price: 40,
    }
}

#[test]
fn before_there_are_bytes() {
    let does = |job: &Job| next(job, &NOWHERE, &RULES, Time(1_000));
    assert_eq!(does(&job(Stage::Pending, vec![])), Next::Reserve);
    assert_eq!(does(&job(Stage::WaitingFunds, vec![])), Next::Reserve);
    assert_eq!(does(&job(Stage::Reserved, vec![])), Next::Prepare);
    // However long it takes: the same order again, never another one.
    assert_eq!(does(&job(Stage::Signing, vec![attempt(1, 0, false)])), Next::Ask(1));
    // To stop it, the signer must promise; what we think we know is not enough.
    for stage in [Stage::Pending, Stage::WaitingFunds, Stage::Reserved, Stage::Signing] {
        let attempts = if stage == Stage::Signing { vec![attempt(1, 0, false)] } else { vec![] };
        assert_eq!(does(&Job { cancel_asked: true, ..job(stage, attempts) }), Next::Renounce);
    }
}

#[test]
fn bytes_are_sent_again_and_again_and_replaced_when_stuck() {
    let broadcast = |attempts| job(Stage::Broadcast, attempts);
    let does = |job: &Job, sight: &Sight, now| next(job, sight, &RULES, Time(now));
    let unsent = Attempt { last_sent_at: None, ..attempt(1, 0, true) };
    assert_eq!(does(&job(Stage::Signed, vec![unsent]), &NOWHERE, 0), Next::Send(1));
    let sent = broadcast(vec![attempt(1, 0, true)]);
    assert_eq!(does(&sent, &NOWHERE, 9), Next::Wait);
    assert_eq!(does(&sent, &NOWHERE, 10), Next::Send(1));
    let stuck = broadcast(vec![Attempt { last_sent_at: Some(Time(95)), ..attempt(1, 0, true) }]);
    assert_eq!(does(&stuck, &NOWHERE, 100), Next::Replace);
    // Whoever waits for others is not helped by paying more.
    assert_eq!(does(&stuck, &Sight::Nowhere { nonce_is_gone: false, is_lowest: false }, 100), Next::Wait);
    // The replacement is asked for; the newest bytes are the ones that are sent.
    assert_eq!(does(&broadcast(vec![attempt(1, 0, true), attempt(2, 100, false)]), &NOWHERE, 101), Next::Ask(2));
    let refused = Attempt { is_refused: true, ..attempt(2, 100, false) };
    assert_eq!(does(&broadcast(vec![attempt(1, 100, true), refused]), &NOWHERE, 110), Next::Send(1));
    assert_eq!(does(&broadcast(vec![attempt(1, 0, true), attempt(2, 100, true)]), &NOWHERE, 110), Next::Send(2));
}

#[test]
fn what_the_chain_shows_decides() {
    let does = |job: &Job, sight: Sight| next(job, &sight, &RULES, Time(5));
    let sent = job(Stage::Broadcast, vec![attempt(1, 0, true), attempt(2, 0, true)]);
    assert_eq!(does(&sent, Sight::Mined(mined(1, 1))), Next::Note(mined(1, 1)));
    let noted = Job { block: Some(mined(1, 1).block), ..job(Stage::Mined, sent.attempts.clone()) };
    assert_eq!(does(&noted, Sight::Mined(mined(1, 2))), Next::Wait);
    assert_eq!(does(&noted, NOWHERE), Next::Unmine);
    let elsewhere = Mined { block: BlockRef { number: 9, hash: "0xc9".into() }, ..mined(2, 1) };
    assert_eq!(does(&noted, Sight::Mined(elsewhere.clone())), Next::Note(elsewhere));
    assert_eq!(does(&noted, Sight::Mined(mined(1, 3))), Next::Finish(Outcome::Paid, mined(1, 3)));
    let failed = Mined { succeeded: false, ..mined(1, 3) };
    assert_eq!(does(&noted, Sight::Mined(failed.clone())), Next::Finish(Outcome::Reverted, failed));
    let cancel = Attempt { is_cancel: true, ..attempt(2, 0, true) };
    let cancelling = job(Stage::Broadcast, vec![attempt(1, 0, true), cancel]);
    assert_eq!(does(&cancelling, Sight::Mined(mined(2, 3))), Next::Finish(Outcome::Cancelled, mined(2, 3)));
    assert_eq!(does(&cancelling, Sight::Mined(mined(1, 3))), Next::Finish(Outcome::Paid, mined(1, 3)));
    // Final, with our hash and other content: that cannot be, and is not taken for a payment.
    let odd = Mined { is_as_ordered: false, ..mined(1, 3) };
    assert_eq!(does(&sent, Sight::Mined(odd)), Next::Doubt);
    let gone = Sight::Nowhere { nonce_is_gone: true, is_lowest: false };
    assert_eq!(does(&sent, gone.clone()), Next::Doubt);
    let doubted = job(Stage::Unknown, sent.attempts);
    assert_eq!(does(&doubted, gone.clone()), Next::Wait);
    // It may be the one whose bytes the signer gave out and nobody here heard of: it is asked for before anybody doubts.
    for stage in [Stage::Broadcast, Stage::Unknown] {
        let unheard = job(stage, vec![attempt(1, 0, true), attempt(2, 0, false)]);
        assert_eq!(does(&unheard, gone.clone()), Next::Ask(2));
        let refused = Attempt { is_refused: true, ..attempt(2, 0, false) };
        let no = job(stage, vec![attempt(1, 0, true), refused]);
        assert_eq!(does(&no, gone.clone()), if stage == Stage::Unknown { Next::Wait } else { Next::Doubt });
    }
    assert_eq!(does(&doubted, Sight::Mined(mined(1, 3))), Next::Finish(Outcome::Paid, mined(1, 3)));
}

#[test]
fn stopping_what_may_be_on_its_way() {
    let does = |job: &Job, now| next(job, &NOWHERE, &RULES, Time(now));
    let asked = |attempts| Job { cancel_asked: true, ..job(Stage::Broadcast, attempts) };
    let cancel = |number, at, is_signed| Attempt { is_cancel: true, ..attempt(number, at, is_signed) };
    assert_eq!(does(&asked(vec![attempt(1, 0, true)]), 5), Next::Cancel);
    let unsent = Attempt { last_sent_at: None, ..attempt(1, 0, true) };
    assert_eq!(does(&asked(vec![unsent]), 5), Next::Cancel);
    assert_eq!(does(&asked(vec![attempt(1, 0, true), cancel(2, 5, false)]), 6), Next::Ask(2));
    assert_eq!(does(&asked(vec![attempt(1, 0, true), cancel(2, 5, true)]), 6), Next::Wait);
    let stuck = Attempt { last_sent_at: Some(Time(101)), ..cancel(2, 5, true) };
    assert_eq!(does(&asked(vec![attempt(1, 0, true), stuck]), 105), Next::Cancel);
    let refused = Attempt { is_refused: true, ..cancel(2, 5, false) };
    let sent = Attempt { last_sent_at: Some(Time(101)), ..attempt(1, 0, true) };
    assert_eq!(does(&asked(vec![attempt(1, 5, true), refused.clone()]), 6), Next::Wait);
    assert_eq!(does(&asked(vec![sent, refused]), 105), Next::Cancel);
}

#[test]
fn after_the_end_only_what_was_settled_is_sent_again() {
    let does = |job: &Job, sight: &Sight| next(job, sight, &RULES, Time(50));
    let cancel = Attempt { is_cancel: true, ..attempt(2, 0, true) };
    let both = vec![attempt(1, 0, true), cancel];
    let (paid, dead) = (job(Stage::Final, both.clone()), job(Stage::Dead, both));
    assert_eq!(does(&paid, &NOWHERE), Next::Send(1));
    assert_eq!(does(&dead, &NOWHERE), Next::Send(2));
    assert_eq!(does(&paid, &Sight::Mined(mined(1, 5))), Next::Wait);
    assert_eq!(does(&paid, &Sight::Mined(mined(2, 5))), Next::Contradict);
    assert_eq!(does(&dead, &Sight::Mined(mined(1, 5))), Next::Contradict);
    assert_eq!(does(&job(Stage::Dead, vec![attempt(1, 0, false)]), &NOWHERE), Next::Wait);
}

#[test]
fn prices_have_room_and_a_ceiling() {
    let market = |base_fee, tip| price::market(Fees::Market { base_fee, tip }, CEILING);
    assert_eq!(market(100, 7), Some(dynamic(207, 7)));
    assert_eq!(market(600, 7), Some(dynamic(1_000, 7)));
    // A tip that somebody else is ready to pay is not ours to pay.
    assert_eq!(market(100, 400), Some(dynamic(250, 50)));
    assert_eq!(market(993, 7), Some(dynamic(1_000, 7)));
    assert_eq!(market(994, 7), None);
    assert_eq!(market(u128::MAX, u128::MAX), None);
    let legacy = |gas_price| price::market(Fees::Legacy { gas_price }, CEILING);
    assert_eq!((legacy(1_000), legacy(1_001)), (Some(Price::Legacy { price: 1_000 }), None));
    let raise = |before, market| price::replacement(before, market, CEILING);
    assert_eq!(raise(dynamic(80, 8), None), Some(dynamic(90, 9)));
    assert_eq!(raise(dynamic(81, 1), None), Some(dynamic(92, 2)));
    assert_eq!(raise(dynamic(80, 8), Some(dynamic(500, 3))), Some(dynamic(500, 9)));
    assert_eq!(raise(dynamic(889, 8), None), None);
    assert_eq!(raise(dynamic(888, 8), None), Some(dynamic(999, 9)));
    assert_eq!(raise(dynamic(9, 9), None), Some(dynamic(11, 11)));
    assert_eq!(raise(dynamic(80, 44), None), Some(dynamic(90, 50)));
    assert_eq!(raise(dynamic(80, 45), None), None);
    assert_eq!(raise(dynamic(0, 0), None), Some(dynamic(1, 1)));
    assert_eq!(raise(Price::Legacy { price: 80 }, Some(dynamic(500, 3))), Some(Price::Legacy { price: 90 }));
    assert_eq!(raise(dynamic(u128::MAX, 1), None), None);
    let ceiling = |cap: Option<u128>| price::ceiling(CEILING, cap.map(Amount::new), 21_000).max;
    assert_eq!((ceiling(None), ceiling(Some(2_100_000)), ceiling(Some(u128::MAX))), (1_000, 100, 1_000));
}

#[test]
fn every_raise_is_one_that_the_signer_and_nodes_take() {
    let seed = std::env::var("BANKROLL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    println!("BANKROLL_TEST_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..10_000 {
        let bits = random.u32(1..100);
        let max = random.u128(0..1 << bits);
        let before = dynamic(max, random.u128(0..=max));
        let market = random.bool().then(|| dynamic(random.u128(0..1 << 90), random.u128(0..1 << 80)));
        let ceiling = Ceiling { max: random.u128(0..1 << 110), priority: random.u128(0..1 << 100) };
        if let Some(raised) = price::replacement(before, market, ceiling) {
            assert!(raised.outbids(before), "{before:?} {raised:?}");
            assert!(
                raised.max() <= ceiling.max && raised.priority() <= raised.max().min(ceiling.priority),
                "{raised:?}"
            );
        }
    }
}

fn settling(fee_cap: Option<u128>, is_paid: bool, is_players_gas: bool, fee: u128) -> Settling {
    Settling {
        intent: IntentId("wd-1".parse().unwrap()),
        scope: Scope::Server("arena".parse().unwrap()),
        hold: HoldId(7),
        amount: Amount::new(500),
        fee_cap: fee_cap.map(Amount::new),
        custody: AccountId(1),
        network_fees: AccountId(2),
        outcome: Settled { is_paid, is_players_gas, fee: Amount::new(fee), tx_hash: None, block: None, reason: None },
    }
}

#[test]
fn how_each_end_is_booked() {
    let legs = |settling: Settling| {
        let request = request(&settling)?;
        assert_eq!(request.check(), Ok::<(), Rejection>(()));
        let Action::Legs(legs) = request.action else { panic!("legs") };
        let told = legs.iter().map(|leg| match leg {
            Leg::Post { amount, .. } => format!("post {amount}"),
            Leg::Release { .. } => "release".into(),
            Leg::Move { amount, .. } => format!("gas {amount}"),
            Leg::Hold { .. } => "hold".into(),
        });
        Some(told.collect::<Vec<_>>().join(", "))
    };
    let told = |text: &str| Some(text.to_owned());
    // Paid: by the house's gas, by the player's, and to the last unit of what he set aside.
    assert_eq!(legs(settling(None, true, true, 20)), told("post 500, gas 20"));
    assert_eq!(legs(settling(Some(30), true, true, 20)), told("post 520, release"));
    assert_eq!(legs(settling(Some(20), true, true, 20)), told("post 520"));
    assert_eq!(legs(settling(Some(19), true, true, 20)), None);
    // Reverted: the money back, less gas if that is the player's.
    assert_eq!(legs(settling(None, false, true, 20)), told("release, gas 20"));
    assert_eq!(legs(settling(Some(30), false, true, 20)), told("post 20, release"));
    // Cancelled: gas is the house's. Never signed: there was none.
    assert_eq!(legs(settling(Some(30), false, false, 20)), told("release, gas 20"));
    assert_eq!(legs(settling(None, false, false, 0)), told("release"));
}

#[test]
fn an_intent_is_known_by_server_and_request() {
    let id = |server: &str, request: &str| intent_id(&server.parse().unwrap(), &request.parse().unwrap()).to_string();
    assert_eq!(id("arena", "exit-1"), id("arena", "exit-1"));
    assert_ne!(id("ab", "c"), id("a", "bc"));
    assert_eq!(id("arena", "exit-1").len(), 35);
}

/// Alice leaves the world with ten, of account 5, and the world is account 6.
fn exit() -> (Wanted, Request) {
    let wanted = Wanted {
        principal: Principal::GameServer("arena".parse().unwrap()),
        server: "arena".parse().unwrap(),
        request_id: "exit-1".parse().unwrap(),
        wallet: "alice".parse().unwrap(),
        account: "arena/funds/1/alice".parse().unwrap(),
        chain: "eip155:1".parse().unwrap(),
        to: Address([7; 20]),
        amount: Amount::new(10),
        gas: GasPayer::House,
        exit: Some(Amount::new(10)),
    };
    let asked = intent::request(&wanted, POLICY, AccountId(5), AccountId(6)).unwrap();
    (wanted, asked)
}

const POLICY: Policy = Policy { at_once: Amount::new(100) };

#[test]
fn an_intent_from_another_node_is_what_the_books_would_have_written_or_nothing() {
    let (wanted, asked) = exit();
    assert_eq!(asked::understand(&asked, POLICY), Some((wanted.clone(), AccountId(5))));
    let kept = Wanted { exit: None, gas: GasPayer::Player(Amount::new(3)), ..wanted };
    let request = intent::request(&kept, POLICY, AccountId(5), AccountId(0)).unwrap();
    assert_eq!(asked::understand(&request, POLICY), Some((kept, AccountId(5))));

    let spoilt = |spoil: fn(&mut Request)| {
        let mut request = asked.clone();
        spoil(&mut request);
        asked::understand(&request, POLICY)
    };
    let set = |request: &mut Request, column: &str, value: Value| {
        let found = request.facts[0].set.iter_mut().find(|(name, _)| name == column).unwrap();
        found.1 = value;
    };
    assert_eq!(asked::understand(&asked, Policy { at_once: Amount::new(9) }), None, "it says approved, and is not");
    let mut more = asked.clone();
    set(&mut more, "amount", Value::Amount(Amount::new(11)));
    assert_eq!(asked::understand(&more, POLICY), None, "more is paid than is held");
    let mut unpaid = asked.clone();
    set(&mut unpaid, "status", Value::Text("completed".into()));
    assert_eq!(asked::understand(&unpaid, POLICY), None);
    assert_eq!(spoilt(|request| request.facts[0].guard = Guard::Is(vec![])), None, "a row that is there already");
    assert_eq!(spoilt(|request| request.facts.push(request.facts[0].clone())), None);
    assert_eq!(spoilt(|request| request.events.clear()), None);
    assert_eq!(spoilt(|request| request.key.text.push('x')), None);
    assert_eq!(spoilt(|request| request.action = Action::Legs(vec![])), None);
    assert_eq!(spoilt(|request| request.principal = Principal::User("bob".parse().unwrap())), None);
}
