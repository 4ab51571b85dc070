//! An injected fault has the effect of the real one: the commit happens completely or not at all, and the outcome that
//! callers get fits.

use std::sync::{Arc, Mutex};

use bankroll_ledger::{AccountKind, Namespace};
use bankroll_store::{FaultKind, FaultPoint, SubmitError, SubmitFailure, SubmitRefusal};

use crate::world::{World, game_server, moving, request};

#[test]
fn the_outcome_of_a_faulty_commit_is_reported_as_it_is() {
    let cases = [
        (FaultKind::Full, SubmitFailure::StorageFull, false, false),
        (FaultKind::Locked, SubmitFailure::Locked, false, false),
        (FaultKind::EndsBefore, SubmitFailure::Unknown, true, false),
        (FaultKind::EndsAfter, SubmitFailure::Unknown, true, true),
    ];
    for (fault, failure, ends, is_stored) in cases {
        let next = Arc::new(Mutex::new(None));
        let injected = Arc::clone(&next);
        let mut world =
            World::in_folder(|options| options.fault_point = FaultPoint::with(move || injected.lock().unwrap().take()));
        let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
        let spend = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 30)]);
        *next.lock().unwrap() = Some(fault);
        assert_eq!(world.ledger().apply(spend.clone()), Err(SubmitError::Failed(failure)), "{fault:?}");
        if ends {
            // A stopped writer refuses calls, or drops them while it stops; it never executes them.
            let later = world.ledger().apply(spend.clone());
            let lost = [SubmitError::Refused(SubmitRefusal::Stopped), SubmitError::Failed(SubmitFailure::Unknown)];
            assert!(later.as_ref().is_err_and(|error| lost.contains(error)), "{later:?}");
            world.reopen();
        }
        assert_eq!(world.balances(alice), (if is_stored { 70 } else { 100 }, 0), "{fault:?}");
        let answer = world.ledger().apply(spend).unwrap();
        assert_eq!((answer.replayed, answer.effects().is_ok()), (is_stored, true), "{fault:?}");
        assert_eq!((world.balances(alice), world.balances(arena)), ((70, 0), (30, 0)));
        world.audit();
    }
}
