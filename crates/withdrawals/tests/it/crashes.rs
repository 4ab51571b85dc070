//! The processes die between any two steps: the rows say what is left to do.

use bankroll_withdrawals::StepResult;

use crate::world::{ETHER, World, home};

/// One story, in steps of which any may be followed by a crash.
fn story(world: &mut World, mut crash: impl FnMut(&mut World)) {
    world.alice("exit-1", home(1), ETHER);
    crash(world);
    for step in 0..14_u8 {
        if step == 2 {
            world.alice("exit-2", home(2), 2 * ETHER);
        }
        world.step();
        crash(world);
        if step > 3 {
            world.mine(1);
        }
        world.settle();
        crash(world);
    }
}

#[test]
fn a_crash_after_any_step_changes_nothing_about_the_end() {
    let mut steps = 0;
    story(&mut World::new(), |_| steps += 1);
    for at in 0..steps {
        let (mut world, mut step) = (World::new(), 0);
        story(&mut world, |world| {
            if step == at {
                world.restart();
                world.signer().restart();
            }
            step += 1;
        });
        world.finish();
        let paid = (world.paid(home(1), ETHER), world.paid(home(2), 2 * ETHER), world.payments().len());
        assert_eq!(paid, (1, 1, 2), "crash after step {at}");
        assert_eq!(world.standing("arena/funds/1/alice"), (7 * ETHER, 0));
        world.audit_at_rest();
    }
}

#[test]
fn an_old_copy_of_the_rows_cannot_be_written_over_the_new_ones() {
    let mut world = World::new();
    world.alice("exit-1", home(1), ETHER);
    assert!(matches!(world.step()[0].1, StepResult::Reserved { nonce: 0 }));
    // A worker that read the job at its first version, and was stopped for a while.
    let late = "UPDATE withdrawal_queue SET status = 'pending', version = version + 1 WHERE version = 1";
    assert!(world.rows().write(vec![bankroll_store::columns::one(late, vec![])]).is_err());
    let second = "INSERT INTO withdrawal_queue SELECT 'another', withdrawal_request_id, chain,
        operation_wallet_address_id, to_address, amount, gas_payer, fee_cap, 'pending', 1, NULL, 0, NULL, NULL, NULL, NULL,
        NULL, 0, NULL, 0, NULL, 0, 0, 1 FROM withdrawal_queue";
    assert!(world.rows().write(vec![bankroll_store::columns::one(second, vec![])]).is_err(), "one job an intent");
}
