//! Several processes that want to write: killed, stopped for longer than their lease and continued, with wrong clocks.
//!
//! A trigger writes down every state of the row that fences, in the transaction that makes it; so the test sees who wrote
//! in which epoch, whatever the writers say of themselves.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use bankroll_ledger::Time;
use bankroll_store::{Audit, Clock, DatabaseUrl, Ledger, Options, Reader, StoreError};
use bankroll_testkit::{
    postgres,
    script::{Script, options},
};
use fastrand::Rng;
use rustix::process::Signal;

use super::{
    cluster::{Cluster, signal},
    kills::{quick, wait_for_answers},
    service::Service,
    soak_time,
};
use crate::{
    crash::{
        examine::{Found, examine_thread},
        victim::{Line, Role, parse},
    },
    run::{seed, tell},
};

const WATCH: &str = "CREATE TABLE heads (id bigserial PRIMARY KEY, epoch bigint, holder text, seq bigint);
    CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO public.heads (epoch, holder, seq) VALUES (NEW.epoch, NEW.holder, NEW.seq); RETURN NEW;
    END $$;
    CREATE TRIGGER watch AFTER UPDATE ON books.ledger_head FOR EACH ROW EXECUTE FUNCTION watch();";

/// Every epoch had one holder, no holder came back, and the journal only grew. How many held the books.
fn check_epochs(cluster: &Cluster) -> usize {
    let url = DatabaseUrl::new(cluster.url("books"));
    let heads = postgres::pairs(&url, "SELECT epoch || ' ' || seq, holder FROM public.heads ORDER BY id");
    let (mut last, mut holders) = ((0, 0), Vec::<String>::new());
    for (numbers, holder) in heads {
        let (epoch, seq) = numbers.split_once(' ').unwrap();
        let now: (i64, i64) = (epoch.parse().unwrap(), seq.parse().unwrap());
        assert!(now.0 >= last.0 && now.1 >= last.1, "{last:?} became {now:?}");
        if holders.last() != Some(&holder) {
            assert!(now.0 > last.0, "two writers in epoch {}", now.0);
            assert!(!holders.contains(&holder), "{holder} came back after {:?}", holders.last());
            holders.push(holder);
        }
        last = now;
    }
    holders.len()
}

/// A victim that wants the books, and what it has written so far.
struct Fighter {
    role: Role,
    child: Child,
    lines: Vec<Line>,
}

struct Arena {
    url: String,
    fighters: Vec<Fighter>,
    out: Sender<(usize, Option<Line>)>,
    heard: Receiver<(usize, Option<Line>)>,
}

impl Arena {
    fn join(&mut self) -> usize {
        let number = self.fighters.len();
        let seed = seed().wrapping_mul(1_000).wrapping_add(number as u64);
        let role = Role { threads: 3, calls: 1_000_000, keys_in_memory: 64, lease: 400, ..Role::usual(seed) };
        let mut command = role.command(Path::new(&self.url));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let (lines, out) = (BufReader::new(child.stdout.take().unwrap()).lines(), self.out.clone());
        std::thread::spawn(move || {
            for line in lines {
                // Half a line is what a kill leaves.
                let Ok(line) = line else { break };
                let _ = out.send((number, Some(parse(&line))));
            }
            let _ = out.send((number, None));
        });
        self.fighters.push(Fighter { role, child, lines: Vec::new() });
        number
    }

    /// Hears what they write until one of them has written so many lines of this sort; who it was.
    fn hear(&mut self, sort: impl Fn(&Line) -> bool, mut times: usize) -> usize {
        loop {
            let (number, line) = self.heard.recv_timeout(Duration::from_secs(60)).expect("somebody goes on writing");
            let Some(line) = line else { continue };
            times -= usize::from(sort(&line));
            self.fighters[number].lines.push(line);
            if times == 0 {
                return number;
            }
        }
    }

    /// Hears everything until this one has ended.
    fn hear_the_end(&mut self, of: usize) {
        loop {
            match self.heard.recv_timeout(Duration::from_secs(60)).expect("it ends") {
                (number, Some(line)) => self.fighters[number].lines.push(line),
                (number, None) if number == of => break,
                _ => {}
            }
        }
        self.fighters[of].child.wait().unwrap();
    }

    fn process(&self, number: usize) -> i32 {
        i32::try_from(self.fighters[number].child.id()).unwrap()
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for fighter in &mut self.fighters {
            let _ = fighter.child.kill();
            let _ = fighter.child.wait();
        }
    }
}

#[test]
fn postgres_writers_killed_and_stopped_while_others_stand_by() {
    let mut rng = Rng::with_seed(seed());
    let cluster = Cluster::start();
    let url = cluster.url("books");
    Service::open(options(&url, 64)).close();
    postgres::run(&url, WATCH);
    let (out, heard) = channel();
    let mut arena = Arena { url: url.clone(), fighters: Vec::new(), out, heard };
    arena.join();
    arena.join();
    let (mut order, mut stopped) = (Vec::new(), 0);
    for _ in soak_time().rounds(8) {
        let writer = arena.hear(|line| matches!(line, Line::Done { .. }), rng.usize(1..60));
        order.push(writer);
        if rng.bool() {
            signal(arena.process(writer), Signal::KILL);
            arena.hear_the_end(writer);
        } else {
            // Wherever it is: between two calls, or in the middle of a transaction whose row the next one needs.
            signal(arena.process(writer), Signal::STOP);
            arena.hear(|line| *line == Line::Open, 1);
            arena.hear(|line| matches!(line, Line::Done { .. }), 3);
            signal(arena.process(writer), Signal::CONT);
            arena.hear_the_end(writer);
            let last = arena.fighters[writer].lines.last();
            assert!(matches!(last, Some(Line::Because(why)) if why.contains("Fenced")), "{last:?}");
            stopped += 1;
        }
        arena.join();
    }
    let last = arena.hear(|line| matches!(line, Line::Done { .. }), 10);
    order.push(last);
    for number in 0..arena.fighters.len() {
        if order.last() == Some(&number) || !order.contains(&number) {
            signal(arena.process(number), Signal::KILL);
            arena.hear_the_end(number);
        }
    }
    let holders = check_epochs(&cluster);
    let found = examine(&arena, &order, &url);
    tell(&format!(
        "postgres writers (seed {}): {} took over from each other, {stopped} of them stopped for longer than their lease; \
         {holders} holders; {found}",
        seed(),
        order.len()
    ));
}

/// Everything that anybody was told is there, and each one's answers lie behind those of who wrote before.
fn examine(arena: &Arena, order: &[usize], url: &str) -> Found {
    let mut before = 0;
    for number in order {
        let places = || arena.fighters[*number].lines.iter().flat_map(places);
        let (first, last) = (places().min().unwrap_or(u64::MAX), places().max().unwrap_or(0));
        assert!(first > before, "{number} was told {first} after another had been told {before}");
        before = before.max(last);
    }
    let ledger = Service::open(quick(url)).ledger();
    let mut found = Found::default();
    for fighter in &arena.fighters {
        for thread in 0..fighter.role.threads {
            let mut script = Script::new(fighter.role.seed, thread);
            examine_thread(&ledger, &mut script, thread, &fighter.lines, &mut found, "a fighter");
        }
    }
    assert_eq!((found.lost, found.half_done), (0, 0), "{found}");
    Audit::new(Reader::open(DatabaseUrl::new(url)).unwrap()).run(|_| {}).unwrap();
    found
}

/// The places that a line tells for the first time.
fn places(line: &Line) -> Vec<u64> {
    match line {
        Line::Done { told, .. } => told.iter().filter(|told| !told.replayed).map(|told| told.seq).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn postgres_lease_and_journal_do_not_mind_a_wrong_clock() {
    const HOUR: u64 = 3_600_000_000;
    let mut rng = Rng::with_seed(seed());
    let cluster = Cluster::start();
    let url = cluster.url("books");
    Service::open(options(&url, 64)).close();
    postgres::run(&url, WATCH);
    let mut calls = Vec::new();
    for round in soak_time().rounds(4) {
        let (clock, hand) = Clock::manual(Time(1_000 * HOUR + rng.u64(0..10) * HOUR));
        let service = Service::open(Options { clock, ..quick(&url) });
        // Another node, for which it is days later: the lease is counted by the server alone.
        let (clock, _) = Clock::manual(Time(2_000 * HOUR));
        let other = Ledger::open(Options { clock, ..quick(&url) });
        assert!(matches!(other, Err(StoreError::Leased { .. })), "{other:?}");
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let caller = |number| {
                let (script, service, is_over) = (Script::new(seed().wrapping_add(round), number), &service, &is_over);
                scope.spawn(move || service.play(script, || is_over.load(Ordering::SeqCst)))
            };
            let callers: Vec<_> = (0..3).map(caller).collect();
            for _ in 0..10 {
                wait_for_answers(&service, 2);
                hand.store(1_000 * HOUR + rng.u64(0..10) * HOUR, Ordering::SeqCst);
            }
            is_over.store(true, Ordering::SeqCst);
            calls.extend(callers.into_iter().flat_map(|caller| caller.join().unwrap()));
        });
        assert_eq!(service.stops(), Vec::<String>::new());
        service.close();
    }
    let service = Service::open(quick(&url));
    let found = service.reckon(&calls, "wrong clocks");
    let times = postgres::pairs(&DatabaseUrl::new(&url), "SELECT number, at FROM batches ORDER BY number");
    let times: BTreeMap<u64, u64> = times.iter().map(|(n, at)| (n.parse().unwrap(), at.parse().unwrap())).collect();
    assert!(times.values().is_sorted(), "time went back in the journal");
    let holders = check_epochs(&cluster);
    tell(&format!(
        "postgres wrong clocks (seed {}): {holders} holders, {} batches in order; {found}",
        seed(),
        times.len()
    ));
    service.close();
}
