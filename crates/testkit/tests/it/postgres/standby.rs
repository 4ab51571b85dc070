//! Fail-over to a synchronous standby, with books that are opened anew on it: nothing acknowledged is lost.
//!
//! `failover` shows a writer that goes on; here the machine of the writer dies together with the primary. Several
//! processes make calls, each answer is noted as it is printed; then every process of the primary is killed, the standby
//! is promoted, and a new writer opens the books at the standby's own address.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use bankroll_ledger::AccountKind;
use bankroll_store::{Audit, DatabaseUrl, Ledger, LedgerOptions, Reader, StoreError};
use bankroll_testkit::{
    postgres,
    script::{Script, set_up},
};
use fastrand::Rng;

use super::{
    cluster::Cluster,
    failover::{follows, pair},
    kills::quick,
    soak_time,
};
use crate::{
    crash::{
        examine::{Found, examine_thread},
        victim::{Line, Role, parse},
    },
    run::{PATIENCE, report, seed, wait_until},
    world::World,
};

const THREADS: u64 = 6;

/// A process that makes calls, and what it printed so far.
struct Load {
    child: Child,
    lines: Arc<Mutex<Vec<Line>>>,
    done: Arc<AtomicU64>,
    reading: std::thread::JoinHandle<()>,
}

impl Load {
    fn start(role: &Role, url: &str) -> Self {
        let mut command = role.command(url.as_ref());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let (lines, done) = (Arc::<Mutex<Vec<Line>>>::default(), Arc::<AtomicU64>::default());
        let out = BufReader::new(child.stdout.take().unwrap());
        let (noted, counted) = (Arc::clone(&lines), Arc::clone(&done));
        let reading = std::thread::spawn(move || {
            for line in out.lines() {
                let line = parse(&line.unwrap());
                let is_answer = matches!(line, Line::Done { .. });
                noted.lock().unwrap().push(line);
                counted.fetch_add(u64::from(is_answer), Ordering::SeqCst);
            }
        });
        Self { child, lines, done, reading }
    }

    fn wait_for_answers(&self, count: u64) {
        wait_until("calls are answered", || self.done.load(Ordering::SeqCst) >= count);
    }

    /// Kills it; all that it printed before is returned.
    fn kill(mut self) -> Vec<Line> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.reading.join().unwrap();
        Arc::try_unwrap(self.lines).unwrap().into_inner().unwrap()
    }
}

/// Opens the books as soon as the lease of the dead writer has ended.
fn open_when_free(url: &str) -> Ledger {
    let started = std::time::Instant::now();
    loop {
        match Ledger::open(quick(url)) {
            Ok(ledger) => return ledger,
            Err(StoreError::Leased { .. }) if started.elapsed() < PATIENCE => std::thread::yield_now(),
            Err(error) => panic!("the standby's books do not open: {error:?}"),
        }
    }
}

/// Which of the two is killed first.
#[derive(Clone, Copy, Debug)]
enum Order {
    PrimaryFirst,
    WriterFirst,
}

#[test]
fn postgres_books_opened_on_a_promoted_standby_have_everything_acknowledged() {
    let mut rng = Rng::with_seed(seed());
    let (mut found, mut rounds) = (Found::default(), 0_u64);
    for round in soak_time().rounds(1) {
        let (primary, standby) = pair();
        let role = Role { threads: THREADS, calls: 1_000_000, lease: 2_000, ..Role::usual(seed().wrapping_add(round)) };
        let load = Load::start(&role, &primary.url("books"));
        load.wait_for_answers(rng.u64(30..150));
        let order = if rng.bool() { Order::PrimaryFirst } else { Order::WriterFirst };
        let lines = match order {
            Order::PrimaryFirst => {
                primary.kill();
                load.kill()
            }
            Order::WriterFirst => {
                let lines = load.kill();
                primary.kill();
                lines
            }
        };
        standby.promote();
        let what = format!("seed {}, round {round}, {order:?}", seed());
        let ledger = open_when_free(&standby.url("books"));
        set_up(&ledger).unwrap();
        for thread in 0..THREADS {
            let mut script = Script::new(role.seed, thread);
            examine_thread(&ledger, &mut script, thread, &lines, &mut found, &what);
        }
        assert_eq!((found.lost, found.half_done), (0, 0), "{what}: {found}");
        ledger.close();
        let url = DatabaseUrl::new(standby.url("books"));
        Audit::new(Reader::open(url).unwrap()).run(|_| {}).unwrap_or_else(|error| panic!("{what}: {error:?}"));
        rounds += 1;
    }
    report(&format!("postgres standby (seed {}): {rounds} fail-overs with a new writer; {found}", seed()));
    assert!(found.acknowledged > 0);
}

/// With `local`, a commit is acknowledged before the standby has it: naming a standby would promise what is not kept.
#[test]
fn postgres_that_does_not_wait_for_its_named_standby_is_refused() {
    let (primary, _standby) = pair();
    let url = primary.url("books");
    let mut world = World::on(DatabaseUrl::new(&url).into());
    world.account(AccountKind::World, None);
    follows(&primary);
    postgres::run(&primary.url("postgres"), "ALTER DATABASE books SET synchronous_commit = local");
    world.close();
    let setting = |outcome: Result<(), StoreError>| match outcome {
        Err(StoreError::Setting { setting, .. }) => Some(setting),
        _ => None,
    };
    let opened = Ledger::open(LedgerOptions::new(DatabaseUrl::new(&url))).map(Ledger::close);
    assert_eq!(setting(opened), Some("synchronous_commit"));
    assert_eq!(setting(world.try_open()), Some("synchronous_commit"));
    // Without a standby by name there is nothing to wait for.
    let alone = Cluster::start();
    let mut world = World::on(DatabaseUrl::new(alone.url("books")).into());
    world.close();
    postgres::run(&alone.url("postgres"), "ALTER DATABASE books SET synchronous_commit = local");
    world.try_open().unwrap();
}
