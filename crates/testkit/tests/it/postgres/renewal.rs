//! Readers whose server restarts: they answer whenever the server is up.

use std::time::{Duration, Instant};

use bankroll_ledger::{AccountId, AccountKind, Seq, Time};
use bankroll_store::{
    BalanceAt, DatabaseUrl, LedgerOptions, Page, Reader, SearchQuery, SearchSubject, StatementQuery, StoreError,
};
use bankroll_testkit::streams::name;

use super::cluster::Cluster;
use crate::world::{World, code_of, moving};

/// Longer than a server needs to start and the index to catch up.
const PATIENCE: Duration = Duration::from_secs(60);

struct Served {
    cluster: Cluster,
    world: World,
    alice: AccountId,
    arena: AccountId,
}

impl Served {
    fn start() -> Self {
        let cluster = Cluster::start();
        // So few that runs of keys must be read.
        let few_keys = |options: &mut LedgerOptions| options.keys_in_memory_max = 4;
        let world = World::on_with(DatabaseUrl::new(cluster.url("books")).into(), few_keys);
        let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
        let served = Self { cluster, world, alice, arena };
        served.spend(20);
        served
    }

    /// One at a time; a call that failed with the server is retried.
    fn spend(&self, times: usize) {
        for _ in 0..times {
            let request = self.world.play(vec![moving(self.alice, self.arena, 1)]);
            let started = Instant::now();
            let answer = loop {
                match self.world.ledger().apply(request.clone()) {
                    Ok(answer) => break answer,
                    Err(failure) => assert!(started.elapsed() < PATIENCE, "{failure}"),
                }
            };
            assert_eq!(code_of(&answer), "applied");
        }
    }

    fn restart(&self, how: &str) {
        if how == "kill" {
            self.cluster.kill();
        } else {
            self.cluster.stop(how);
        }
        self.cluster.start_again();
    }

    /// Every query of a reader.
    fn ask_all(&self, reader: &Reader) -> Result<Asked, StoreError> {
        Ok(Asked {
            head: reader.head()?.seq,
            balance: reader.account(self.alice)?.unwrap().balance.units(),
            lines: reader.statement(&StatementQuery::of(self.alice))?.items.len(),
            standing: reader.balance_at(self.alice, Time(u64::MAX))?,
            entries: reader.journal_after(Seq(0), 5)?.len(),
            search: reader.search(&SearchQuery::of(SearchSubject::Wallet(name("alice"))))?.items.len(),
            receipt: reader.receipt(Seq(3))?.is_some(),
        })
    }
}

#[derive(Debug, PartialEq)]
struct Asked {
    head: Seq,
    balance: u128,
    lines: usize,
    standing: BalanceAt,
    entries: usize,
    search: usize,
    receipt: bool,
}

#[test]
fn postgres_restarted_under_a_reader_that_continues() {
    let served = Served::start();
    let reader = served.world.reader();
    let before = served.ask_all(&reader).unwrap();
    assert_eq!((before.balance, before.lines), (980, 21));
    for how in ["fast", "immediate", "kill"] {
        served.restart(how);
        assert_eq!(served.ask_all(&reader).unwrap(), before, "after {how}");
    }
    served.cluster.stop("fast");
    let away = served.ask_all(&reader).unwrap_err();
    assert!(away.is_transient(), "{away:?}");
    served.cluster.start_again();
    assert_eq!(served.ask_all(&reader).unwrap(), before, "after a failed read");
}

/// The snapshot of a query ends with the connection: the query is repeated on a later one, and no answer mixes both.
#[test]
fn postgres_restarted_in_the_middle_of_a_query() {
    let served = Served::start();
    let reader = served.world.reader();
    let mut outcome = Vec::new();
    let report = reader.check_indexes(|progress| {
        outcome.push(progress.rows_total);
        if outcome.len() == 1 {
            served.restart("immediate");
            served.spend(3);
        }
    });
    let report = report.unwrap();
    let first = outcome[0];
    assert_eq!(outcome.last(), Some(&(first + 3)), "repeated from its start: {outcome:?}");
    assert!(report.covered.0 <= first + 3);
}

#[test]
fn postgres_restarted_under_the_statement_index_which_continues() {
    let served = Served::start();
    let reader = served.world.reader();
    for how in ["fast", "kill"] {
        served.restart(how);
        served.spend(5);
        let started = Instant::now();
        loop {
            let state = reader.index_state().unwrap();
            if state.covered == state.last && state.runs > 0 {
                break;
            }
            assert!(started.elapsed() < PATIENCE, "after {how} the index stays where it is: {state:?}");
            std::thread::yield_now();
        }
    }
    let lines: Page<_> = reader.statement(&StatementQuery::of(served.alice)).unwrap();
    assert_eq!(lines.items.len(), 31);
    served.world.audit();
}
