//! What a simulator lets happen to a commit is what would happen: nothing, or all of it, and what callers are told fits.

use std::sync::{Arc, Mutex};

use bankroll_ledger::{Kind, Namespace};
use bankroll_store::{FaultKind, FaultPoint, SubmitError, SubmitFailure, SubmitRefusal};

use crate::world::{World, game_server, moving, request};

#[test]
fn a_commit_that_is_interrupted_is_told_as_what_became_of_it() {
    let cases = [
        (FaultKind::Full, SubmitFailure::StorageFull, false, false),
        (FaultKind::Locked, SubmitFailure::Locked, false, false),
        (FaultKind::EndsBefore, SubmitFailure::Unknown, true, false),
        (FaultKind::EndsAfter, SubmitFailure::Unknown, true, true),
    ];
    for (trouble, told, ends, is_there) in cases {
        let next = Arc::new(Mutex::new(None));
        let asked = Arc::clone(&next);
        let mut world =
            World::in_folder(|options| options.interrupt = FaultPoint::with(move || asked.lock().unwrap().take()));
        let (alice, arena) = (world.player("alice", 100), world.account(Kind::World, None));
        let spend = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 30)]);
        *next.lock().unwrap() = Some(trouble);
        assert_eq!(world.ledger().apply(spend.clone()), Err(SubmitError::Failed(told)), "{trouble:?}");
        if ends {
            // A writer that has stopped takes nothing any more, or loses it on its way out; it never carries it out.
            let later = world.ledger().apply(spend.clone());
            let lost = [SubmitError::Refused(SubmitRefusal::Stopped), SubmitError::Failed(SubmitFailure::Unknown)];
            assert!(later.as_ref().is_err_and(|error| lost.contains(error)), "{later:?}");
            world.reopen();
        }
        assert_eq!(world.standing(alice), (if is_there { 70 } else { 100 }, 0), "{trouble:?}");
        let answer = world.ledger().apply(spend).unwrap();
        assert_eq!((answer.replayed, answer.effects().is_ok()), (is_there, true), "{trouble:?}");
        assert_eq!((world.standing(alice), world.standing(arena)), ((70, 0), (30, 0)));
        world.audit();
    }
}
