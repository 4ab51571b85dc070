//! The flows that run in this process: a thread each, ended together.

use std::thread::{self, JoinHandle};

use bankroll_store::Ledger;

use super::{RowsAt, Setup, Stop, booking, indexer, payouts};
use crate::log::Log;

#[derive(Debug, Default)]
pub struct Running {
    stop: Stop,
    threads: Vec<JoinHandle<()>>,
}

impl Running {
    /// Credits and settles, in books that this process holds.
    pub fn book(&mut self, setup: &Setup, ledger: &Ledger, queue_max: usize, log: &Log) {
        let sentence = format!("credits deposits of {} and settles payouts", setup.chain());
        log.say("books_flows", &sentence, &[]);
        let most = booking::rows_max(queue_max);
        let (credited, own, of) = (setup.clone(), ledger.clone(), log.clone());
        self.spawn(move |stop| booking::credit(&credited, &own, most, &of, stop));
        let (own, of) = (ledger.clone(), log.clone());
        self.spawn(move |stop| booking::settle(&own, most, &of, stop));
    }

    /// Follows the chain.
    pub fn follow(&mut self, setup: &Setup, rows: &RowsAt, log: &Log) {
        let (setup, rows, log) = (setup.clone(), rows.clone(), log.clone());
        self.spawn(move |stop| indexer::follow(&setup, &rows, &log, stop));
    }

    /// Pays.
    pub fn pay(&mut self, setup: &Setup, rows: &RowsAt, log: &Log) {
        let (setup, rows, log) = (setup.clone(), rows.clone(), log.clone());
        self.spawn(move |stop| payouts::pay(&setup, &rows, &log, stop));
    }

    fn spawn(&mut self, run: impl FnOnce(&Stop) + Send + 'static) {
        let stop = self.stop.clone();
        self.threads.push(thread::spawn(move || run(&stop)));
    }

    /// Lets the steps that are under way end.
    pub fn stop(self) {
        self.stop.ask();
        for thread in self.threads {
            // One that panicked has said so.
            let _ = thread.join();
        }
    }
}
