//! A publication that ends at each of its steps: nothing wrong is published, and the next step goes on.

use bankroll_heads::HeadsError;
use bankroll_store::{FaultKind, columns::int};

use crate::world::World;

#[test]
fn a_process_that_ends_before_or_after_the_commit_publishes_all_or_nothing() {
    let cases = [
        (FaultKind::Full, false, false),
        (FaultKind::Locked, false, false),
        (FaultKind::EndsBefore, true, false),
        (FaultKind::EndsAfter, true, true),
    ];
    for (fault, ends, is_published) in cases {
        let mut world = World::in_folder();
        world.grow_to(255);
        let first = world.published();
        world.grow_to(260);
        *world.fault.lock().unwrap() = Some(fault);
        let outcome = world.publish();
        assert!(matches!(outcome, Err(HeadsError::Rows(_))), "{fault:?}: {outcome:?}");
        if ends {
            world.restart();
        }
        let latest = world.latest().unwrap();
        let nodes = world.reader().rows("SELECT place FROM head_nodes", Vec::new()).unwrap().len();
        // The node of the first block and the head that covers it come together.
        assert_eq!((latest.batch, nodes), if is_published { (260, 1) } else { (255, 0) }, "{fault:?}");
        if !is_published {
            assert_eq!(latest, first);
        }
        let again = world.publish().unwrap();
        assert_eq!(again.is_none(), is_published, "{fault:?}");
        assert_eq!(world.latest().unwrap().root, world.root_of(260));
        world.give(1);
        assert_eq!(world.published().batch, 261);
        world.audit();
    }
}

#[test]
fn a_process_that_ends_after_it_signed_has_published_nothing() {
    let mut world = World::new();
    let draft = world.draft().unwrap().unwrap();
    assert_eq!(world.latest(), None);
    world.restart();
    world.give(5);
    // The lost draft was of two batches; a head of three is published, and the first one was never shown.
    assert_eq!((draft.round.head.batch, world.published().batch), (2, 3));
    world.audit();
}

#[test]
fn a_head_is_not_published_without_the_nodes_that_it_completes() {
    let world = World::new();
    world.grow_to(256);
    let insert = "INSERT INTO head_nodes (level, place, hash) VALUES ($1, $2, $3)";
    let hash = bankroll_ledger::ColumnValue::Bytes(vec![0; 32]);
    let row = bankroll_store::columns::one(insert, vec![int(8), int(0), hash]);
    world.rows().write(vec![row]).unwrap();
    let outcome = world.publish();
    assert!(matches!(outcome, Err(HeadsError::Rows(_))), "{outcome:?}");
    assert_eq!(world.latest(), None, "the foreign node is there already, so the head is not written");
}

#[test]
fn two_publishers_at_once_write_one_head() {
    let world = World::new();
    let (one, two) = (world.draft().unwrap().unwrap(), world.draft().unwrap().unwrap());
    let head = one.round.head.clone();
    one.write(world.rows()).unwrap();
    assert!(matches!(two.write(world.rows()), Err(HeadsError::Rows(_))));
    assert_eq!(world.latest(), Some(head));
    world.audit();
}
