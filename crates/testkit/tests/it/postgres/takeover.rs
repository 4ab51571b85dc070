//! Several processes that compete to write: killed, stopped for longer than their lease and continued, with wrong
//! clocks.
//!
//! A trigger records every state of the fencing row, in the transaction that makes it; so the test sees which process
//! wrote in which epoch, independently of the writers' own output.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    time::Instant,
};

use bankroll_ledger::Time;
use bankroll_store::{Audit, Clock, DatabaseUrl, Ledger, LedgerOptions, Reader, StoreError};
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
    run::{PATIENCE, report, seed},
};

const WATCH: &str = "CREATE TABLE heads (id bigserial PRIMARY KEY, epoch bigint, holder text, seq bigint);
    CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO public.heads (epoch, holder, seq) VALUES (NEW.epoch, NEW.holder, NEW.seq); RETURN NEW;
    END $$;
    CREATE TRIGGER watch AFTER UPDATE ON books.ledger_head FOR EACH ROW EXECUTE FUNCTION watch();";

/// Every epoch had one holder, no holder came back, and the journal only grew. Returns the number of holders.
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

/// Long enough that a writer keeps it on a machine that is briefly slow. A writer that loses it all the same ends like
/// any other that was replaced, and the test continues.
const LEASE_MS: u64 = 1_000;

/// A victim that competes for the books, and its lines so far.
struct Fighter {
    role: Role,
    child: Child,
    lines: Vec<Line>,
    ended: bool,
}

struct Arena {
    url: String,
    fighters: Vec<Fighter>,
    out: Sender<(usize, Option<Line>)>,
    heard: Receiver<(usize, Option<Line>)>,
    is_over: bool,
}

impl Arena {
    fn join(&mut self) -> usize {
        let number = self.fighters.len();
        let seed = seed().wrapping_mul(1_000).wrapping_add(number as u64);
        let role = Role { threads: 3, calls: 1_000_000, keys_in_memory: 64, lease: LEASE_MS, ..Role::usual(seed) };
        let mut command = role.command(Path::new(&self.url));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let (lines, out) = (BufReader::new(child.stdout.take().unwrap()).lines(), self.out.clone());
        std::thread::spawn(move || {
            for line in lines {
                // A kill may leave half a line.
                let Ok(line) = line else { break };
                let _ = out.send((number, Some(parse(&line))));
            }
            let _ = out.send((number, None));
        });
        self.fighters.push(Fighter { role, child, lines: Vec::new(), ended: false });
        number
    }

    /// Reads one line; a process that ends is replaced, so that there is always one to take over.
    fn read_line(&mut self, deadline: Instant) -> (usize, Option<Line>) {
        let left = deadline.saturating_duration_since(Instant::now());
        let (number, line) = self.heard.recv_timeout(left).expect("they go on");
        match &line {
            Some(line) => self.fighters[number].lines.push(line.clone()),
            None => {
                self.fighters[number].ended = true;
                self.fighters[number].child.wait().unwrap();
                if !self.is_over {
                    self.join();
                }
            }
        }
        (number, line)
    }

    /// Reads lines until processes other than this one have been answered so often; returns the last of them.
    fn read_answers(&mut self, but: Option<usize>, mut times: usize) -> usize {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (number, line) = self.read_line(deadline);
            times -= usize::from(matches!(line, Some(Line::Done { .. })) && but != Some(number));
            if times == 0 {
                return number;
            }
        }
    }

    /// Reads lines until this process has ended.
    fn read_until_end(&mut self, of: usize) {
        let deadline = Instant::now() + PATIENCE;
        while !self.fighters[of].ended {
            self.read_line(deadline);
        }
    }

    /// Kills all processes that are left.
    fn end(&mut self) {
        self.is_over = true;
        (0..self.fighters.len()).for_each(|number| self.send(number, Signal::KILL));
        let deadline = Instant::now() + PATIENCE;
        while self.fighters.iter().any(|fighter| !fighter.ended) {
            self.read_line(deadline);
        }
    }

    /// Not to a process that has ended: its number may be reused by now.
    fn send(&self, number: usize, what: Signal) {
        let fighter = &self.fighters[number];
        if !fighter.ended {
            signal(i32::try_from(fighter.child.id()).unwrap(), what);
        }
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
    let mut arena = Arena { url: url.clone(), fighters: Vec::new(), out, heard, is_over: false };
    arena.join();
    arena.join();
    let (mut killed, mut stopped) = (0, 0);
    for _ in soak_time().rounds(8) {
        let writer = arena.read_answers(None, rng.usize(1..60));
        if rng.bool() {
            arena.send(writer, Signal::KILL);
            arena.read_until_end(writer);
            killed += 1;
        } else {
            // At any point: between two calls, or in the middle of a transaction whose row the next writer needs.
            arena.send(writer, Signal::STOP);
            arena.read_answers(Some(writer), 3);
            arena.send(writer, Signal::CONT);
            arena.read_until_end(writer);
            let last = arena.fighters[writer].lines.last();
            assert!(matches!(last, Some(Line::Because(why)) if why.contains("Fenced")), "{last:?}");
            stopped += 1;
        }
    }
    arena.read_answers(None, 10);
    arena.end();
    let holders = check_epochs(&cluster);
    let found = examine(&arena, &url);
    report(&format!(
        "postgres writers (seed {}): {holders} took over from each other; {killed} were killed, {stopped} stopped for longer \
         than their lease; {found}",
        seed()
    ));
}

/// Every answer is in the journal, and each writer's answers come after those of the writer before.
fn examine(arena: &Arena, url: &str) -> Found {
    let answers = |fighter: &Fighter| {
        let places: Vec<u64> = fighter.lines.iter().flat_map(places).collect();
        Some((*places.iter().min()?, *places.iter().max()?))
    };
    let mut stretches: Vec<(u64, u64)> = arena.fighters.iter().filter_map(answers).collect();
    stretches.sort_unstable();
    for pair in stretches.windows(2) {
        assert!(
            pair[0].1 < pair[1].0,
            "one writer was answered {:?} while another was answered {:?}",
            pair[0],
            pair[1]
        );
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

/// The positions that a line reports for the first time.
fn places(line: &Line) -> Vec<u64> {
    match line {
        Line::Done { answers, .. } => {
            answers.iter().filter(|answers| !answers.replayed).map(|answers| answers.seq).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn postgres_lease_and_journal_tolerate_a_wrong_clock() {
    const HOUR: u64 = 3_600_000_000;
    let mut rng = Rng::with_seed(seed());
    let cluster = Cluster::start();
    let url = cluster.url("books");
    Service::open(options(&url, 64)).close();
    postgres::run(&url, WATCH);
    let mut calls = Vec::new();
    // Every process here releases it, so it may be long: the other node is refused on any machine.
    let long = || LedgerOptions { lease: PATIENCE, ..options(&url, 64) };
    for round in soak_time().rounds(4) {
        let (clock, hand) = Clock::manual(Time(1_000 * HOUR + rng.u64(0..10) * HOUR));
        let service = Service::open(LedgerOptions { clock, ..long() });
        // Another node, whose clock is days ahead: only the server's clock counts for the lease.
        let (clock, _) = Clock::manual(Time(2_000 * HOUR));
        let other = Ledger::open(LedgerOptions { clock, ..long() });
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
    report(&format!(
        "postgres wrong clocks (seed {}): {holders} holders, {} batches in order; {found}",
        seed(),
        times.len()
    ));
    service.close();
}
