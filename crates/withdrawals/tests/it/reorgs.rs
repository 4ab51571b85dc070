//! The chain changes its mind about a payout.

use bankroll_chains_simulated::{Fate, Reorg};
use bankroll_withdrawals::StepResult;

use crate::world::{ETHER, World, home, paid, sent};

#[test]
fn a_payout_whose_block_is_gone_is_sent_again_as_it_is() {
    for fate in [Fate::Dropped, Fate::Returned, Fate::Kept] {
        let mut world = World::new();
        let intent = world.alice("exit-1", home(1), ETHER);
        world.step_until(sent);
        world.mine(1);
        world.step_until(|result| *result == StepResult::Mined);
        world.mine(1);
        let before = world.payments();
        world.chain().reorg(Reorg { depth: 2, length: 2, fate });
        if fate != Fate::Kept {
            world.step_until(|result| *result == StepResult::Unmined);
        }
        world.finish();
        assert_eq!(world.payments(), before, "the same transaction, {fate:?}");
        assert_eq!(world.status(&intent), "completed");
        world.audit_at_rest();
    }
}

#[test]
fn a_payout_that_was_final_and_is_gone_is_sent_again_and_settled_once() {
    let mut world = World::new();
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step_until(sent);
    world.mine(3);
    world.step_until(paid);
    world.settle();
    let before = world.payments();
    world.chain().reorg(Reorg { depth: 3, length: 4, fate: Fate::Dropped });
    assert_eq!(world.payments(), []);
    world.pass(world.config.rules.resend_after);
    world.step_until(sent);
    world.finish();
    assert_eq!((world.payments(), world.status(&intent).as_str()), (before, "completed"));
    // Its gas may cost something else in the other block, which is for reconciliation to find.
    world.audit();
}
