//! A finding outlives the node that made it: in a database no other node takes over before a rebuild.

use bankroll_ledger::AccountKind;
use bankroll_store::{Ledger, LedgerOptions, Location, Reader, StoreError, rebuild_books};
use bankroll_testkit::postgres;

use super::{PassEnd, Story, edit, pass_with};
use crate::world::{World, moving};

/// The writer of a node stops because of what its scrub found; a standby has the same options and opens the books next.
fn found_unsound(world: &mut World) -> LedgerOptions {
    edit(
        world,
        "UPDATE balances SET balance = balance + 1 WHERE id = (SELECT max(id) FROM balances WHERE balance > 0)",
    );
    let (PassEnd::Unsound(error), _) = pass_with(world, |_| {}) else { panic!("not found") };
    world.ledger().stop_because(error);
    world.ledger.take().unwrap().close();
    world.options.clone()
}

#[test]
fn a_standby_does_not_take_over_books_that_a_scrub_found_unsound_until_they_are_rebuilt() {
    let url = postgres::needed_database();
    let Story { mut world, bob, .. } = Story::at(Location::Postgres(url.clone()));
    let standby = found_unsound(&mut world);

    for _ in 0..2 {
        let refused = Ledger::open(standby.clone()).unwrap_err();
        assert!(refused.is_unsound() && matches!(refused, StoreError::FoundUnsound { .. }), "{refused:?}");
        let said = refused.to_string();
        assert!(said.contains("balances") && said.contains("bankroll rebuild"), "{said}");
    }
    let noted = Reader::open(url.clone()).unwrap().finding().unwrap();
    assert!(noted.unwrap().contains("balances"));

    rebuild_books(&standby, |_| {}).unwrap();
    let reader = Reader::open(url).unwrap();
    assert_eq!(reader.finding().unwrap(), None);
    // The next holder opens an alert about it.
    let (epoch, last) = reader.last_finding().unwrap().unwrap();
    assert!(epoch >= 1 && last.contains("balances"), "{epoch}: {last}");
    world.ledger = Some(Ledger::open(standby).unwrap());
    assert_eq!(world.balances(bob), (71, 0));
    let arena = world.account(AccountKind::World, None);
    world.play(vec![moving(bob, arena, 1)]).effects().unwrap();
}

/// What the journal itself has lost no rebuild makes again: the finding stays.
#[test]
fn a_rebuild_that_is_impossible_keeps_the_finding() {
    let url = postgres::needed_database();
    let Story { mut world, .. } = Story::at(Location::Postgres(url.clone()));
    edit(&world, "UPDATE journal SET record = set_byte(record, 3, get_byte(record, 3) # 1) WHERE seq = 2");
    let standby = found_unsound(&mut world);
    assert!(matches!(rebuild_books(&standby, |_| {}), Err(StoreError::NotRebuildable { .. })));
    assert!(Reader::open(url).unwrap().finding().unwrap().is_some());
    assert!(matches!(Ledger::open(standby), Err(StoreError::FoundUnsound { .. })));
}

/// The writer stops with the finding, whether or not the database can note it.
#[test]
fn a_finding_that_cannot_be_noted_stops_the_writer_all_the_same() {
    let url = postgres::needed_database();
    let Story { world, .. } = Story::at(Location::Postgres(url.clone()));
    // No new connection is allowed, and the writer's own is ended.
    let server = url.reveal().rsplit_once('/').unwrap();
    let refuse = format!(
        "ALTER DATABASE {0} ALLOW_CONNECTIONS false;
         SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{0}'",
        server.1
    );
    postgres::run(&format!("{}/postgres", server.0), &refuse);
    world.ledger().stop_because(StoreError::Diverged { at: bankroll_ledger::Seq(3), what: "a test".into() });
    let why = world.ledger().stopped_by().unwrap();
    assert!(matches!(why.as_ref(), StoreError::Diverged { what, .. } if what == "a test"), "{why:?}");
}
