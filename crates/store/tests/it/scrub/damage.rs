//! Damage of open books: found by the next pass, and the writer decides nothing more.

use bankroll_ledger::AccountKind;
use bankroll_store::{Scrub, ScrubStep, StoreError, SubmitError};
use bankroll_testkit::checksums;

use super::{PassEnd, Story, edit, pass_with, sound_pass};
use crate::world::moving;

#[test]
fn damage_of_every_table_is_found_by_the_next_pass_and_stops_the_writer() {
    let damages = [
        ("UPDATE balances SET balance = (SELECT balance FROM balances WHERE id = ALICE) WHERE id = BOB", "account"),
        ("UPDATE balances SET held = (SELECT balance FROM balances WHERE id = BOB) WHERE id = BOB", "account"),
        ("DELETE FROM balances WHERE id = BOB", "account"),
        ("UPDATE accounts SET may_withdraw = 0 WHERE id = ALICE", "account"),
        ("UPDATE accounts SET name = 'arena/funds/1/carol' WHERE id = BOB", "account"),
        ("UPDATE holds SET state = 1", "hold"),
        ("DELETE FROM holds", "hold"),
        (
            "INSERT INTO holds (id, account, remaining, expires, settler, state, checksum)
          SELECT id + 16, account, remaining, expires, settler, state, checksum FROM holds",
            "hold",
        ),
        ("UPDATE reversals SET reversal = reversal + 1", "reversal"),
        ("DELETE FROM reversals", "reversal"),
        ("UPDATE assets SET symbol = 'ETC'", "assets"),
        ("UPDATE outbox SET resource = 'e'", "announcements"),
        ("DELETE FROM outbox", "announcements"),
        ("UPDATE outbox SET seq = 1000000", ""),
        ("UPDATE deposits SET ledger_state = 'none'", "ledger_state"),
        ("DELETE FROM deposits", "deposits"),
        ("UPDATE journal SET record = (SELECT record FROM journal WHERE seq = 2) WHERE seq = 3", "root"),
        ("DELETE FROM journal WHERE seq = 4", "missing"),
        ("UPDATE batches SET at = at + 1 WHERE number = 2", "batch"),
    ];
    // As a disk does it, and as one does who also writes the checksum: then only the journal shows it.
    let twice = damages.iter().flat_map(|(damage, what)| [(*damage, *what, false), (*damage, *what, true)]);
    for (damage, what, is_resealed) in twice {
        let Story { world, alice, bob } = Story::new();
        sound_pass(&world);
        edit(&world, &damage.replace("ALICE", &alice.0.to_string()).replace("BOB", &bob.0.to_string()));
        if is_resealed {
            checksums::reseal(&world.options.location);
        }
        let (PassEnd::Unsound(error), _) = pass_with(&world, |_| {}) else { panic!("{damage}: not found") };
        assert!(error.is_unsound(), "{damage}: {error}");
        let is_row = matches!(error, StoreError::RowDamaged { .. });
        assert!(error.to_string().contains(what) || is_row, "{damage}, resealed {is_resealed}: {error}");
        let said = error.to_string();
        world.ledger().stop_because(error);
        let asked = world.ledger().list_asset(bankroll_ledger::Asset {
            chain: crate::world::name("eip155:5"),
            unit: bankroll_ledger::Unit::Native,
            decimals: 18,
            symbol: "ETH".into(),
        });
        assert!(matches!(asked, Err(SubmitError::Refused(_) | SubmitError::Failed(_))), "{damage}: {asked:?}");
        let why = world.ledger().stopped_by().map(|why| why.to_string());
        assert_eq!(why.as_deref(), Some(said.as_str()), "{damage}");
    }
}

/// A page that was damaged for a moment (a bad cable, a bit in memory) must not stop the books.
#[test]
fn a_finding_that_a_second_pass_does_not_confirm_is_reported_and_stops_nothing() {
    let Story { world, bob, .. } = Story::new();
    let mut scrub = Scrub::new(&world.options.location);
    let swap = |to: &str| {
        edit(&world, &format!("UPDATE accounts SET may_withdraw = {to} WHERE id = {}", bob.0));
    };
    let policy = format!("SELECT CAST(may_withdraw AS TEXT), '' FROM accounts WHERE id = {}", bob.0);
    let before = world.pairs(&policy);
    swap("0");
    while !scrub.is_confirming() {
        assert!(matches!(scrub.piece().unwrap(), ScrubStep::More));
    }
    swap(&before[0].0);
    let report = loop {
        match scrub.piece().unwrap() {
            ScrubStep::More => {}
            ScrubStep::Complete(report) => break report,
            other => panic!("{other:?}"),
        }
    };
    assert!(report.unconfirmed.unwrap().contains("account"));
    let arena = world.account(AccountKind::World, None);
    world.play(vec![moving(bob, arena, 1)]).effects().unwrap();
    assert!(!scrub.is_confirming() && world.ledger().stopped_by().is_none());
}

/// Without a call in its queue the writer waits; it must stop all the same.
#[test]
fn an_idle_writer_stops_when_it_is_asked_to() {
    let Story { world, bob, .. } = Story::new();
    world.ledger().stop_because(StoreError::Full);
    assert!(matches!(world.ledger().stopped_by().as_deref(), Some(StoreError::Full)));
    let request = crate::world::request(
        world.fresh_key(bankroll_ledger::Namespace::Client),
        crate::world::game_server(),
        vec![moving(bob, bob, 1)],
    );
    assert!(world.ledger().apply(request).is_err());
    // The first reason stays.
    world.ledger().stop_because(StoreError::Locked);
    assert!(matches!(world.ledger().stopped_by().as_deref(), Some(StoreError::Full)));
}
