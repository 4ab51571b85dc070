//! Rows that were edited into something this program never writes: they are divergence, on both engines, and never
//! a guess.

use bankroll_ledger::{AccountId, AccountKind, Namespace, Principal, Seq, Settler, Time};
use bankroll_store::{
    InboxConsumer, InboxError, Ledger, Location, NewInboxRow, PAYOUT_EVENTS, Reader, RowMeaning, Rows, StoreError,
};
use bankroll_testkit::{checksums, postgres};

use crate::world::{World, hold, moving, request};

/// On SQLite without its checks; on Postgres after they are dropped, as one who owns the database can.
pub fn edit(world: &World, sql: &str) {
    match &world.options.location {
        Location::Folder(folder) => {
            let database = rusqlite::Connection::open(folder.join("books.db")).unwrap();
            database.execute_batch(&format!("PRAGMA ignore_check_constraints = ON; {DROP_TRIGGERS}")).unwrap();
            assert_eq!(database.execute(sql, []).unwrap(), 1, "{sql}");
        }
        Location::Postgres(url) => {
            postgres::run(url.reveal(), &format!("{DROP_CHECKS}; {OWN_NAMES}; {sql}"));
        }
    }
}

const DROP_TRIGGERS: &str =
    "DROP TRIGGER IF EXISTS batches_keep_what_they_have; DROP TRIGGER IF EXISTS journal_keeps_what_it_has";
const OWN_NAMES: &str = "SET search_path = books, public; SET session_replication_role = replica";
const DROP_CHECKS: &str = "DO $$ DECLARE found record; BEGIN
    FOR found IN SELECT conrelid::regclass AS of, conname FROM pg_constraint
                 WHERE contype = 'c' AND connamespace IN ('books'::regnamespace, 'public'::regnamespace)
    LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', found.of, found.conname); END LOOP; END $$";

/// Whether the table itself refuses it.
fn is_refused(world: &World, sql: &str) -> bool {
    match &world.options.location {
        Location::Folder(folder) => {
            let database = rusqlite::Connection::open(folder.join("books.db")).unwrap();
            database.execute_batch(DROP_TRIGGERS).unwrap();
            database.execute(sql, []).is_err_and(|error| error.to_string().contains("CHECK"))
        }
        Location::Postgres(url) => {
            let tried = format!(
                "DO $$ BEGIN {sql}; RAISE EXCEPTION 'it was taken'; EXCEPTION WHEN check_violation THEN NULL; END $$"
            );
            postgres::run(url.reveal(), &format!("{OWN_NAMES}; {tried}"));
            true
        }
    }
}

fn diverged<T: std::fmt::Debug>(asked: Result<T, StoreError>, column: &str, why: &str) {
    match asked {
        Err(StoreError::Diverged { what, .. }) => assert!(what.contains(column), "{why}: {what}"),
        other => panic!("{why}: {other:?}"),
    }
}

pub fn damaged<T: std::fmt::Debug>(asked: Result<T, StoreError>, table: &str, why: &str) {
    assert!(matches!(&asked, Err(StoreError::RowDamaged { table: found, .. }) if *found == table), "{why}: {asked:?}");
}

/// Books with an open hold of alice's, a reversal and an announcement.
pub struct Story {
    pub world: World,
    pub alice: AccountId,
    /// The deposit that was reversed.
    pub orphaned: Seq,
}

impl Story {
    pub fn new() -> Self {
        Self::of(World::new())
    }

    pub fn in_folder() -> Self {
        Self::of(World::in_folder(|_| {}))
    }

    fn of(world: World) -> Self {
        let alice = world.player("alice", 100);
        world.account(AccountKind::Debt, Some("alice"));
        world.play(vec![hold(alice, 30, Some(5_000_000), Settler::Holder)]).effects().unwrap();
        let custody = world.account(AccountKind::Custody, Some("hot"));
        let orphaned = world.deposit(moving(custody, alice, 5)).seq.unwrap();
        let mut reversal = request(world.fresh_key(Namespace::Deposits), Principal::Indexer, Vec::new());
        reversal.action = bankroll_ledger::Action::Reverse(orphaned);
        world.ledger().apply(reversal).unwrap().effects().unwrap();
        let mut credit =
            request(world.fresh_key(Namespace::Deposits), Principal::Indexer, vec![moving(custody, alice, 1)]);
        let kind = crate::world::name("deposit.credited");
        credit.events.push(bankroll_ledger::Event { kind, resource: "d".into(), body: "{}".into() });
        world.ledger().apply(credit).unwrap().effects().unwrap();
        Self { world, alice, orphaned }
    }

    pub fn reader(&self) -> Reader {
        self.world.reader()
    }
}

pub type Question = fn(&Story) -> Result<(), StoreError>;

/// What is edited, in which column, and a question that reads it.
const EDITS: &[(&str, &str, Question)] = &[
    ("UPDATE holds SET settler = 77", "settler", |story| story.reader().open_holds(story.alice).map(drop)),
    ("UPDATE holds SET settler = -1", "settler", |story| story.reader().open_holds(story.alice).map(drop)),
    ("UPDATE holds SET expires = -1", "expires", |story| story.reader().open_holds(story.alice).map(drop)),
    ("UPDATE accounts SET may_deposit = 128 WHERE id = 2", "may_deposit", account),
    ("UPDATE accounts SET may_transfer = -1 WHERE id = 2", "may_transfer", account),
    ("UPDATE accounts SET may_withdraw = 300 WHERE id = 2", "may_withdraw", account),
    ("UPDATE accounts SET debt = -3 WHERE id = 2", "debt", account),
    ("UPDATE assets SET decimals = -1", "decimals", |story| story.reader().assets().map(drop)),
    ("UPDATE assets SET decimals = 256", "decimals", |story| story.reader().assets().map(drop)),
    ("UPDATE outbox SET place = -1", "place", |story| story.reader().events_after(Seq(0), 10).map(drop)),
    ("UPDATE outbox SET place = 65536", "place", |story| story.reader().events_after(Seq(0), 10).map(drop)),
    ("UPDATE reversals SET reversal = -1", "reversal", |story| {
        bankroll_store::Audit::new(story.reader()).run(|_| {}).map(drop)
    }),
    ("UPDATE batches SET at = -1 WHERE number = 1", "at", |story| story.reader().receipt(Seq(1)).map(drop)),
    ("UPDATE batches SET count = 0 WHERE number = 1", "count", |story| story.reader().receipt(Seq(1)).map(drop)),
];

fn account(story: &Story) -> Result<(), StoreError> {
    story.reader().account(AccountId(2)).map(drop)
}

#[test]
fn a_value_that_this_program_never_writes_is_divergence_wherever_it_is_read() {
    for (sql, column, ask) in EDITS {
        let story = Story::new();
        ask(&story).unwrap_or_else(|error| panic!("before {sql}: {error:?}"));
        edit(&story.world, sql);
        diverged(ask(&story), column, sql);
    }
}

#[test]
fn the_tables_refuse_what_this_program_never_writes() {
    let story = Story::new();
    for (sql, ..) in EDITS {
        assert!(is_refused(&story.world, sql), "{sql}");
    }
    for sql in ["UPDATE holds SET state = 3", "UPDATE holds SET account = 0"] {
        assert!(is_refused(&story.world, sql), "{sql}");
    }
}

#[test]
fn the_end_of_the_journal_is_verified_beside_the_writer() {
    let world = World::new();
    let alice = world.player("alice", 100);
    let head = world.reader().head().unwrap();
    assert_eq!(world.reader().verify_tail().unwrap(), head.batch);
    edit(&world, &format!("UPDATE balances SET balance = held WHERE id = {alice}"));
    damaged(world.reader().verify_tail(), "balances", "balance");
    checksums::reseal(&world.options.location);
    diverged(world.reader().verify_tail(), &format!("account {alice}"), "balance");
}

/// A hold whose state is unknown is not one that has expired: nothing is decided by it.
#[test]
fn a_hold_in_a_state_that_nobody_knows_stops_the_writer() {
    for (sql, column) in [
        ("UPDATE holds SET state = 9", "state"),
        ("UPDATE holds SET state = -1", "state"),
        ("UPDATE holds SET account = -4", "account"),
    ] {
        let world = World::new();
        let alice = world.player("alice", 100);
        let held = world.play(vec![hold(alice, 30, None, Settler::Holder)]);
        let id = held.effects().unwrap().holds[0].hold.id;
        edit(&world, sql);
        let key = world.fresh_key(Namespace::Client);
        let asked = request(key, crate::world::game_server(), vec![bankroll_ledger::Leg::Release { hold: id }]);
        world.ledger().apply(asked).unwrap_err();
        match world.ledger().stopped_by().as_deref() {
            Some(StoreError::Diverged { at, what }) => {
                assert!(what.contains(column), "{sql}: {what}");
                assert_eq!(Some(*at), held.seq, "{sql}");
            }
            other => panic!("{sql}: {other:?}"),
        }
    }
}

/// The index of keys is derived, so it is built again; who only reads goes to the journal meanwhile.
#[test]
fn a_run_of_keys_with_a_number_below_zero_is_built_again() {
    let mut world = World::with(|options| options.keys_in_memory_max = 4);
    let alice = world.player("alice", 100);
    let key = world.fresh_key(Namespace::Deposits);
    let custody = world.account(AccountKind::Custody, Some("hot"));
    let credit = request(key.clone(), Principal::Indexer, vec![moving(custody, alice, 1)]);
    let first = world.ledger().apply(credit.clone()).unwrap();
    for _ in 0..40 {
        world.deposit(moving(custody, alice, 1));
    }
    world.reopen();
    edit(&world, "UPDATE key_runs SET entries = -1 WHERE id = (SELECT min(id) FROM key_runs)");
    assert_eq!(world.reader().find_key(&key).unwrap().map(|entry| entry.seq), first.seq);
    world.ledger.take().unwrap().close();
    world.ledger = Some(Ledger::open(world.options.clone()).unwrap());
    let again = world.ledger().apply(credit).unwrap();
    assert_eq!((again.replayed, again.seq), (true, first.seq));
}

#[test]
fn an_inbox_row_with_a_number_below_zero_is_divergence() {
    let world = World::new();
    let row = NewInboxRow {
        id: "a".into(),
        kind: "payout.ended".into(),
        subject: "int-a".into(),
        body: "{}".into(),
        node: "wallet-1".into(),
        created_at: Time(1),
    };
    Rows::open(world.ledger()).unwrap().write(vec![PAYOUT_EVENTS.insert(&row)]).unwrap();
    assert!(is_refused(&world, "UPDATE payout_events SET tries = -1"));
    edit(&world, "UPDATE payout_events SET tries = -1");
    let mut consumer =
        InboxConsumer::new(PAYOUT_EVENTS, &["payout.ended"], &world.options.location, 10, |_| RowMeaning::Nothing);
    match consumer.round(world.ledger(), Time(2)) {
        Err(InboxError::Store(error)) => diverged::<()>(Err(error), "tries", "tries = -1"),
        other => panic!("{other:?}"),
    }
}
