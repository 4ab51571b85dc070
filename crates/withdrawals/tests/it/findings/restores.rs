//! Backups that an operator restores: of the signer, of the books, of both.

use bankroll_ledger::Time;
use bankroll_orders::{SignerRefusal, StopReason};
use bankroll_store::columns::any;
use bankroll_withdrawals::{Asker, Intents, StepResult, WaitReason};

use super::pair;
use crate::world::{ETHER, GWEI, SECOND, World, home, name, sent};

fn signer_answers(result: &StepResult) -> bool {
    matches!(result, StepResult::Signed { .. } | StepResult::Waits(WaitReason::SignerRefuses(_)))
}

const fn stopped(stop: StopReason) -> StepResult {
    StepResult::Waits(WaitReason::SignerRefuses(SignerRefusal::Stopped(stop)))
}

/// F2: the flow keeps the head of a refusal, so the signer takes its newest memory for a fork after an older copy was
/// tried. The flow should keep no head of a stopped signer, and the newest memory should sign again.
#[test]
fn f2_the_newest_signer_memory_is_refused_after_an_older_copy_was_tried() {
    let mut world = World::new();
    let older = world.signer().memory();
    world.alice("exit-1", home(1), ETHER);
    world.finish();
    let newest = world.signer().memory();
    world.signer().put_back(&older);
    let second = world.alice("exit-2", home(2), ETHER);
    assert_eq!(world.step_until(signer_answers), stopped(StopReason::MemoryOlder));
    // A stop is one more entry of the memory. The flow keeps the head with it, which the restored copy never had.
    for stop in [StopReason::MemoryForked, StopReason::MemoryOlder, StopReason::MemoryOlder] {
        world.signer().put_back(&newest);
        world.pass(3_600 * SECOND);
        assert_eq!(world.step_until(signer_answers), stopped(stop));
    }
    world.finish();
    assert_eq!((world.status(&second).as_str(), world.payments().len()), ("approved", 1));
}

/// F8: books that are restored to before a signature prepare the payout again under the same order id, which the signer
/// refuses for ever. The signer should give the bytes it has, and the payout that is on the chain should be settled.
#[test]
fn f8_books_restored_to_before_a_signature_hold_up_the_wallet_for_ever() {
    let mut world = World::new();
    let first = world.alice("exit-1", home(1), ETHER);
    world.step_until(sent);
    // The rows as they are between `Reserved` and `Prepared`.
    let restore = [
        "DELETE FROM payout_attempts",
        "DELETE FROM operation_wallet_addresses",
        "UPDATE withdrawal_queue SET status = 'reserved'",
    ];
    world.rows().write(restore.map(|sql| any(sql, vec![])).into()).unwrap();
    world.chain().set_base_fee(7 * u64::try_from(GWEI).unwrap());
    world.mine(5);
    let second = world.alice("exit-2", home(2), ETHER);
    for is_cancelled in [false, true] {
        if is_cancelled {
            Intents::cancel(world.rows(), &first, Time(world.now)).unwrap();
        }
        world.finish();
        assert_eq!((world.paid(home(1), ETHER), world.payments().len()), (1, 1), "the chain has the payout");
        assert_eq!((world.status(&first).as_str(), world.status(&second).as_str()), ("approved", "approved"));
        let refused = pair("signing", "the order's id was used for another order");
        assert_eq!(world.jobs(), [refused, pair("pending", "")]);
    }
}

/// F9: books and signer that are restored together know nothing of a payout in the mempool: another intent gets its
/// nonce, and the payout is paid twice. A nonce that is pending on any node should stop the wallet.
#[test]
fn f9_books_and_signer_restored_together_pay_a_payout_twice() {
    let mut world = World::new();
    let first = world.alice("exit-1", home(1), ETHER);
    let memory = world.signer().memory();
    world.step_until(sent);
    // The journal has not moved since the intent: without these rows the books are what they were then.
    let tables = ["payout_attempts", "payout_nonces", "withdrawal_queue", "operation_wallet_addresses"];
    world.rows().write(tables.map(|table| any(&format!("DELETE FROM {table}"), vec![])).into()).unwrap();
    world.signer().put_back(&memory);
    // Jobs of one step are served by id.
    let is_before = |id: &String| Intents::id(&name("arena"), &Asker::GameServer, &name(id)) < first;
    let second = world.alice(&(2..).map(|number| format!("exit-{number}")).find(is_before).unwrap(), home(2), ETHER);
    world.finish();
    assert_eq!((world.paid(home(1), ETHER), world.paid(home(2), ETHER)), (2, 0));
    assert_eq!((world.status(&first).as_str(), world.status(&second).as_str()), ("completed", "approved"));
    let unknown = pair("unknown", "the nonce is used by a transaction that is none of ours");
    assert_eq!(world.jobs(), [unknown, pair("final", "")]);
}
