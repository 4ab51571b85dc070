//! Decisions of the flow as tables, with nothing but values.

#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a story that cannot go on has failed")]

use bankroll_chains_evm::{B256, Fees};
use bankroll_ledger::{AccountId, Action, Amount, BlockRef, ColumnValue, HoldId, Leg, Rejection, Row, Time};
use bankroll_orders::{Address, Gas, IntentId, Price};

use crate::{
    Asker,
    job::{ChainStatus, JobAction, JobStage, MinedTransaction, PayoutAttempt, PayoutJob, PayoutRules, next},
    outcome::{PayoutOutcome, PayoutReport},
    price::{self, FeeCeiling},
    rows,
    settlement::{SettlementInput, settlement_request},
    status::{ApprovalPolicy, IntentEvent, IntentStatus},
    step_result::WaitReason,
};

const CEILING: FeeCeiling = FeeCeiling { max: 1_000, priority: 50 };

const RULES: PayoutRules = PayoutRules {
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
fn attempt(number: u64, at: u64, is_signed: bool) -> PayoutAttempt {
    PayoutAttempt {
        number,
        is_cancel: false,
        gas: Gas { limit: 21_000, price: dynamic(80, 8) },
        signed: is_signed.then(|| (vec![7], B256::repeat_byte(u8::try_from(number).unwrap()))),
        is_refused: false,
        created_at: Time(at),
        last_sent_at: is_signed.then_some(Time(at)),
    }
}

fn job(stage: JobStage, attempts: Vec<PayoutAttempt>) -> PayoutJob {
    PayoutJob {
        id: "job-1".into(),
        intent: IntentId("wd-1".parse().unwrap()),
        to: Address([1; 20]),
        amount: Amount::new(500),
        fee_cap: None,
        stage,
        nonce: Some(4),
        cancel_requested: false,
        attempts,
        block: None,
        retries: 0,
        scheduled_at: Time(0),
        version: 1,
    }
}

const ABSENT: ChainStatus = ChainStatus::Absent { nonce_is_gone: false, is_lowest: true };

fn mined(attempt: u64, confirmations: u64) -> MinedTransaction {
    MinedTransaction {
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
    let does = |job: &PayoutJob| next(job, &ABSENT, &RULES, Time(1_000));
    assert_eq!(does(&job(JobStage::Pending, vec![])), JobAction::Reserve);
    assert_eq!(does(&job(JobStage::WaitingFunds, vec![])), JobAction::Reserve);
    assert_eq!(does(&job(JobStage::Reserved, vec![])), JobAction::Prepare);
    // However long it takes: the same order again, never another one.
    assert_eq!(does(&job(JobStage::Signing, vec![attempt(1, 0, false)])), JobAction::Sign(1));
    // To stop it, the signer must promise; what we think we know is not enough.
    for stage in [JobStage::Pending, JobStage::WaitingFunds, JobStage::Reserved, JobStage::Signing] {
        let attempts = if stage == JobStage::Signing { vec![attempt(1, 0, false)] } else { vec![] };
        assert_eq!(does(&PayoutJob { cancel_requested: true, ..job(stage, attempts) }), JobAction::Revoke);
    }
}

#[test]
fn bytes_are_sent_again_and_again_and_replaced_when_stuck() {
    let broadcast = |attempts| job(JobStage::Broadcast, attempts);
    let does = |job: &PayoutJob, status: &ChainStatus, now| next(job, status, &RULES, Time(now));
    let unsent = PayoutAttempt { last_sent_at: None, ..attempt(1, 0, true) };
    assert_eq!(does(&job(JobStage::Signed, vec![unsent]), &ABSENT, 0), JobAction::Send(1));
    let sent = broadcast(vec![attempt(1, 0, true)]);
    assert_eq!(does(&sent, &ABSENT, 9), JobAction::Wait);
    assert_eq!(does(&sent, &ABSENT, 10), JobAction::Send(1));
    let stuck = broadcast(vec![PayoutAttempt { last_sent_at: Some(Time(95)), ..attempt(1, 0, true) }]);
    assert_eq!(does(&stuck, &ABSENT, 100), JobAction::Replace);
    // A transaction that waits for others is not helped by a higher price.
    assert_eq!(does(&stuck, &ChainStatus::Absent { nonce_is_gone: false, is_lowest: false }, 100), JobAction::Wait);
    // The replacement is signed first; then its bytes are sent, the newest ones.
    assert_eq!(does(&broadcast(vec![attempt(1, 0, true), attempt(2, 100, false)]), &ABSENT, 101), JobAction::Sign(2));
    let refused = PayoutAttempt { is_refused: true, ..attempt(2, 100, false) };
    assert_eq!(does(&broadcast(vec![attempt(1, 100, true), refused]), &ABSENT, 110), JobAction::Send(1));
    assert_eq!(does(&broadcast(vec![attempt(1, 0, true), attempt(2, 100, true)]), &ABSENT, 110), JobAction::Send(2));
}

#[test]
fn what_the_chain_shows_decides() {
    let does = |job: &PayoutJob, status: ChainStatus| next(job, &status, &RULES, Time(5));
    let sent = job(JobStage::Broadcast, vec![attempt(1, 0, true), attempt(2, 0, true)]);
    assert_eq!(does(&sent, ChainStatus::Mined(mined(1, 1))), JobAction::Note(mined(1, 1)));
    let noted = PayoutJob { block: Some(mined(1, 1).block), ..job(JobStage::Mined, sent.attempts.clone()) };
    assert_eq!(does(&noted, ChainStatus::Mined(mined(1, 2))), JobAction::Wait);
    assert_eq!(does(&noted, ABSENT), JobAction::Unmine);
    let elsewhere = MinedTransaction { block: BlockRef { number: 9, hash: "0xc9".into() }, ..mined(2, 1) };
    assert_eq!(does(&noted, ChainStatus::Mined(elsewhere.clone())), JobAction::Note(elsewhere));
    assert_eq!(does(&noted, ChainStatus::Mined(mined(1, 3))), JobAction::Finish(PayoutOutcome::Paid, mined(1, 3)));
    let failed = MinedTransaction { succeeded: false, ..mined(1, 3) };
    assert_eq!(does(&noted, ChainStatus::Mined(failed.clone())), JobAction::Finish(PayoutOutcome::Reverted, failed));
    let cancel = PayoutAttempt { is_cancel: true, ..attempt(2, 0, true) };
    let cancelling = job(JobStage::Broadcast, vec![attempt(1, 0, true), cancel]);
    assert_eq!(
        does(&cancelling, ChainStatus::Mined(mined(2, 3))),
        JobAction::Finish(PayoutOutcome::Cancelled, mined(2, 3))
    );
    assert_eq!(does(&cancelling, ChainStatus::Mined(mined(1, 3))), JobAction::Finish(PayoutOutcome::Paid, mined(1, 3)));
    // Final, with our hash and other content: that cannot be, and is not taken for a payment.
    let odd = MinedTransaction { is_as_ordered: false, ..mined(1, 3) };
    assert_eq!(does(&sent, ChainStatus::Mined(odd)), JobAction::Doubt);
    let gone = ChainStatus::Absent { nonce_is_gone: true, is_lowest: false };
    assert_eq!(does(&sent, gone.clone()), JobAction::Doubt);
    let doubted = job(JobStage::Unknown, sent.attempts);
    assert_eq!(does(&doubted, gone.clone()), JobAction::Wait);
    // It may be one whose bytes the signer returned and that never arrived: the signer is asked before the job is doubted.
    for stage in [JobStage::Broadcast, JobStage::Unknown] {
        let unheard = job(stage, vec![attempt(1, 0, true), attempt(2, 0, false)]);
        assert_eq!(does(&unheard, gone.clone()), JobAction::Sign(2));
        let refused = PayoutAttempt { is_refused: true, ..attempt(2, 0, false) };
        let no = job(stage, vec![attempt(1, 0, true), refused]);
        assert_eq!(
            does(&no, gone.clone()),
            if stage == JobStage::Unknown { JobAction::Wait } else { JobAction::Doubt }
        );
    }
    assert_eq!(does(&doubted, ChainStatus::Mined(mined(1, 3))), JobAction::Finish(PayoutOutcome::Paid, mined(1, 3)));
}

#[test]
fn stopping_a_payout_that_may_be_in_flight() {
    let does = |job: &PayoutJob, now| next(job, &ABSENT, &RULES, Time(now));
    let asked = |attempts| PayoutJob { cancel_requested: true, ..job(JobStage::Broadcast, attempts) };
    let cancel = |number, at, is_signed| PayoutAttempt { is_cancel: true, ..attempt(number, at, is_signed) };
    assert_eq!(does(&asked(vec![attempt(1, 0, true)]), 5), JobAction::Cancel);
    let unsent = PayoutAttempt { last_sent_at: None, ..attempt(1, 0, true) };
    assert_eq!(does(&asked(vec![unsent]), 5), JobAction::Cancel);
    assert_eq!(does(&asked(vec![attempt(1, 0, true), cancel(2, 5, false)]), 6), JobAction::Sign(2));
    assert_eq!(does(&asked(vec![attempt(1, 0, true), cancel(2, 5, true)]), 6), JobAction::Wait);
    let stuck = PayoutAttempt { last_sent_at: Some(Time(101)), ..cancel(2, 5, true) };
    assert_eq!(does(&asked(vec![attempt(1, 0, true), stuck]), 105), JobAction::Cancel);
    let refused = PayoutAttempt { is_refused: true, ..cancel(2, 5, false) };
    let sent = PayoutAttempt { last_sent_at: Some(Time(101)), ..attempt(1, 0, true) };
    assert_eq!(does(&asked(vec![attempt(1, 5, true), refused.clone()]), 6), JobAction::Wait);
    assert_eq!(does(&asked(vec![sent, refused]), 105), JobAction::Cancel);
}

#[test]
fn after_the_end_only_what_was_settled_is_sent_again() {
    let does = |job: &PayoutJob, status: &ChainStatus| next(job, status, &RULES, Time(50));
    let cancel = PayoutAttempt { is_cancel: true, ..attempt(2, 0, true) };
    let both = vec![attempt(1, 0, true), cancel];
    let (paid, dead) = (job(JobStage::Final, both.clone()), job(JobStage::Dead, both));
    assert_eq!(does(&paid, &ABSENT), JobAction::Send(1));
    assert_eq!(does(&dead, &ABSENT), JobAction::Send(2));
    assert_eq!(does(&paid, &ChainStatus::Mined(mined(1, 5))), JobAction::Wait);
    assert_eq!(does(&paid, &ChainStatus::Mined(mined(2, 5))), JobAction::Contradict);
    assert_eq!(does(&dead, &ChainStatus::Mined(mined(1, 5))), JobAction::Contradict);
    assert_eq!(does(&job(JobStage::Dead, vec![attempt(1, 0, false)]), &ABSENT), JobAction::Wait);
}

#[test]
fn prices_leave_a_margin_below_a_ceiling() {
    let market = |base_fee, tip| price::market(Fees::Market { base_fee, tip }, CEILING);
    assert_eq!(market(100, 7), Some(dynamic(207, 7)));
    assert_eq!(market(600, 7), Some(dynamic(1_000, 7)));
    // A tip that others are ready to pay is not ours to pay.
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
fn every_raise_is_accepted_by_the_signer_and_nodes() {
    let seed = std::env::var("BANKROLL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    println!("BANKROLL_TEST_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..10_000 {
        let bits = random.u32(1..100);
        let max = random.u128(0..1 << bits);
        let before = dynamic(max, random.u128(0..=max));
        let market = random.bool().then(|| dynamic(random.u128(0..1 << 90), random.u128(0..1 << 80)));
        let ceiling = FeeCeiling { max: random.u128(0..1 << 110), priority: random.u128(0..1 << 100) };
        if let Some(raised) = price::replacement(before, market, ceiling) {
            assert!(raised.outbids(before), "{before:?} {raised:?}");
            assert!(
                raised.max() <= ceiling.max && raised.priority() <= raised.max().min(ceiling.priority),
                "{raised:?}"
            );
        }
    }
}

fn settling(fee_cap: Option<u128>, outcome: PayoutOutcome, fee: u128) -> SettlementInput {
    SettlementInput {
        intent: IntentId("wd-1".parse().unwrap()),
        server: "arena".parse().unwrap(),
        wallet: "alice".parse().unwrap(),
        hold: HoldId(7),
        amount: Amount::new(500),
        fee_cap: fee_cap.map(Amount::new),
        custody: AccountId(1),
        network_fees: AccountId(2),
        outcome,
        fee: Amount::new(fee),
        tx_hash: None,
        block: None,
    }
}

#[test]
fn how_each_end_is_booked() {
    let legs = |settling: SettlementInput| {
        let request = settlement_request(&settling)?;
        assert_eq!(request.check(), Ok::<(), Rejection>(()));
        let Action::Legs(legs) = request.action else { panic!("legs") };
        let words = legs.iter().map(|leg| match leg {
            Leg::Post { amount, .. } => format!("post {amount}"),
            Leg::Release { .. } => "release".into(),
            Leg::Move { amount, .. } => format!("gas {amount}"),
            Leg::Hold { .. } => "hold".into(),
        });
        Some(words.collect::<Vec<_>>().join(", "))
    };
    let words = |text: &str| Some(text.to_owned());
    // Paid: by the house's gas, by the player's, and to the last unit of the player's cap.
    assert_eq!(legs(settling(None, PayoutOutcome::Paid, 20)), words("post 500, gas 20"));
    assert_eq!(legs(settling(Some(30), PayoutOutcome::Paid, 20)), words("post 520, release"));
    assert_eq!(legs(settling(Some(20), PayoutOutcome::Paid, 20)), words("post 520"));
    assert_eq!(legs(settling(Some(19), PayoutOutcome::Paid, 20)), None);
    // Reverted: the money back, less gas if that is the player's.
    assert_eq!(legs(settling(None, PayoutOutcome::Reverted, 20)), words("release, gas 20"));
    assert_eq!(legs(settling(Some(30), PayoutOutcome::Reverted, 20)), words("post 20, release"));
    // Cancelled: gas is the house's. Never signed: there was none.
    assert_eq!(legs(settling(Some(30), PayoutOutcome::Cancelled, 20)), words("release, gas 20"));
    assert_eq!(legs(settling(None, PayoutOutcome::NeverSigned, 0)), words("release"));
}

#[test]
fn an_intent_is_known_by_server_asker_and_request() {
    let id = |server: &str, asker: Asker, request: &str| {
        asker.intent_id(&server.parse().unwrap(), &request.parse().unwrap()).to_string()
    };
    let (game, alice) = (|| Asker::GameServer, || Asker::Player("alice".parse().unwrap()));
    assert_eq!(id("arena", game(), "exit-1"), id("arena", game(), "exit-1"));
    assert_ne!(id("ab", game(), "c"), id("a", game(), "bc"));
    assert_ne!(id("arena", game(), "exit-1"), id("arena", alice(), "exit-1"));
    assert_ne!(id("arena", game(), "exit-1"), id("arena", Asker::Exit, "exit-1"));
    assert_eq!(id("arena", game(), "exit-1").len(), 35);
}

const POLICY: ApprovalPolicy = ApprovalPolicy { at_once: Amount::new(100) };

#[test]
fn every_transition_of_an_intent_is_in_one_table() {
    use IntentEvent::{Approve, Reject, Settle};
    use IntentStatus::{Approved, AwaitingApproval, Completed, Failed};
    let settled = PayoutOutcome::ALL.map(Settle);
    let of = |status: IntentStatus| {
        let events = [Approve, Reject].into_iter().chain(settled);
        events.map(|event| status.after(event)).collect::<Vec<_>>()
    };
    assert_eq!(of(AwaitingApproval), [Some(Approved), Some(Failed), None, None, None, None]);
    assert_eq!(of(Approved), [None, None, Some(Completed), Some(Failed), Some(Failed), Some(Failed)]);
    for status in [Completed, Failed] {
        assert!(status.is_final() && of(status).iter().all(Option::is_none));
    }
    let first = |amount| POLICY.first_status(Amount::new(amount));
    assert_eq!((first(100), first(101)), (Approved, AwaitingApproval));
}

#[test]
fn stored_words_are_read_back_and_an_unknown_word_is_an_error() {
    let row = |word: &str| [("status".to_owned(), ColumnValue::Text(word.into()))].into_iter().collect::<Row>();
    let words = IntentStatus::ALL.map(IntentStatus::as_str);
    assert_eq!(words, ["awaiting_approval", "approved", "completed", "failed"]);
    for status in IntentStatus::ALL {
        assert_eq!(IntentStatus::of_row(&row(status.as_str())), Ok(status));
    }
    assert!(IntentStatus::of_row(&row("refunded")).is_err());
    assert_eq!(JobStage::of_row(&row("waiting_funds")), Ok(JobStage::WaitingFunds));
    assert!(JobStage::of_row(&row("approved")).is_err());
    let ended = PayoutOutcome::ALL.map(JobStage::after);
    assert!(ended.iter().all(|stage| stage.has_ended() && rows::ENDED.contains(&format!("'{}'", stage.as_str()))));
}

#[test]
fn the_report_of_an_outcome_is_stored_in_exactly_these_words() {
    let report = |outcome| PayoutReport {
        block: Some(BlockRef { number: 9, hash: "0xb9".into() }),
        custody: "@house/custody/1/hot".into(),
        fee: Amount::new(840_000),
        outcome,
        tx_hash: Some("0x01".into()),
    };
    let json = r#"{"block":{"hash":"0xb9","number":9},"custody":"@house/custody/1/hot","fee":"840000","outcome":"paid","tx_hash":"0x01"}"#;
    assert_eq!(report(PayoutOutcome::Paid).to_json(), json);
    let never = PayoutReport { block: None, fee: Amount::ZERO, tx_hash: None, ..report(PayoutOutcome::NeverSigned) };
    let json = r#"{"block":null,"custody":"@house/custody/1/hot","fee":"0","outcome":"never_signed","tx_hash":null}"#;
    assert_eq!(never.to_json(), json);
    for outcome in PayoutOutcome::ALL {
        assert_eq!(serde_json::from_str::<PayoutReport>(&report(outcome).to_json()).unwrap(), report(outcome));
    }
    let unknown = json.replace("never_signed", "lost");
    let error = serde_json::from_str::<PayoutReport>(&unknown).unwrap_err().to_string();
    assert!(error.starts_with(r#""lost" is not an outcome of a payout"#), "{error}");
    assert_eq!(PayoutOutcome::ALL.map(PayoutOutcome::as_str), ["paid", "reverted", "cancelled", "never_signed"]);
}

#[test]
fn reasons_are_stored_in_plain_words() {
    assert_eq!(
        WaitReason::FeesAboveCeiling.to_string(),
        "the chain asks more for gas than chain.max_fee_per_gas or the fee cap of the player"
    );
    assert_eq!(
        WaitReason::ForeignNonce { expected: 1, found: 4 }.to_string(),
        "the wallet was used outside of this system: nonce 1 was next, the chain has 4"
    );
}
