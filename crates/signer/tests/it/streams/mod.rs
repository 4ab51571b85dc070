//! Random orders, most of them similar to signed ones: every answer equals the model's, with crashes in between.

mod model;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use bankroll_money::{Amount, Time};
use bankroll_orders::{
    Address, Gas, IntentId, Meaning, Order, OrderId, Price, SignerAnswer, SignerRefusal, SignerRequest, Slot,
};
use bankroll_signer::memory::{CommitStage, MemoryEntry};
use fastrand::Rng;

use crate::world::{CHAIN, HOUR, LEGACY, PLAYER, Soak, TOKEN, World, cancel, pay, pay_token, print_line, wallet};
use model::{Model, ModelVerdict};

/// The stage at which the process crashed.
type Ended = Arc<Mutex<Option<(CommitStage, &'static str)>>>;

#[derive(Default)]
struct Counts {
    signed: u64,
    repeated: u64,
    restarts: u64,
    ended: BTreeMap<String, u64>,
    refused: BTreeMap<SignerRefusal, u64>,
}

impl Counts {
    /// Whether enough was signed and repeated, with crashes at every stage and every kind of refusal.
    fn are_enough(&self) -> bool {
        self.signed > 100 && self.repeated > 100 && self.ended.len() == 4 && self.refused.len() >= 18
    }
}

/// The most streams.
const ROUNDS_MAX: u64 = 60;

#[test]
fn random_streams_are_answered_as_the_model_answers() {
    let mut counts = Counts::default();
    let mut rounds = 0;
    for seed in Soak::unless_soaking(12).seeds() {
        stream(seed, 400, &mut counts);
        rounds += 1;
    }
    // Rare events can be missing in a few streams: continue until everything has happened.
    while !counts.are_enough() && rounds < ROUNDS_MAX {
        stream(crate::world::seed().wrapping_add(rounds), 400, &mut counts);
        rounds += 1;
    }
    print_line(&format!(
        "streams (first seed {}): {rounds} of 400 orders: {} signed, {} repeated, {} restarts, ended {:?}, refused {:?}",
        crate::world::seed(),
        counts.signed,
        counts.repeated,
        counts.restarts,
        counts.ended,
        counts.refused,
    ));
    assert!(counts.are_enough(), "the streams do too little");
}

fn stream(seed: u64, length: usize, counts: &mut Counts) {
    let mut rng = Rng::with_seed(seed);
    let (mut world, mut model) = (World::new(), Model::default());
    let mut asked: Vec<Order> = Vec::new();
    for step in 0..length {
        world.now = Time(world.now.0 + rng.u64(0..HOUR / 2));
        if rng.u8(..) < 8 {
            counts.restarts += 1;
            world.restart();
        }
        let what = format!("seed {seed}, step {step}");
        if rng.u8(..) < 6 {
            let intent = intent(&mut rng, step);
            assert_eq!(world.revoke(&intent), model.revoke(&intent), "{what}: revoke {intent}");
            continue;
        }
        let order = order(&mut rng, step, &asked, world.now);
        asked.push(order.clone());
        if rng.u8(..) < 30 {
            ask_and_end(&mut world, &mut model, &order, &mut rng, counts, &what);
        } else {
            check(&mut world, &mut model, &order, counts, &what);
        }
    }
    model.check_promises();
}

fn check(world: &mut World, model: &mut Model, order: &Order, counts: &mut Counts, what: &str) {
    let says = model.judge(order, world.now);
    match (world.ask(order), says) {
        (Ok(signed), ModelVerdict::Sign) => {
            counts.signed += 1;
            model.promised(order, world.now);
            model.signed(order, signed.raw);
        }
        (Ok(signed), ModelVerdict::Finish) => model.signed(order, signed.raw),
        (Ok(signed), ModelVerdict::Repeat(raw)) => {
            counts.repeated += 1;
            assert_eq!(signed.raw, raw, "{what}: other bytes\n{order:?}");
        }
        (Err(refusal), ModelVerdict::Refuse(expected)) => {
            *counts.refused.entry(refusal).or_default() += 1;
            assert_eq!(refusal, expected, "{what}\n{order:?}");
        }
        (answer, says) => panic!("{what}: {answer:?}, but the model says {says:?}\n{order:?}"),
    }
}

/// Crashes at a random stage; the model then contains what is on disk.
fn ask_and_end(world: &mut World, model: &mut Model, order: &Order, rng: &mut Rng, counts: &mut Counts, what: &str) {
    let ended = Ended::default();
    let (mut left, crashed_at) = (rng.u8(0..4), Arc::clone(&ended));
    world.restart_with(Box::new(move |moment, entry| {
        let ends = left == 0;
        left = left.saturating_sub(1);
        if ends {
            *crashed_at.lock().unwrap() =
                Some((moment, if matches!(entry, MemoryEntry::Promised { .. }) { "promise" } else { "signed" }));
        }
        ends
    }));
    let says = model.judge(order, world.now);
    let request = SignerRequest::Sign { order: order.clone(), approvals: vec![], head: world.head };
    let answer = world.signer.as_mut().unwrap().handle(&request, world.now);
    let at = ended.lock().unwrap().take();
    let Some((moment, entry)) = at else {
        // There was nothing more to write.
        if let SignerAnswer::Signed(signed) = &answer {
            match says {
                ModelVerdict::Sign => panic!("{what}: signed without two entries"),
                ModelVerdict::Finish => model.signed(order, signed.raw.clone()),
                ModelVerdict::Repeat(raw) => assert_eq!(signed.raw, raw, "{what}"),
                ModelVerdict::Refuse(refusal) => panic!("{what}: signed, and the model says {refusal}"),
            }
        }
        world.restart();
        return;
    };
    assert_eq!(answer, SignerAnswer::Failed, "{what}: it answered after the crash");
    *counts.ended.entry(format!("{moment:?} {entry}")).or_default() += 1;
    match (says, moment, entry) {
        (ModelVerdict::Sign, CommitStage::BeforeCommit, "promise") => {}
        (ModelVerdict::Sign, CommitStage::AfterCommit, "promise")
        | (ModelVerdict::Sign, CommitStage::BeforeCommit, "signed") => {
            model.promised(order, world.now);
        }
        (ModelVerdict::Sign, CommitStage::AfterCommit, "signed") => {
            model.promised(order, world.now);
            model.signed_unseen(order);
        }
        (ModelVerdict::Finish, CommitStage::BeforeCommit, "signed") => {}
        (ModelVerdict::Finish, CommitStage::AfterCommit, "signed") => model.signed_unseen(order),
        (says, ..) => panic!("{what}: ended {moment:?} {entry}, but the model says {says:?}"),
    }
    world.restart();
}

/// Half of the orders are similar to an earlier one.
fn order(rng: &mut Rng, step: usize, asked: &[Order], now: Time) -> Order {
    let expires = Time(now.0 + if rng.u8(..) < 10 { 0 } else { HOUR });
    let order = match asked.len() {
        0 => fresh(rng, step),
        _ if rng.bool() => fresh(rng, step),
        length => {
            let place = rng.usize(length.saturating_sub(24)..length);
            near(rng, step, &asked[place])
        }
    };
    Order { expires, ..order }
}

/// Intents advance with the steps, so that there are always unsigned ones.
fn intent(rng: &mut Rng, step: usize) -> String {
    format!("wd-{}", step / 3 + rng.usize(0..8))
}

fn nonce(rng: &mut Rng, step: usize) -> u64 {
    (step / 4 + rng.usize(0..6)) as u64
}

fn fresh(rng: &mut Rng, step: usize) -> Order {
    let (intent, nonce) = (intent(rng, step), nonce(rng, step));
    let amount = match rng.u8(..) {
        0..8 => 0,
        8..24 => rng.u128(400..1_200),
        _ => rng.u128(1..200),
    };
    let mut order = match rng.u8(0..10) {
        0 => cancel(&intent, nonce),
        1..4 => pay_token(&intent, nonce, amount),
        _ => pay(&intent, nonce, amount),
    };
    if rng.u8(..) < 60 {
        let price = Price::Dynamic { max: rng.u128(0..1_050), priority: rng.u128(0..110) };
        order.gas = Gas { limit: rng.u64(21_000..110_000), price };
    }
    if rng.u8(..) < 40 {
        order.slot = Slot { chain: LEGACY, ..order.slot };
        order.gas.price = Price::Legacy { price: rng.u128(50..200) };
    }
    order.id = OrderId(format!("order-{}", rng.u32(..)).parse().unwrap());
    order
}

fn near(rng: &mut Rng, step: usize, order: &Order) -> Order {
    let mut near = order.clone();
    if rng.u8(..) < 240 {
        near.id = OrderId(format!("order-{}", rng.u32(..)).parse().unwrap());
    }
    match rng.u8(0..15) {
        0..3 => {}
        3 | 12..14 => near.gas.price = raised(rng, near.gas.price),
        4 => near.meaning = Meaning::Cancel,
        5 => (near.meaning, near.gas.price) = (Meaning::Cancel, raised(rng, near.gas.price)),
        6 => near.slot.nonce = nonce(rng, step),
        7 => near.intent = IntentId(intent(rng, step).parse().unwrap()),
        8 => near.meaning = Meaning::NativePayout { to: PLAYER, amount: Amount::new(rng.u128(0..1_200)) },
        9 => {
            near.meaning =
                Meaning::NativePayout { to: [Address::ZERO, wallet(), TOKEN][rng.usize(0..3)], amount: Amount::new(1) }
        }
        10 => near.slot.chain = if near.slot.chain == CHAIN { LEGACY } else { CHAIN },
        _ => near.gas = Gas { limit: rng.u64(20_000..110_000), price: raised(rng, near.gas.price) },
    }
    near
}

fn raised(rng: &mut Rng, price: Price) -> Price {
    let mut more = |price: u128| price * rng.u128(100..130) / 100 + 1;
    match price {
        Price::Dynamic { max, priority } => Price::Dynamic { max: more(max), priority: more(priority) },
        Price::Legacy { price } => Price::Legacy { price: more(price) },
    }
}
