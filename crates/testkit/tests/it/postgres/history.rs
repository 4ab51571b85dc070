//! Linearizability: the observations of 32 clients of two processes, one of which takes over from the other, fit one
//! order.
//!
//! The journal is that order: a call that ended before another began must precede it. A read must show the balances
//! after some batch: not before any call or read that had ended when it began, and before every call that began after
//! it had ended. Each read is placed as early as possible, which leaves the most freedom for the later ones.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, HashMap},
    io::{BufRead, BufReader},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, Sender, channel},
    time::Instant,
};

use bankroll_ledger::{Record, Seq, Verdict};
use bankroll_store::{Audit, DatabaseUrl, Reader};
use bankroll_testkit::{postgres, script::options};
use rustix::process::Signal;

use super::{
    cluster::{Cluster, signal},
    service::{Service, journal},
};
use crate::run::{PATIENCE, is_soak, report, seed};

const CLIENTS_EACH: usize = 16;
/// So long that only a stopped process loses it, however busy the machine is.
const LEASE_MS: u64 = 4_000;

/// A call that was answered, or a read, by the machine's clock.
#[derive(Clone, Debug)]
struct Seen<T> {
    began: u64,
    ended: u64,
    what: T,
}

#[derive(Default)]
struct History {
    /// The positions of answered calls.
    calls: Vec<Seen<u64>>,
    /// The balances that were read.
    reads: Vec<Seen<String>>,
    /// What a reader may see: the balances after each batch, by the batch's last position.
    states: BTreeMap<u64, String>,
}

impl History {
    /// Whether the journal's order fits; the first observation that does not.
    fn check(&self) -> Result<(), String> {
        let mut by_end: Vec<_> = self.calls.iter().map(|call| (call.ended, call.what)).collect();
        by_end.sort_unstable();
        // The highest position of all that had ended by then.
        let floors = running_max(&by_end);
        for call in &self.calls {
            let floor = floor_at(&floors, call.began);
            if call.what <= floor {
                return Err(format!("{call:?} lies before place {floor}, which had been answered when it began"));
            }
        }
        let mut by_begin: Vec<_> = self.calls.iter().map(|call| (call.began, call.what)).collect();
        by_begin.sort_unstable();
        let mut lowest = u64::MAX;
        let ceilings: Vec<(u64, u64)> = by_begin
            .iter()
            .rev()
            .map(|(began, place)| {
                lowest = lowest.min(*place);
                (*began, lowest)
            })
            .collect();
        let mut reads: Vec<&Seen<String>> = self.reads.iter().collect();
        reads.sort_by_key(|read| read.began);
        // Placed reads, the first to end on top, and the highest position of those that have ended.
        let (mut under_way, mut read_before) = (BinaryHeap::<Reverse<(u64, u64)>>::new(), 0);
        for read in reads {
            while let Some(Reverse((ended, place))) = under_way.peek().copied()
                && ended < read.began
            {
                read_before = read_before.max(place);
                under_way.pop();
            }
            let floor = floor_at(&floors, read.began).max(read_before);
            let ceiling = ceilings.iter().take_while(|(began, _)| *began > read.ended).last();
            let ceiling = ceiling.map_or(u64::MAX, |(_, place)| *place);
            let shown = self.states.range(floor..ceiling).find(|(_, state)| **state == read.what);
            let Some((place, _)) = shown else {
                return Err(format!("{read:?} shows no state from place {floor} to before {ceiling}"));
            };
            under_way.push(Reverse((read.ended, *place)));
        }
        Ok(())
    }
}

fn running_max(by_end: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut highest = 0;
    let running = |(ended, place): &(u64, u64)| {
        highest = highest.max(*place);
        (*ended, highest)
    };
    by_end.iter().map(running).collect()
}

/// The highest position of all that had ended before this moment.
fn floor_at(floors: &[(u64, u64)], moment: u64) -> u64 {
    let ended = floors.partition_point(|(ended, _)| *ended < moment);
    ended.checked_sub(1).map_or(0, |last| floors[last].1)
}

fn seen<T>(began: u64, ended: u64, what: T) -> Seen<T> {
    Seen { began, ended, what }
}

#[test]
fn postgres_history_check_finds_what_does_not_fit() {
    let states = || BTreeMap::from([(1, "a".to_owned()), (2, "b".to_owned()), (3, "c".to_owned())]);
    let history = |calls, reads: &[(u64, u64, &str)]| {
        let reads = reads.iter().map(|(began, ended, state)| seen(*began, *ended, (*state).to_owned())).collect();
        History { calls, reads, states: states() }.check()
    };
    let calls = || vec![seen(10, 20, 1), seen(30, 40, 2), seen(50, 60, 3)];
    assert_eq!(history(calls(), &[(12, 15, "a"), (32, 33, "a"), (34, 70, "c")]), Ok(()));
    // Two calls in the wrong order; a stale read; one from the future; one that goes back before another.
    assert!(history(vec![seen(10, 20, 2), seen(30, 40, 1)], &[]).is_err());
    assert!(history(calls(), &[(45, 48, "a")]).is_err());
    assert!(history(calls(), &[(32, 33, "c")]).is_err());
    assert!(history(calls(), &[(32, 33, "b"), (34, 35, "a")]).is_err());
}

/// A process of clients.
struct Node {
    child: Child,
    /// Closed, it ends.
    input: Option<ChildStdin>,
}

impl Node {
    fn start(url: &str, name: &'static str, lines: &Sender<(&'static str, String)>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_clients"));
        command
            .args([url, name, &CLIENTS_EACH.to_string(), &LEASE_MS.to_string(), &seed().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (out, printed) = (lines.clone(), BufReader::new(child.stdout.take().unwrap()).lines());
        std::thread::spawn(move || {
            for line in printed.map_while(Result::ok) {
                let _ = out.send((name, line));
            }
        });
        let input = child.stdin.take();
        Self { child, input }
    }

    fn process(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All that both nodes say.
struct Heard {
    lines: Receiver<(&'static str, String)>,
    printed: Vec<(&'static str, String)>,
}

impl Heard {
    /// Listens until this node has printed so many lines that begin so.
    fn until(&mut self, node: &str, beginning: &str, mut times: usize) {
        let deadline = Instant::now() + PATIENCE;
        while times > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            let heard = self.lines.recv_timeout(left);
            let (who, line) = heard.unwrap_or_else(|_| panic!("{times} times more: {node} says {beginning}"));
            times -= usize::from(who == node && line.starts_with(beginning));
            self.printed.push((who, line));
        }
    }
}

#[test]
fn postgres_clients_of_two_nodes_see_one_order() {
    let cluster = Cluster::start();
    let url = cluster.url("books");
    Service::open(options(&url, 1_000)).close();
    let calls = if is_soak() { 4_000 } else { 400 };
    let (out, lines) = channel();
    let mut heard = Heard { lines, printed: Vec::new() };
    let mut first = Node::start(&url, "first", &out);
    heard.until("first", "call", 1);
    let mut second = Node::start(&url, "second", &out);
    heard.until("second", "read", 1);
    heard.until("first", "call", calls);
    // Stopped for longer than its lease, and continued when the other has taken over: its clients read on.
    signal(first.process(), Signal::STOP);
    heard.until("second", "open", 1);
    heard.until("second", "call", calls / 4);
    signal(first.process(), Signal::CONT);
    heard.until("first", "read", 100);
    heard.until("second", "call", calls);
    drop((first.input.take(), second.input.take(), out));
    // Until both have ended.
    heard.printed.extend(heard.lines.iter());
    let fenced =
        heard.printed.iter().filter(|(_, line)| line.starts_with("because") && line.contains("Fenced")).count();
    assert_eq!(fenced, 1, "the one that was stopped");

    let reader = Reader::open(DatabaseUrl::new(&url)).unwrap();
    let history = history(&heard.printed, &url, &reader);
    assert_eq!(history.check(), Ok(()));
    Audit::new(reader).run(|_| {}).unwrap();
    report(&format!(
        "postgres history (seed {}): {} calls and {} reads of {} clients over two processes fit the order of {} batches",
        seed(),
        history.calls.len(),
        history.reads.len(),
        2 * CLIENTS_EACH,
        history.states.len()
    ));
}

/// What was printed, together with what is stored.
fn history(printed: &[(&str, String)], url: &str, reader: &Reader) -> History {
    let mut history = History { states: states(url, reader), ..History::default() };
    let places: HashMap<String, Seq> =
        journal(reader, Seq(1)).into_iter().map(|(key, places)| (key.text, places[0])).collect();
    for (_, line) in printed {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |text: &str| text.parse::<u64>().unwrap();
        match words.as_slice() {
            ["call", began, ended, key, place] => {
                assert_eq!(places.get(*key), Some(&Seq(number(place))), "{line}");
                history.calls.push(seen(number(began), number(ended), number(place)));
            }
            ["read", began, ended, balances] => {
                history.reads.push(seen(number(began), number(ended), (*balances).to_owned()));
            }
            _ => {}
        }
    }
    history
}

/// The balances behind each batch, from the journal alone.
fn states(url: &str, reader: &Reader) -> BTreeMap<u64, String> {
    let ends = postgres::pairs(&DatabaseUrl::new(url), "SELECT number, first + count - 1 FROM batches ORDER BY number");
    let mut balances = BTreeMap::<u64, String>::new();
    let mut states = BTreeMap::new();
    let mut next = 1;
    for (_, end) in ends {
        let end: u64 = end.parse().unwrap();
        for seq in next..=end {
            match Record::decode(&reader.record(Seq(seq)).unwrap().unwrap()).unwrap() {
                Record::Decided { verdict: Verdict::Applied(effects), .. } => {
                    for posting in &effects.postings {
                        balances.insert(posting.from.0, posting.from_after.to_string());
                        balances.insert(posting.to.0, posting.to_after.to_string());
                    }
                }
                Record::AccountOpened { id, .. } => drop(balances.insert(id.0, "0".into())),
                _ => {}
            }
        }
        next = end + 1;
        states.insert(end, balances.values().cloned().collect::<Vec<_>>().join(","));
    }
    states
}
