//! Taking in what other roles hand over, for as long as this node holds the books: one thread for each table.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use bankroll_store::{Clock, Consumer, Ledger, Round};

use super::log::{Log, on_one_line};
use crate::demo;

/// Rows taken at a time at the most.
const ROWS_MAX: usize = 256;
/// How long a table without news is left alone, at first and at the most.
const REST: Duration = Duration::from_millis(4);
const REST_MAX: Duration = Duration::from_millis(200);

/// How many rows fit into the queue beside what else is in it: one with a fact takes as much room as seventeen.
pub fn rows_max(queue_max: usize) -> usize {
    ROWS_MAX.min(queue_max / 34).max(1)
}

pub struct Inbox {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Inbox {
    /// The flows' consumers, each on its own thread. Flows bring theirs here.
    pub fn start(ledger: &Ledger, rows_max: usize, demo: bool, log: &Log) -> Self {
        let consumers = if demo { demo::consumers(ledger.location(), rows_max) } else { Ok(Vec::new()) };
        let consumers = consumers.unwrap_or_else(|error| {
            log.say("inbox", &format!("takes nothing in: {error:#}"), &[]);
            Vec::new()
        });
        let over = Arc::new(AtomicBool::new(false));
        let start = |consumer: Consumer| {
            let (ledger, over, log) = (ledger.clone(), Arc::clone(&over), log.clone());
            thread::spawn(move || take_in(consumer, &ledger, &over, &log))
        };
        let threads = consumers.into_iter().map(start).collect();
        Self { over, threads }
    }

    /// Lets the rounds that are under way end.
    pub fn stop(self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads {
            // One that panicked has said so.
            let _ = thread.join();
        }
    }
}

fn take_in(mut consumer: Consumer, ledger: &Ledger, over: &AtomicBool, log: &Log) {
    let (clock, mut rest) = (Clock::machine(), REST);
    while !over.load(Ordering::Relaxed) {
        match consumer.round(ledger, clock.now()) {
            Ok(round) if round.rows() > 0 => {
                tell(round, log);
                rest = REST;
                continue;
            }
            Ok(_) => {}
            Err(error) if error.is_over() => return,
            Err(error) => log.say("inbox", &format!("a round of the inbox failed: {}", on_one_line(&error)), &[]),
        }
        thread::sleep(rest);
        rest = (rest * 2).min(REST_MAX);
    }
}

/// What went as it should is not worth a line.
fn tell(round: Round, log: &Log) {
    if round.refused > 0 {
        let sentence = format!("{} rows of the inbox were refused; each says why", round.refused);
        log.say("refused_rows", &sentence, &[("rows", round.refused.into())]);
    }
}
