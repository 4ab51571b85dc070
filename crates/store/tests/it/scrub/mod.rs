//! The scrub, driven piece by piece: it finds every kind of damage of books that are open, and nothing in sound ones,
//! whatever a writer does between two pieces.

mod damage;
mod finding;
mod indexes;
mod sound;

use bankroll_ledger::{
    AccountId, AccountKind, Action, ColumnValue, Event, Fact, Guard, GuardFailure, Namespace, Principal, RowKey, Seq,
    Settler,
};
use bankroll_store::{Location, Migrations, Scrub, ScrubReport, ScrubStep, StoreError};
use bankroll_testkit::postgres;

use crate::world::{World, hold, moving, name, request};

const DEPOSITS: Migrations = Migrations {
    owner: "deposits",
    steps: &["CREATE TABLE deposits (id TEXT PRIMARY KEY, ledger_state TEXT NOT NULL) WITHOUT ROWID"],
    postgres: &["CREATE TABLE deposits (id text PRIMARY KEY, ledger_state text NOT NULL)"],
};

/// What a pass came to.
#[derive(Debug)]
enum PassEnd {
    Sound(ScrubReport),
    Unsound(StoreError),
}

/// Runs one pass, or two if the first finds something; `between` is called after each piece. What it repairs is done.
fn pass_with(world: &World, mut between: impl FnMut(usize)) -> (PassEnd, Vec<String>) {
    let (mut scrub, mut repaired) = (Scrub::new(&world.options.location), Vec::new());
    for number in 0.. {
        match scrub.piece().unwrap() {
            ScrubStep::More => {}
            ScrubStep::KeyIndexDamaged { what } => {
                world.ledger().rebuild_key_index().unwrap();
                repaired.push(format!("keys: {what}"));
            }
            ScrubStep::StatementIndexDamaged { what } => {
                world.ledger().rebuild_statement_index();
                repaired.push(format!("statements: {what}"));
            }
            ScrubStep::Unsound(error) => return (PassEnd::Unsound(error), repaired),
            ScrubStep::Complete(report) => return (PassEnd::Sound(report), repaired),
        }
        between(number);
    }
    unreachable!("a pass has an end")
}

/// One pass over sound books.
fn sound_pass(world: &World) -> ScrubReport {
    match pass_with(world, |_| {}) {
        (PassEnd::Sound(report), repaired) if repaired.is_empty() && report.unconfirmed.is_none() => report,
        other => panic!("{other:?}"),
    }
}

/// Runs statements on the database itself, over a connection of their own, past its triggers.
fn edit(world: &World, sql: &str) {
    match &world.options.location {
        Location::Folder(folder) => {
            let database = rusqlite::Connection::open(folder.join("books.db")).unwrap();
            let triggers =
                "DROP TRIGGER IF EXISTS journal_keeps_what_it_has; DROP TRIGGER IF EXISTS journal_forgets_nothing;
                            DROP TRIGGER IF EXISTS batches_keep_what_they_have;";
            database.execute_batch(&format!("{triggers} PRAGMA ignore_check_constraints = ON; {sql}")).unwrap();
        }
        Location::Postgres(url) => {
            let own = "SET search_path = books, public; SET session_replication_role = replica";
            postgres::run(url.reveal(), &format!("{own}; {sql}"));
        }
    }
}

fn set_deposit(id: &str, guard: Guard, to: &str) -> Fact {
    Fact {
        row: RowKey { table: "deposits".into(), columns: vec![("id".into(), ColumnValue::Text(id.into()))] },
        guard,
        otherwise: GuardFailure::Conflict,
        set: vec![("ledger_state".into(), ColumnValue::Text(to.into()))],
    }
}

/// Books with something in every table.
struct Story {
    world: World,
    alice: AccountId,
    bob: AccountId,
}

impl Story {
    fn new() -> Self {
        Self::of(World::with(|options| options.migrations = vec![DEPOSITS]))
    }

    /// On this engine, whatever the suite is run for.
    fn at(location: Location) -> Self {
        Self::of(World::at(tempfile::tempdir().unwrap(), location, |options| options.migrations = vec![DEPOSITS]))
    }

    fn of(mut world: World) -> Self {
        let (alice, bob) = (world.player("alice", 1_000), world.player("bob", 70));
        let custody = world.account(AccountKind::Custody, Some("hot"));
        world.play(vec![hold(alice, 30, Some(5_000_000_000), Settler::Holder)]).effects().unwrap();
        let orphaned = world.deposit(moving(custody, alice, 5)).seq.unwrap();
        Self::reverse(&world, orphaned);
        let mut credit =
            request(world.fresh_key(Namespace::Deposits), Principal::Indexer, vec![moving(custody, bob, 1)]);
        credit.events.push(Event { kind: name("deposit.credited"), resource: "d".into(), body: "{}".into() });
        credit.facts.push(set_deposit("d1", Guard::Absent, "credited"));
        world.ledger().apply(credit).unwrap().effects().unwrap();
        // Cold: nothing of it is in the writer's memory.
        world.reopen();
        Self { world, alice, bob }
    }

    fn reverse(world: &World, original: Seq) {
        let mut reversal = request(world.fresh_key(Namespace::Deposits), Principal::Indexer, Vec::new());
        reversal.action = Action::Reverse(original);
        world.ledger().apply(reversal).unwrap().effects().unwrap();
    }
}
