//! The front door as the Funds API and reports use it: batches, views.

use bankroll_ledger::{AccountId, Amount, Request};
use bankroll_store::columns::any;
use bankroll_withdrawals::{IntentStatus, Intents, JobStage, WithdrawalRequest, views};

use crate::world::{ETHER, World, home, sent};

const ALICE: &str = "arena/funds/1/alice";

fn request(world: &World, withdrawal: &WithdrawalRequest) -> Request {
    let account = world.account(&withdrawal.account.to_string());
    Intents::new(world.policy).request(withdrawal, account, AccountId(0)).unwrap()
}

#[test]
fn a_batch_of_requests_notes_the_hold_of_each_intent() {
    let world = World::new();
    let requests = ["exit-1", "exit-2"].map(|id| request(&world, &world.withdrawal(id, home(1), ETHER)));
    let answers = Intents::submit(world.ledger(), requests.to_vec()).unwrap().wait().unwrap();
    let mut holds: Vec<String> =
        answers.iter().map(|answer| answer.effects().unwrap().holds.first().unwrap().hold.id.0.to_string()).collect();
    // The notes are queued before this statement, which is durable when it returns.
    world.rows().write(vec![any("UPDATE withdrawal_requests SET hold = hold", vec![])]).unwrap();
    let mut noted: Vec<String> =
        world.pairs("SELECT hold AS a, id AS b FROM withdrawal_requests").into_iter().map(|(hold, _)| hold).collect();
    holds.sort();
    noted.sort();
    assert_eq!(noted, holds);
    assert_eq!(world.standing(ALICE), (10 * ETHER, 2 * ETHER));
}

#[test]
fn views_show_intents_jobs_and_transactions() {
    let mut world = World::new();
    let chain = "eip155:1337";
    world.alice("exit-1", home(1), ETHER);
    world.finish();
    world.alice("exit-2", home(2), 2 * ETHER);
    world.step_until(sent);
    world.policy.at_once = Amount::new(1);
    world.alice("exit-3", home(3), ETHER);
    let reader = world.rows().reader();
    let mut intents = views::count_intents(reader).unwrap();
    intents.sort();
    let expected = [(IntentStatus::AwaitingApproval, 1), (IntentStatus::Approved, 1), (IntentStatus::Completed, 1)];
    assert_eq!(intents, expected);
    let mut jobs = views::count_jobs(reader).unwrap();
    jobs.sort();
    assert_eq!(jobs, [(JobStage::Broadcast, 1), (JobStage::Final, 1)]);
    let mut open = views::open_amounts(reader).unwrap();
    open.sort();
    assert_eq!(open, [Amount::new(ETHER), Amount::new(2 * ETHER)]);
    let paid = views::paid_payouts(reader, chain).unwrap();
    let [payout] = &paid[..] else { panic!("{paid:?}") };
    assert_eq!((payout.to, payout.amount), (home(1), Amount::new(ETHER)));
    assert_eq!(payout.tx_hash, format!("{:#x}", world.payments()[0].2));
    let mut signed: Vec<IntentStatus> =
        views::signed_payouts(reader, chain).unwrap().into_iter().map(|payout| payout.status).collect();
    signed.sort();
    assert_eq!(signed, [IntentStatus::Approved, IntentStatus::Completed]);
    assert!(views::signed_payouts(reader, "eip155:1").unwrap().is_empty());
}
