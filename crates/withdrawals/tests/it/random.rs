//! Random intents, cancels, blocks, reorganisations, faults, lost answers and crashes. At rest: one payment on chain for
//! each completed intent, none for each that was refunded, and the wallet has what the books say.

use std::time::{Duration, Instant};

use bankroll_chains_simulated::{Fate, NodeFault, Reorg};
use bankroll_ledger::{Amount, Time};
use bankroll_withdrawals::{GasPayer, Intents, WithdrawalRequest};
use fastrand::Rng;

use crate::world::{Between, ETHER, GWEI, SECOND, TRANSFER_GAS, World, home};

#[test]
fn one_payment_for_each_completed_intent_and_none_for_each_refunded_one() {
    let seed = std::env::var("BANKROLL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let soak = std::env::var("BANKROLL_SOAK_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let until = soak.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let (mut completed, mut failed) = (0, 0);
    for run in 0_u64.. {
        let seed = u64::wrapping_add(seed, run);
        println!("BANKROLL_TEST_SEED={seed}");
        let (more_completed, more_failed) = live(&mut Rng::with_seed(seed));
        (completed, failed) = (completed + more_completed, failed + more_failed);
        if until.map_or(run >= 9, |until| Instant::now() > until) {
            break;
        }
    }
    println!("{completed} completed, {failed} refunded");
    assert!(completed > 0 && failed > 0);
}

fn live(random: &mut Rng) -> (usize, usize) {
    let mut world = World::new();
    let mut intents = Vec::new();
    for number in 0..80_u8 {
        match random.u8(0..24) {
            0..4 => {
                // Each amount once, so that payments can be distinguished.
                let amount = ETHER / 4 + u128::from(number);
                let gas = match random.bool() {
                    true => GasPayer::House,
                    false => GasPayer::Player(Amount::new(TRANSFER_GAS * 200 * GWEI)),
                };
                let to = home(random.u8(1..5));
                let withdrawal = WithdrawalRequest { gas, ..world.withdrawal(&format!("exit-{number}"), to, amount) };
                if let Ok(intent) = world.request(&withdrawal) {
                    intents.push((intent.id, to, amount));
                }
            }
            4..12 => {
                world.step();
            }
            12..15 => world.mine(random.u64(1..3)),
            15 => {
                if let Some((intent, ..)) = random.choice(&intents) {
                    let _ = Intents::cancel(world.rows(), intent, Time(world.now));
                }
            }
            16 => {
                // Not as deep as what is final.
                let depth = random.u64(1..3);
                let fates = [Fate::Kept, Fate::Returned, Fate::Dropped, Fate::Reordered];
                let fate = *random.choice(&fates).unwrap();
                world.chain().reorg(Reorg { depth, length: depth + random.u64(0..2), fate });
            }
            17..19 => {
                let fault = *random.choice(NodeFault::ALL).unwrap();
                world.chain().inject(0, fault, random.u32(1..3));
            }
            19..21 => {
                let write = random.usize(0..2);
                let between = [Between::RequestLost, Between::AnswerLost, Between::Dies(write, random.bool())];
                world.signer().plan.push_back(*random.choice(&between).unwrap());
            }
            21 => {
                world.restart();
                world.signer().restart();
            }
            22 => {
                let base_fee = random.u64(1..60);
                world.chain().set_base_fee(base_fee * u64::try_from(GWEI).unwrap());
            }
            _ => {
                world.settle();
                world.pass(random.u64(1..400) * SECOND);
            }
        }
    }
    world.chain().clear_faults(0);
    world.signer().plan.clear();
    world.finish();
    world.finish();
    let (mut completed, mut failed) = (0, 0);
    for (intent, to, amount) in &intents {
        let status = world.status(intent);
        let expected = match status.split(' ').next().unwrap() {
            "completed" => 1,
            "failed" => 0,
            other => panic!("{intent} is {other}: {:?}", world.jobs()),
        };
        assert_eq!(world.paid(*to, *amount), expected, "{intent} is {status}");
        completed += expected;
        failed += 1 - expected;
    }
    let held = world.standing("arena/funds/1/alice").1;
    assert_eq!(held, 0, "nothing is held at rest");
    world.audit_at_rest();
    (completed, failed)
}
